"""The table of a reconstructed suite: what was declared of each fault, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator

from heldout.ingest.cases.sregym.fault import faults
from heldout.score import Score
from heldout.score.faults import DIMENSIONS, PARTS, FaultArm, FaultRow

DASH = "-"
TITLE = "SREGym-lite, observe-only, reconstructed: fault by fault"
NOTE = (
    "No cluster ran; this compares with scores on the same set alone, never with the suite's own. "
    "A cell is runs that held of valid runs; entity, change and mechanism are the parts of the "
    "strict verdict, L, C and S mean shares of nine questions that a judging model answers."
)


def head(score: Score) -> tuple[str, ...]:
    """The columns: of each arm its verdict and parts, with the nine questions where asked."""
    asked = _asked(score)
    arms = [
        column
        for arm in _arms(score)
        for column in (arm, *PARTS, *((*DIMENSIONS, "7 of 9") if asked else ()), "told by")
    ]
    return ("#", "fault", "channel", "expected", *arms)


def lines(score: Score) -> Iterator[tuple[str, ...]]:
    """A line for each fault in the order of the suite's list, then the healthy states."""
    known = faults()

    def place(row: FaultRow) -> tuple[int, str]:
        return (known[row.fault].number if row.fault in known else 999, row.fault)

    for row in sorted(score.faults, key=place):
        fault = known.get(row.fault)
        lead = (
            str(fault.number) if fault else "",
            row.fault,
            fault.channel if fault else DASH,
            "missed" if fault and fault.miss else "",
        )
        cells = [cell for arm in _arms(score) for cell in _cells(row.arms.get(arm), _asked(score))]
        yield (*lead, *cells)


def _arms(score: Score) -> list[str]:
    named = {arm for row in score.faults for arm in row.arms}
    return [arm for arm in ("before", "after") if arm in named]


def _asked(score: Score) -> bool:
    return any(one.questions for row in score.faults for one in row.arms.values())


def _cells(one: FaultArm | None, asked: bool) -> list[str]:
    if one is None:
        return [DASH] * (2 + len(PARTS) + (len(DIMENSIONS) + 1 if asked else 0))
    cells = [f"{count}/{one.valid}" for count in (one.passed, *(one.parts[part] for part in PARTS))]
    if asked:
        shares = [one.questions.get(name) for name in DIMENSIONS]
        cells += [DASH if share is None else f"{share:.2f}" for share in shares]
        cells.append(DASH if one.seven is None else f"{one.seven}/{one.valid}")
    told = sorted(one.told.items(), key=lambda pair: (-pair[1], pair[0]))
    return [*cells, ", ".join(name for name, _ in told[:2]) or DASH]
