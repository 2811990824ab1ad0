"""Per-line ablation: what each added line does, and on how many kinds of incident.

A line is dropped, and the brain with it and without it play fixed incidents with the same seeds.
Both are played anew: the runs in which these incidents were seen to be fixed would flatter the
brain with the line. Incidents of one duplicate group (the same fault on the same kind of estate)
count as one: a line that only ever helps there is case-specific, and a person must look at it.

Whole edits are dropped first, on one sample of incidents, once each: groups are what counts. A line
is then dropped where its edit was needed; nothing else can need it. One that a single group seems
to need is looked at again: there with fresh repeats, and on fixed incidents not tried so far.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from heldout.behaviour.bench import Bench
from heldout.behaviour.lines import Line, Unit, without
from heldout.brain import Brain
from heldout.run.plan import Arm, Outcome
from heldout.run.reduce import final
from heldout.split import Case
from heldout.stats import mcnemar_exact

WITH = "with"
Verdict = Literal["several", "case_specific", "none", "undecided"]
Pairs = dict[str, list[tuple[bool, bool]]]
"""By incident: (passed without, passed with) of each repeat."""

LEAST = 3
"""Groups that must have been tried before a line is called case-specific."""
AGAIN = 2
"""Repeats of the second look where a line seemed to be needed; there they alone count."""
ELSEWHERE = 2
"""Further incidents that a second look tries."""

_SAID = {
    "several": "several kinds of incident need it",
    "case_specific": "CASE-SPECIFIC: one kind of incident alone needs it, look at it",
    "none": "no incident needs it alone",
    "undecided": "undecided",
}


@dataclass(frozen=True, slots=True)
class LineEffect:
    """What dropping one line did.

    ``lost`` pairs pass only with the line, ``gained`` only without it; ``p`` is one-sided.
    ``leaning`` of the ``tried`` groups hold an incident that needs the line.
    """

    line: Line
    verdict: Verdict
    pairs: int
    lost: int
    gained: int
    p: float
    leaning: int
    tried: int
    why: str = ""

    def plain(self) -> dict[str, Any]:
        """Plain data for the ledger."""
        return asdict(self)


def line_sentence(plain: Mapping[str, Any]) -> str:
    """A line's effect in one sentence, from its plain data."""
    said = _SAID[str(plain["verdict"])]
    if not plain["pairs"]:
        return f"dropped: {said}, {plain['why']}"
    why = f"; {plain['why']}" if plain.get("why") else ""
    return (
        f"dropped: {said} ({plain['lost']} lost, {plain['gained']} gained of {plain['pairs']}; "
        f"{plain['leaning']} of {plain['tried']} kinds need it, p = {plain['p']:.2g}{why})"
    )


@dataclass(frozen=True, slots=True)
class UnitEffect:
    """The lines of one unit, and the incidents that need it, of so many that were tried."""

    lines: tuple[LineEffect, ...]
    needed_by: tuple[str, ...] = ()
    tried: int = 0


def sampled(bench: Bench, fixed: Sequence[str], units: Sequence[Unit]) -> list[Case]:
    """Fixed incidents in the order in which they are looked at.

    Each unit has its own in turn: each group before any twice, those it was written for first.
    """
    queues = [_in_turn(bench, fixed, set(unit.targets)) for unit in units]
    picked: dict[str, Case] = {}
    for turn in range(len(fixed)):
        for queue in queues:
            picked.setdefault(queue[turn].incident.id, queue[turn])
    return list(picked.values())


def _in_turn(bench: Bench, fixed: Sequence[str], wanted: set[str]) -> list[Case]:
    order = sorted(fixed, key=lambda one: (one not in wanted, _mark(one)))
    turns: dict[str, int] = {}
    placed = []
    for rank, incident in enumerate(order):
        group = bench.case(incident).group
        turns[group] = turns.get(group, 0) + 1
        placed.append((turns[group], rank, incident))
    return [bench.case(incident) for _, _, incident in sorted(placed)]


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


async def ablate(
    bench: Bench, after: Brain, units: Sequence[Unit], order: Sequence[Case]
) -> dict[str, UnitEffect]:
    """What dropping units and lines does, by unit; ``order`` is that of :func:`sampled`.

    ``options.ablation`` incidents are tried, the rest only in second looks.
    """
    cases, spare = order[: bench.options.ablation], order[bench.options.ablation :]
    group = {case.incident.id: case.group for case in order}
    whole: dict[str, Pairs] = {unit.name: {} for unit in units}
    dropped = {unit.name: unit.without for unit in units}
    await _Look(bench, after, whole).play(dropped, cases, "units", 1)
    lines = [_Line(unit, at, line) for unit in units for at, line in enumerate(unit.lines, 1)]
    look = _Look(bench, after, {one.name: {} for one in lines})
    for unit in units:
        mine = [one for one in lines if one.unit is unit]
        needing = [case for case in cases if _leans(whole[unit.name].get(case.incident.id, ()))]
        if len(mine) > 1:
            await look.play(_brains(after, mine), needing, f"{unit.name}/lines", 1)
        for one in mine:  # Where the unit as a whole is not needed, none of its lines is.
            for incident, held in whole[unit.name].items():
                look.found[one.name].setdefault(incident, list(held))
    single = [one for one in lines if len(_leaning(look.found[one.name], group)) == 1]
    await _again(look, single, cases)
    known = {case.group for case in cases}
    other = [case for case in spare if case.group not in known][:ELSEWHERE]
    if single:
        await look.play(_brains(after, single), other, "elsewhere", 1)
    effects = {}
    for unit in units:
        said = [_effect(o.line, look.found[o.name], group) for o in lines if o.unit is unit]
        played = {one: pairs for one, pairs in sorted(whole[unit.name].items()) if pairs}
        needed = tuple(one for one, pairs in played.items() if _leans(pairs))
        effects[unit.name] = UnitEffect(tuple(said), needed, len(played))
    return effects


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of one unit; ``name`` is its arm's."""

    unit: Unit
    number: int
    line: Line

    @property
    def name(self) -> str:
        return f"{self.unit.name or 'all'}-line-{self.number}"


def _brains(after: Brain, lines: Sequence[_Line]) -> dict[str, Brain]:
    return {one.name: without(after, [one.line]) for one in lines}


async def _again(look: _Look, single: Sequence[_Line], cases: Sequence[Case]) -> None:
    """Fresh repeats where a line seemed to be needed; they take the place of the first look's."""
    for unit in {one.unit.name: one.unit for one in single}.values():
        mine = [one for one in single if one.unit is unit]
        shaky = {i for one in mine for i, pairs in look.found[one.name].items() if _net(pairs)}
        for one in mine:
            held = look.found[one.name]
            look.found[one.name] = {i: pairs for i, pairs in held.items() if i not in shaky}
        tried = [case for case in cases if case.incident.id in shaky]
        await look.play(_brains(look.after, mine), tried, f"{unit.name}/again", AGAIN)


@dataclass(frozen=True, slots=True)
class _Look:
    """Plays looks and adds their pairs to ``found``."""

    bench: Bench
    after: Brain
    found: dict[str, Pairs]

    async def play(
        self, brains: Mapping[str, Brain], cases: Sequence[Case], name: str, repeats: int
    ) -> None:
        """Play one look; brains that are alike are played once."""
        if not cases:
            return
        arm_of: dict[str, str] = {self.after.hash: WITH}
        arms = [Arm(WITH, self.after)]
        for arm, brain in brains.items():
            if brain.hash not in arm_of:
                arm_of[brain.hash] = arm
                arms.append(Arm(arm, brain))
        result = await self.bench.plays.play(
            "probe",
            cases,
            arms,
            repeats=repeats,
            seed=self.bench.seed("ablation", self.after.hash, name),
        )
        for arm, brain in brains.items():
            for incident, pairs in paired(result.outcomes, arm_of[brain.hash], WITH).items():
                self.found[arm].setdefault(incident, []).extend(pairs)


def paired(outcomes: Sequence[Outcome], before: str, after: str) -> Pairs:
    """The valid pairs of two arms by incident: (passed in ``before``, passed in ``after``)."""
    decided = final(outcomes)
    pairs: Pairs = {}
    for (incident, arm, repeat), one in sorted(decided.items()):
        other = decided.get((incident, after, repeat))
        if arm != before or other is None:
            continue
        results = (one.verdict.result, other.verdict.result)
        if "invalid" not in results:
            pairs.setdefault(incident, []).append((results[0] == "pass", results[1] == "pass"))
    return pairs


def _net(pairs: Sequence[tuple[bool, bool]]) -> int:
    """Pairs lost without the line minus pairs gained."""
    return sum(after - before for before, after in pairs)


def _leans(pairs: Sequence[tuple[bool, bool]]) -> bool:
    """True where more than half of an incident's pairs are lost, on balance."""
    return 2 * _net(pairs) > len(pairs)


def _leaning(pairs: Pairs, group: Mapping[str, str]) -> set[str]:
    return {group[incident] for incident, one in pairs.items() if _leans(one)}


def _effect(line: Line, pairs: Pairs, group: Mapping[str, str]) -> LineEffect:
    every = [pair for one in pairs.values() for pair in one]
    lost = sum(after and not before for before, after in every)
    gained = sum(before and not after for before, after in every)
    leaning, tried = _leaning(pairs, group), {group[one] for one, held in pairs.items() if held}
    verdict: Verdict = "none"
    why = ""
    if len(leaning) > 1:
        verdict = "several"
    elif leaning and len(tried) >= LEAST:
        verdict = "case_specific"
    elif leaning or not tried:
        verdict, why = "undecided", f"fewer than {LEAST} kinds of incident to try it on"
    p = mcnemar_exact(lost, gained) / 2 if lost > gained else 1.0
    return LineEffect(line, verdict, len(every), lost, gained, p, len(leaning), len(tried), why)
