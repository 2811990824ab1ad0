"""All probes of one change, within what they may cost."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from heldout.behaviour.ablation import WITH, UnitEffect, ablate, chosen, paired
from heldout.behaviour.bench import Bench
from heldout.behaviour.closed_book import ClosedBook, closed_book
from heldout.behaviour.lines import Unit
from heldout.behaviour.renaming import Counts, Survival, counted, invariance, renamed_cases
from heldout.behaviour.report import BehaviourReport, UnitReport
from heldout.brain import Brain
from heldout.errors import CapReached
from heldout.llm.names import ModelName
from heldout.run.plan import Arm
from heldout.split import Case

_BASE = "base"
Measured = Mapping[str, Sequence[tuple[bool, bool]]]
"""By incident: (passed before, passed after) of each repeat of a measurement on all of train."""


async def probe(
    bench: Bench, before: Brain, after: Brain, units: Sequence[Unit], measured: Measured
) -> BehaviourReport:
    """Probe ``after``, which is ``before`` with all ``units``.

    ``measured`` says which incidents the change fixed and what its gain on the originals is. A cap
    of the job that is reached in between leaves out what is left, and the report says so.
    """
    asked = bench.options
    switches = {
        "alert only": asked.closed_book,
        "dropping lines": asked.ablation,
        "renaming": asked.rename,
    }
    notes = [f"{name}: switched off" for name, on in switches.items() if not on]
    bench = _within_budget(bench, units, measured, notes)
    told: ClosedBook | None = None
    effects = {unit.name: UnitEffect((), Counts(0, 0)) for unit in units}
    survived: dict[str, Survival] = {}
    fixed = [one for one, pairs in sorted(measured.items()) if sum(b - a for a, b in pairs) > 0]
    try:
        if bench.options.closed_book:
            told = await closed_book(bench, before, after, after.hash)
        if bench.options.ablation:
            for unit in units:
                cases = chosen(bench, fixed, unit.targets, bench.options.ablation)
                effects[unit.name] = await ablate(bench, after, unit, cases)
                bench.say(f"lines dropped on {len(cases)} incident(s)")
        survived = await _renamed(bench, before, after, units, measured, effects, notes)
    except CapReached as error:
        notes.append(f"the rest: {error.what}")
    whole = survived.pop(_BASE, None)
    reports = (UnitReport(u.name, effects[u.name].lines, survived.get(u.name)) for u in units)
    return BehaviourReport(
        closed_book=told,
        rename=whole,
        units=tuple(reports),
        notes=tuple(notes),
        simulated=ModelName.parse(bench.model).is_simulated,
    )


async def _renamed(
    bench: Bench,
    before: Brain,
    after: Brain,
    units: Sequence[Unit],
    measured: Measured,
    effects: Mapping[str, UnitEffect],
    notes: list[str],
) -> dict[str, Survival]:
    """What is left on renamed incidents of the whole change, and of each edit."""
    if not bench.options.rename:
        return {}
    cases = _to_rename(bench, units, measured)
    found = await asyncio.to_thread(renamed_cases, bench.settings, cases, workers=bench.workers)
    notes += [f"renaming of {one}: {why}" for one, why in sorted(found.refused.items())]
    if not found.cases:
        notes.append("renaming: the change fixed no incident that can be rendered again")
        return {}
    bench.say(f"{len(found.cases)} incident(s) rendered again under other names")
    arm_of = {after.hash: WITH}
    brains = {_BASE: before, **{unit.name: unit.without for unit in units}}
    arms = [Arm(WITH, after)]
    for number, brain in enumerate(brains.values()):
        if brain.hash not in arm_of:
            arm_of[brain.hash] = f"without-{number}"
            arms.append(Arm(arm_of[brain.hash], brain))
    result = await bench.plays.play(
        "probe",
        list(found.cases.values()),
        arms,
        repeats=bench.options.repeats,
        seed=bench.seed("renamed", after.hash),
    )
    traps = {case.incident.id for case in bench.cases if case.is_trap}
    originals = {unit.name: effects[unit.name].without for unit in units}
    originals[_BASE] = counted({one: pairs for one, pairs in measured.items() if one in traps})
    if len(units) == 1 and units[0].without.hash == before.hash:
        originals[units[0].name] = originals[_BASE]
    survived = {}
    for name, brain in brains.items():
        again = counted(paired(result.outcomes, arm_of[brain.hash], WITH))
        survived[name] = invariance(originals[name], again, len(found.cases))
    return survived


def _to_rename(bench: Bench, units: Sequence[Unit], measured: Measured) -> list[Case]:
    """Fixed traps, one for each edit in turn, so that every edit has some of its own."""
    traps = {case.incident.id for case in bench.cases if case.is_trap}
    fixed = [
        one
        for one, pairs in sorted(measured.items())
        if one in traps and sum(b - a for a, b in pairs) > 0
    ]
    queues = [chosen(bench, fixed, unit.targets, len(fixed)) for unit in units]
    picked: dict[str, Case] = {}
    for turn in range(len(fixed)):
        for queue in queues:
            if turn < len(queue) and len(picked) < bench.options.rename:
                picked.setdefault(queue[turn].incident.id, queue[turn])
    return list(picked.values())


def _within_budget(
    bench: Bench, units: Sequence[Unit], measured: Measured, notes: list[str]
) -> Bench:
    """The bench with fewer incidents where rename and ablation would cost more than allowed.

    Two incidents are the least that can tell one group from several; below that a probe is left
    out.
    """
    options = bench.options
    rename, ablation = options.rename, options.ablation
    fixed = sum(sum(b - a for a, b in pairs) > 0 for pairs in measured.values())

    def cost() -> int:
        arms = sum(2 + len(unit.lines) for unit in units)
        dropped = arms * min(ablation, fixed)
        again = (2 + len(units)) * min(rename, fixed)
        return (dropped + again) * options.repeats

    while cost() > options.investigations and (ablation or rename):
        if max(ablation, rename) > 2:
            ablation, rename = (
                (ablation - 1, rename) if ablation >= rename else (ablation, rename - 1)
            )
        elif ablation:
            ablation = 0
            notes.append("dropping lines: there are more than the probes' budget has room for")
        else:
            rename = 0
            notes.append("renaming: there are more edits than the probes' budget has room for")
    return replace(bench, options=replace(options, rename=rename, ablation=ablation))
