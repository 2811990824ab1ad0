"""One investigation out of a ledger: the run, the incident, the arm, the repeat that were named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heldout.agent.trace import Trace
from heldout.compare import named_arm
from heldout.errors import UsageError
from heldout.run.history import TraceReader, outcome_from_row
from heldout.run.reduce import final
from heldout.store import Ledger, queries
from heldout.store.queries import InvestigationRow, RunRow
from heldout.transcript.opening import held_out, require_open


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for. ``run`` is ``RUN`` or ``RUN:ARM``, the beginning of an id is enough."""

    run: str
    incident: str
    arm: str = ""
    repeat: int | None = None

    def named(self) -> str:
        """The run with its arm."""
        return f"{self.run}:{self.arm}" if self.arm else self.run


@dataclass(frozen=True, slots=True)
class Found:
    """One investigation: the attempt that counts, the ones before it, and the other repeats."""

    run: RunRow
    case: Mapping[str, Any]
    row: InvestigationRow
    trace: Trace | None
    earlier: tuple[InvestigationRow, ...] = ()
    repeats: tuple[InvestigationRow, ...] = ()

    @property
    def is_held_out(self) -> bool:
        """True for an incident of the held-out half."""
        return str(self.case["incident"]) in held_out(self.run)


def find(ledger: Ledger, wanted: Wanted) -> Found:
    """The investigation that ``wanted`` names, by default the first repeat that was played.

    A name that fits none or several is a :class:`UsageError`; a held-out incident whose score has
    not ended is a :class:`~heldout.errors.SplitViolation`.
    """
    run, arm = named_arm(ledger, wanted.named())
    case = _case(run, wanted.incident)
    incident = str(case["incident"])
    require_open(ledger, run, [incident])
    attempts = [
        row
        for row in queries.investigations(ledger, run.run)
        if (row.incident, row.arm) == (incident, arm)
    ]
    repeats = counted(ledger, attempts)
    chosen = [row for row in repeats if wanted.repeat in (None, row.repeat)]
    if not chosen:
        known = ", ".join(str(row.repeat) for row in repeats) or "none"
        raise UsageError(
            "this investigation is not in the ledger",
            where=f"run {run.run}, incident {incident}, arm {arm}",
            mend=f"Repeats that were played: {known}",
        )
    row = chosen[0]
    return Found(
        run=run,
        case=case,
        row=row,
        trace=TraceReader(ledger).read(row.trace) if row.trace else None,
        earlier=tuple(
            one for one in attempts if one.repeat == row.repeat and one.attempt < row.attempt
        ),
        repeats=tuple(repeats),
    )


def counted(ledger: Ledger, attempts: Sequence[InvestigationRow]) -> list[InvestigationRow]:
    """The attempt that counts of every slot, by incident, arm and repeat."""
    reader = TraceReader(ledger)
    chosen = final(outcome_from_row(reader, row) for row in attempts)
    wanted = {(one.incident, one.arm, one.repeat, one.attempt) for one in chosen.values()}
    return [row for row in attempts if (row.incident, row.arm, row.repeat, row.attempt) in wanted]


def _case(run: RunRow, name: str) -> Mapping[str, Any]:
    cases = {str(case["incident"]): case for case in run.cases}
    matching = [cases[name]] if name in cases else []
    matching = matching or [case for key, case in cases.items() if name and key.startswith(name)]
    if len(matching) != 1:
        known = [str(case["incident"]) for case in matching] or sorted(cases)
        more = f" and {len(known) - 8} more" if len(known) > 8 else ""
        raise UsageError(
            f"'{name}' names no incident of run {run.run}, or more than one",
            mend=f"It holds {', '.join(known[:8])}{more}",
        )
    return matching[0]
