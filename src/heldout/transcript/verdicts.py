"""Verdicts in words: who gave them, why, which criteria held, what each judge of a panel said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from heldout.store.queries import VerdictRow
from heldout.transcript.page import Page


def verdict_lines(page: Page, verdict: VerdictRow) -> None:
    """One verdict."""
    when = datetime.fromtimestamp(verdict.at / 1e6, UTC).strftime("%Y-%m-%d %H:%M UTC")
    who = f"{verdict.author} (a person)" if verdict.author else f"judge {verdict.judge}"
    page.add(f"{verdict.result} · {who} · {when}", 2)
    if verdict.reasoning:
        page.add(verdict.reasoning, 4)
    for line in criteria_lines(verdict.criteria):
        page.add(line, 4)


def criteria_lines(criteria: Mapping[str, Any]) -> Iterator[str]:
    """``criteria: entity yes, change no``, then what else a judge noted, a line each."""
    plain = {name: value for name, value in criteria.items() if not isinstance(value, Mapping)}
    if plain:
        yield f"criteria: {', '.join(f'{name} {_word(plain[name])}' for name in plain)}"
    for name, value in criteria.items():
        if name == "members" and isinstance(value, Mapping):
            yield from (f"- {model}: {_opinion(said)}" for model, said in value.items())
        elif isinstance(value, Mapping):
            yield f"{name}: {', '.join(_flat(value))}"


def _opinion(said: Any) -> str:
    """What one judge of a panel answered to each question, and why."""
    if not isinstance(said, Mapping) or "answers" not in said:
        return ", ".join(_flat(said)) if isinstance(said, Mapping) else _word(said)
    reasons = said.get("reasons") or {}
    answers = [
        f"{name} {choice}" + (f" ({reasons[name]})" if reasons.get(name) else "")
        for name, choice in said["answers"].items()
    ]
    return f"{said.get('result')}; {'; '.join(answers)}"


def _flat(value: Mapping[str, Any], before: str = "") -> Iterator[str]:
    for name, inner in value.items():
        if isinstance(inner, Mapping):
            yield from _flat(inner, f"{before}{name}.")
        else:
            yield f"{before}{name} {_word(inner)}"


def _word(value: Any) -> str:
    if value is None:
        return "unknown"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
