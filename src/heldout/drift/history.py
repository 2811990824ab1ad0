"""What the canaries said, read back and put into words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from heldout.drift.canary import KIND
from heldout.drift.comparing import FALSE_ALARMS, Canary
from heldout.store import Ledger
from heldout.store.queries import jobs


def canaries(ledger: Ledger, *, model: str | None = None) -> list[Canary]:
    """Every canary, the newest first, of one model or all."""
    return [Canary.from_plain(row.detail) for row in jobs(ledger, model=model, kind=KIND)]


HEAD = ("canary", "pass rate", "earlier", "served model", "output tokens", "USD", "says")


def canary_rows(found: Sequence[Canary]) -> list[tuple[str, ...]]:
    """The course of one model's canaries as a table, its head first."""
    return [HEAD, *(_row(one) for one in found)]


def _row(one: Canary) -> tuple[str, ...]:
    return (
        f"{_day(one)} ({_nth(one.number)})",
        _share(one.passed, one.valid),
        _share(one.earlier_passed, one.earlier_valid),
        ", ".join(one.served) or "-",
        f"{one.output_tokens:,.0f}",
        "unknown" if one.usd is None else f"{one.usd:.4f}",
        "; ".join((one.word, *one.alarms)),
    )


def _day(one: Canary) -> str:
    return f"{datetime.fromtimestamp(one.at / 1e6, UTC):%Y-%m-%d}"


def canary_note(one: Canary) -> str:
    """What its figures are, and what a run could have noticed."""
    said = (
        "The same train incidents with the same brain, so what moves is the provider's doing. "
        f"'changed' is said of an unchanged model in one run of {1 / FALSE_ALARMS:.0f}"
    )
    if one.noticeable is None:
        return f"{said}."
    return (
        f"{said}; a pass rate that moves by {100 * one.noticeable:.0f} points would be noticed in "
        "8 of 10 runs."
    )


def canary_text(one: Canary) -> str:
    """One canary in full, for a terminal, a log or a report."""
    day = f"{datetime.fromtimestamp(one.at / 1e6, UTC):%Y-%m-%d %H:%M} UTC"
    lines = [
        f"canary of {one.model} · {_nth(one.number)} of its series · {day} · brain "
        f"{one.brain[:12]} frozen · run {one.run}",
        f"{one.word}: {_verdict(one)}",
    ]
    if one.simulated:
        lines.append("A simulated model: this shows that the canary works, nothing of a provider.")
    if one.begins:
        lines.append(f"A new series: {one.begins}.")
    lines += [f"CHANGED: {said}" for said in one.alarms]
    lines += [f"note: {said}" for said in one.notes]
    lines += _measured(one)
    return "\n".join(lines)


def _verdict(one: Canary) -> str:
    rate = _share(one.passed, one.valid)
    now = f"{one.passed} of {one.valid} valid investigations passed ({rate})"
    if one.word == "indecisive":
        return f"only {one.valid} of {one.planned} investigations were valid; {now}"
    if one.p is None:
        return f"{now}; the next run has something to be compared with"
    before = f"{one.earlier_passed} of {one.earlier_valid}"
    return (
        f"{now}, before {before} ({_share(one.earlier_passed, one.earlier_valid)}) on the same "
        f"{one.incidents} train incidents, exact paired p = {one.p:.2g}"
    )


def _measured(one: Canary) -> list[str]:
    lines = [f"served model: {', '.join(one.served) or 'not named'}"]
    forms = {"input_tokens": ",.0f", "output_tokens": ",.0f", "call_seconds": ".2f"}
    for name, form in forms.items():
        now, before = getattr(one, name), getattr(one, f"earlier_{name}")
        said = "seconds of a call" if name == "call_seconds" else name.replace("_", " ")
        change = f", before {before:{form}} ({now / before - 1:+.0%})" if before else ""
        lines.append(f"{said}: {now:{form}}{change}")
    lines.append("USD: unknown" if one.usd is None else f"USD: {one.usd:.4f}")
    return [*lines, canary_note(one)]


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def _nth(number: int) -> str:
    teens = 10 <= number % 100 <= 20
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
