"""Rows for reinforcement learning: prompt, completion, a reward and what it is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from heldout.export.lines import Guard, write_lines
from heldout.export.source import Exported, Source


class Rewards:
    """One line an investigation, passed or failed.

    ``reward`` is 1 or 0 as the verdict says, ``components`` are the criteria of the newest judge
    that gave any, each 1 or 0. An invalid investigation is left out: a failure of the provider is
    not the agent's 0.
    """

    name = "rl"

    def write(self, source: Source, path: Path, guard: Guard) -> int:
        """Write the file and return how many rows it has."""
        rows = (_row(one) for one in source.investigations() if one.valid)
        return write_lines(path, rows, guard)


def _row(one: Exported) -> dict[str, Any]:
    trace = one.trace
    assert trace is not None
    prompt, completion = split_prompt(trace.messages)
    return {
        "prompt": prompt,
        "completion": completion,
        "reward": float(one.verdict.result == "pass"),
        "components": components(one),
        "steps": len(trace.steps),
        "calls": trace.calls,
        "tokens": {
            "prompt": trace.input_tokens,
            "cached": trace.cached_tokens,
            "completion": trace.output_tokens,
        },
        "usd": trace.usd,
        "seconds": trace.seconds,
        "stop_reason": trace.stop_reason,
        "provenance": one.provenance(),
    }


def split_prompt(
    messages: Sequence[Mapping[str, Any]],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What the agent was given (up to the alert) and what followed."""
    plain = [dict(message) for message in messages]
    first = next((i for i, one in enumerate(plain) if one.get("role") == "assistant"), len(plain))
    return plain[:first], plain[first:]


def components(one: Exported) -> dict[str, float]:
    """The criteria that held or did not; a person's verdict has none, then a judge's count."""
    given = [verdict.criteria for verdict in one.row.verdicts if verdict.criteria]
    criteria = given[-1] if given else {}
    return {name: float(value) for name, value in criteria.items() if isinstance(value, bool)}
