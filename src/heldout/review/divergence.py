"""One train investigation before and after, at its first different tool call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heldout.agent.trace import Step
from heldout.compare import call_text
from heldout.errors import StoreError, UsageError
from heldout.store import Ledger
from heldout.transcript import Found, Wanted, find
from heldout.transcript.answers import answer_lines, names_of

_ANSWER_LINES = 3


@dataclass(frozen=True, slots=True)
class Side:
    """What one of the two did there: its call, what came back, and how it ended."""

    call: str
    answer: tuple[str, ...] = ()
    result: str = ""
    found: str = ""


@dataclass(frozen=True, slots=True)
class Divergence:
    """One investigation before and after; ``step`` is the index of the first different call."""

    incident: str
    step: int
    before: Side
    after: Side

    def lines(self) -> tuple[str, ...]:
        """The divergence as lines of text."""
        return (
            f"{self.incident}, first different tool call (step {self.step + 1}):",
            *_side_lines("before", self.before),
            *_side_lines("after", self.after),
        )


def _side_lines(name: str, side: Side) -> list[str]:
    ended = f"    {side.result}: {side.found}" if side.result else ""
    return [f"  {name + ':':<8}{side.call}", *([ended] if ended else [])]


def divergence(ledger: Ledger, pair: Mapping[str, Any] | None) -> Divergence | None:
    """The pair that a confirmation chose; ``None`` where its traces are not in this ledger."""
    if not pair:
        return None
    step = int(pair["step"])
    try:
        before, after = (
            find(
                ledger,
                Wanted(f"{pair['run']}:{arm}", str(pair["incident"]), repeat=int(pair["repeat"])),
            )
            for arm in ("before", "after")
        )
    except (StoreError, UsageError):
        return None
    return Divergence(str(pair["incident"]), step, _side(before, step), _side(after, step))


def _side(found: Found, step: int) -> Side:
    steps: Sequence[Step] = found.trace.steps if found.trace else ()
    verdict = found.row.verdicts[0].result if found.row.verdicts else ""
    answer = tuple(answer_lines(steps[step]))[:_ANSWER_LINES] if step < len(steps) else ()
    return Side(call_text(steps, step), answer, verdict, _conclusion(found, tuple(steps)))


def _conclusion(found: Found, steps: tuple[Step, ...]) -> str:
    """What it named as the cause, with the names that it had read."""
    if found.trace is None:
        return f"invalid, {found.row.reason}"
    said, names = found.trace.submission, names_of(steps)
    entity, change = said.root_cause_entity or "no entity", said.root_cause_change or "no change"
    named = f" {names[entity]}" if entity in names else ""
    return f"{entity}{named}, {change}: {said.mechanism or 'no mechanism stated'}"
