"""Which train incidents a candidate is screened on, and pairs out of outcomes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from heldout.run.plan import Outcome
from heldout.run.reduce import final
from heldout.split import Case
from heldout.tune.acceptance import Pairs


def guard_batch(
    cases: Sequence[Case], solved: Mapping[str, bool | None], seed: int
) -> tuple[str, ...]:
    """Solved incidents that must stay solved: controls and traps in turn, another order each round.

    A rule plays as many of them as it needs, from the front.
    """
    held = [case for case in cases if solved.get(case.incident.id)]
    order = sorted(held, key=lambda case: _mark(seed, case.incident.id))
    controls = [case.incident.id for case in order if not case.is_trap]
    traps = [case.incident.id for case in order if case.is_trap]
    chosen: list[str] = []
    for i in range(max(len(controls), len(traps))):
        chosen += [*controls[i : i + 1], *traps[i : i + 1]]
    return tuple(chosen)


def _mark(seed: int, incident: str) -> str:
    return hashlib.sha256(f"{seed}\0{incident}".encode()).hexdigest()


def pairs(outcomes: Iterable[Outcome], before: str, after: str, incidents: Sequence[str]) -> Pairs:
    """The valid pairs of two arms by incident, repeat by repeat."""
    chosen = final(outcomes)
    found: dict[str, tuple[tuple[bool, bool], ...]] = {}
    for incident in incidents:
        repeats = sorted({key[2] for key in chosen if key[0] == incident})
        both = [
            (chosen.get((incident, before, repeat)), chosen.get((incident, after, repeat)))
            for repeat in repeats
        ]
        found[incident] = tuple(
            (one.verdict.result == "pass", two.verdict.result == "pass")
            for one, two in both
            if one is not None
            and two is not None
            and "invalid" not in {one.verdict.result, two.verdict.result}
        )
    return found
