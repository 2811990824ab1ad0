"""All probes of one change, within what they may cost."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from heldout.behaviour.ablation import WITH, UnitEffect, ablate, chosen, paired
from heldout.behaviour.bench import Bench
from heldout.behaviour.closed_book import ClosedBook, closed_book
from heldout.behaviour.lines import Unit
from heldout.behaviour.options import ProbeOptions
from heldout.behaviour.renaming import Counts, Survival, counted, invariance
from heldout.behaviour.rendering import Renamed, renamed_cases
from heldout.behaviour.report import BehaviourReport, UnitReport
from heldout.brain import Brain
from heldout.errors import CapReached
from heldout.llm.names import ModelName
from heldout.run.plan import Arm
from heldout.split import Case

_BASE = "base"
FEWEST = 3
"""Incidents below which neither probe can say anything."""
Measured = Mapping[str, Sequence[tuple[bool, bool]]]
"""By incident: (passed before, passed after) of each repeat of a measurement on all of train."""


async def probe(
    bench: Bench, before: Brain, after: Brain, units: Sequence[Unit], measured: Measured
) -> BehaviourReport:
    """Probe ``after``, which is ``before`` with all ``units``.

    ``measured`` says which incidents the change fixed and what its gain on the originals is. A cap
    of the job that is reached in between leaves out what is left, and the report says so.
    """
    return await _Probing(bench, before, after, units, measured).run()


class _Probing:
    """The probes of one change; incidents are rendered again while the other probes run."""

    def __init__(
        self, bench: Bench, before: Brain, after: Brain, units: Sequence[Unit], measured: Measured
    ) -> None:
        self.before, self.after = before, after
        self.units, self.measured = units, measured
        self.fixed = [
            one for one, pairs in sorted(measured.items()) if sum(b - a for a, b in pairs) > 0
        ]
        self.notes = _switched_off(bench.options)
        options = within_budget(bench.options, units, len(self.fixed), self.notes)
        self.bench = replace(bench, options=options)
        self.effects = {unit.name: UnitEffect((), Counts(0, 0)) for unit in units}

    async def run(self) -> BehaviourReport:
        options = self.bench.options
        rendering = asyncio.create_task(self._render()) if options.rename else None
        told: ClosedBook | None = None
        survived: dict[str, Survival] = {}
        try:
            if options.closed_book:
                told = await closed_book(self.bench, self.before, self.after, self.after.hash)
            for unit in self.units if options.ablation else ():
                self.effects[unit.name] = await ablate(self.bench, self.after, unit, self.fixed)
                self.bench.say(f"{len(unit.lines)} line(s) dropped, one by one")
            if rendering is not None:
                survived = await self._survived(await rendering)
        except CapReached as error:
            self.notes.append(f"the rest: {error.what}")
        finally:
            if rendering is not None:
                await asyncio.gather(rendering, return_exceptions=True)
        whole = survived.pop(_BASE, None)
        effects = self.effects
        reports = (
            UnitReport(u.name, effects[u.name].lines, survived.get(u.name)) for u in self.units
        )
        return BehaviourReport(
            closed_book=told,
            rename=whole,
            units=tuple(reports),
            notes=tuple(self.notes),
            simulated=ModelName.parse(self.bench.model).is_simulated,
        )

    async def _render(self) -> Renamed:
        bench, cases = self.bench, self._to_rename()
        return await asyncio.to_thread(renamed_cases, bench.settings, cases)

    def _to_rename(self) -> list[Case]:
        """Fixed traps, one for each edit in turn, so that every edit has some of its own."""
        fixed = [one for one in self.fixed if self.bench.case(one).is_trap]
        queues = [chosen(self.bench, fixed, unit.targets, len(fixed)) for unit in self.units]
        picked: dict[str, Case] = {}
        for turn in range(len(fixed)):
            for queue in queues:
                if len(picked) < self.bench.options.rename:
                    picked.setdefault(queue[turn].incident.id, queue[turn])
        return list(picked.values())

    async def _survived(self, found: Renamed) -> dict[str, Survival]:
        """What is left on renamed incidents of the whole change, and of each edit."""
        self.notes += [f"renaming {one}: {why}" for one, why in sorted(found.refused.items())]
        if not found.cases:
            self.notes.append("renaming: the change fixed nothing that can be rendered again")
            return {}
        self.bench.say(f"{len(found.cases)} incident(s) rendered again under other names")
        arm_of = {self.after.hash: WITH}
        brains = {_BASE: self.before, **{unit.name: unit.without for unit in self.units}}
        arms = [Arm(WITH, self.after)]
        for number, brain in enumerate(brains.values()):
            if brain.hash not in arm_of:
                arm_of[brain.hash] = f"without-{number}"
                arms.append(Arm(arm_of[brain.hash], brain))
        result = await self.bench.plays.play(
            "probe",
            list(found.cases.values()),
            arms,
            repeats=1,
            seed=self.bench.seed("renamed", self.after.hash),
        )
        originals = self._originals()
        survived = {}
        for name, brain in brains.items():
            again = counted(paired(result.outcomes, arm_of[brain.hash], WITH))
            survived[name] = invariance(originals[name], again, len(found.cases))
        return survived

    def _originals(self) -> dict[str, Counts]:
        """The gains on originals: of the whole on every trap, of an edit where it was dropped.

        One repeat of each, as on the renamed incidents: a majority of several is another measure.
        """
        traps = {case.incident.id for case in self.bench.cases if case.is_trap}
        first = {one: pairs[:1] for one, pairs in self.measured.items() if one in traps}
        counts = {unit.name: self.effects[unit.name].without for unit in self.units}
        counts[_BASE] = counted(first)
        if len(self.units) == 1 and self.units[0].without.hash == self.before.hash:
            counts[self.units[0].name] = counts[_BASE]
        return counts


def _switched_off(options: ProbeOptions) -> list[str]:
    switches = {
        "alert only": options.closed_book,
        "dropping lines": options.ablation,
        "renaming": options.rename,
    }
    return [f"{name}: switched off" for name, on in switches.items() if not on]


def within_budget(
    options: ProbeOptions, units: Sequence[Unit], fixed: int, notes: list[str]
) -> ProbeOptions:
    """The options with fewer incidents where rename and ablation would cost more than allowed.

    Both give way alike, down to :data:`FEWEST`; then dropping lines is left out, then renaming.
    Second looks are not counted: they are rare and small.
    """
    rename, ablation = options.rename, options.ablation

    def cost() -> int:
        dropped = sum(2 + len(unit.lines) for unit in units) * min(ablation, fixed)
        return dropped + (2 + len(units)) * min(rename, fixed)

    while cost() > options.investigations and (ablation or rename):
        if max(ablation, rename) > FEWEST:
            ablation, rename = (
                (ablation - 1, rename) if ablation >= rename else (ablation, rename - 1)
            )
        elif ablation:
            ablation = 0
            notes.append("dropping lines: there are more than the probes' budget has room for")
        else:
            rename = 0
            notes.append("renaming: there are more edits than the probes' budget has room for")
    return replace(options, rename=rename, ablation=ablation)
