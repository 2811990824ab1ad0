"""One run of the canary against the earlier ones of its series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median
from typing import Any, Literal

from heldout.llm import ModelName
from heldout.stats import Stratum, noticeable_change, signed_rank, stratified_exact
from heldout.store.queries import InvestigationRow, RunRow

Word = Literal["first", "steady", "changed", "indecisive"]

FALSE_ALARMS = 0.01
"""Chance that a canary says "changed" of a model that has not: one week in a hundred."""
TESTS = 3
"""Pass rate, input tokens, output tokens: each may use a part of :data:`FALSE_ALARMS`."""
TOKENS_MOVED = 0.10
"""Tokens that moved by less than this share are not worth a word, however sure it is."""
SLOWER = 1.5
"""Seconds of a call are noted from this factor on. No alarm: the hour of day can do that."""

Rows = Sequence[InvestigationRow]


@dataclass(frozen=True, slots=True)
class Canary:
    """What one run of the canary says. Rates are shares; tokens are means an investigation.

    ``number`` counts the runs of its series. ``earlier_*`` are over all earlier runs of it and
    ``None`` in the first. ``usd`` is of the whole run, ``None`` where a price is unknown.
    ``noticeable`` is the change of the pass rate that would be noticed in 8 of 10 runs.
    """

    run: str
    model: str
    set: str
    brain: str
    at: int
    number: int
    begins: str
    word: Word
    alarms: tuple[str, ...]
    notes: tuple[str, ...]
    incidents: int
    planned: int
    valid: int
    passed: int
    earlier_valid: int
    earlier_passed: int
    p: float | None
    noticeable: float | None
    served: tuple[str, ...]
    earlier_served: tuple[str, ...]
    input_tokens: float
    earlier_input_tokens: float | None
    output_tokens: float
    earlier_output_tokens: float | None
    call_seconds: float
    earlier_call_seconds: float | None
    usd: float | None

    def plain(self) -> dict[str, Any]:
        """Plain data for the ledger."""
        return asdict(self)

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> Canary:
        """A canary as the ledger keeps it."""
        lists = ("alarms", "notes", "served", "earlier_served")
        return cls(**{**data, **{name: tuple(data[name]) for name in lists}})

    @property
    def simulated(self) -> bool:
        """True where there is no provider that could change."""
        return ModelName.parse(self.model).is_simulated


def compare(
    row: RunRow,
    now: Rows,
    earlier: Sequence[Rows],
    *,
    begins: str = "",
    usd: float | None,
    min_coverage: float,
) -> Canary:
    """Hold one run against the earlier runs of its series; all rows are final valid attempts.

    Incidents are paired with themselves. What is asked is whether anything moved, not whither: a
    model that got better has changed too, and what was measured before it is of another model.
    """
    before = [one for rows in earlier for one in rows]
    strata = _strata(now, before)
    p = stratified_exact(strata) if before else None
    planned = len(row.manifest["cases"]) * int(row.manifest["repeats"])
    covered = len(now) >= min_coverage * planned
    alarms = (*_renamed(now, before), *(_moved(now, before, p) if covered else ()))
    notes = () if ModelName.parse(row.model).is_simulated else _slower(now, before)
    word: Word = "changed" if alarms else "steady" if before else "first"
    if not covered and not alarms:
        word = "indecisive"
    return Canary(
        run=row.run,
        model=row.model,
        set=row.set or "",
        brain=str(row.manifest["arms"][0]["brain"]),
        at=row.started,
        number=len(earlier) + 1,
        begins=begins,
        word=word,
        alarms=alarms,
        notes=notes,
        incidents=len(row.manifest["cases"]),
        planned=planned,
        valid=len(now),
        passed=_passed(now),
        earlier_valid=len(before),
        earlier_passed=_passed(before),
        p=p,
        noticeable=noticeable_change(strata, FALSE_ALARMS / TESTS) if before else None,
        served=_served(now),
        earlier_served=_served(before),
        input_tokens=_mean(one.input_tokens for one in now) or 0.0,
        earlier_input_tokens=_mean(one.input_tokens for one in before),
        output_tokens=_mean(one.output_tokens for one in now) or 0.0,
        earlier_output_tokens=_mean(one.output_tokens for one in before),
        call_seconds=_call_seconds(now) or 0.0,
        earlier_call_seconds=_call_seconds(before),
        usd=usd,
    )


def _renamed(now: Rows, before: Rows) -> list[str]:
    """An alarm where another model answers; one answer is enough to know that."""
    new = sorted(set(_served(now)) - set(_served(before)))
    if not new or not before:
        return []
    return [f"another model answers: {', '.join(new)}, not {', '.join(_served(before)) or '-'}"]


def _moved(now: Rows, before: Rows, p: float | None) -> list[str]:
    """Alarms where the pass rate or tokens moved on the same incidents."""
    if not before or not now or p is None:
        return []
    alarms = []
    old_rate, rate = _passed(before) / len(before), _passed(now) / len(now)
    if p <= FALSE_ALARMS / TESTS:
        way = "fell" if rate < old_rate else "rose"
        alarms.append(f"the pass rate {way} from {old_rate:.0%} to {rate:.0%}")
    for name in ("input_tokens", "output_tokens"):
        alarms += _tokens(name, now, before)
    return alarms


def _slower(now: Rows, before: Rows) -> tuple[str, ...]:
    """A note where a call takes much longer or shorter than before."""
    seconds, old_seconds = _call_seconds(now), _call_seconds(before)
    if not seconds or not old_seconds or 1 / SLOWER < seconds / old_seconds < SLOWER:
        return ()
    ratio = seconds / old_seconds
    how = "slower" if ratio > 1 else "faster"
    return (
        f"a call takes {seconds:.2f} s, {max(ratio, 1 / ratio):.1f} times {how} than before; "
        "the hour of day alone can do that",
    )


def _tokens(name: str, now: Rows, before: Rows) -> list[str]:
    """An alarm where tokens moved by more than a trifle, incident by incident."""
    mine, theirs = _by_incident(name, now), _by_incident(name, before)
    both = sorted(mine.keys() & theirs.keys())
    old = fmean(theirs[one] for one in both) if both else 0.0
    if not old:
        return []
    moved = fmean(mine[one] for one in both) / old - 1
    p = signed_rank([mine[one] - theirs[one] for one in both])
    if abs(moved) < TOKENS_MOVED or p > FALSE_ALARMS / TESTS:
        return []
    return [f"{name.replace('_', ' ')} moved by {moved:+.0%} on the same incidents"]


def _by_incident(name: str, rows: Rows) -> dict[str, float]:
    groups: dict[str, list[float]] = {}
    for one in rows:
        groups.setdefault(one.incident, []).append(float(getattr(one, name)))
    return {incident: fmean(values) for incident, values in groups.items()}


def _strata(now: Rows, before: Rows) -> list[Stratum]:
    """Passes and valid investigations of each incident that both have."""
    found = []
    for name in sorted({one.incident for one in now} & {one.incident for one in before}):
        mine = [one for one in now if one.incident == name]
        theirs = [one for one in before if one.incident == name]
        found.append(Stratum(_passed(mine), len(mine), _passed(theirs), len(theirs)))
    return found


def _passed(rows: Rows) -> int:
    return sum(one.verdicts[0].result == "pass" for one in rows)


def _served(rows: Rows) -> tuple[str, ...]:
    return tuple(sorted({one.served_model for one in rows} - {""}))


def _call_seconds(rows: Rows) -> float | None:
    """Median seconds of a model call."""
    values = [one.seconds / one.calls for one in rows if one.calls]
    return median(values) if values else None


def _mean(values: Any) -> float | None:
    listed = list(values)
    return fmean(listed) if listed else None
