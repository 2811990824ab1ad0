"""All probes of one change, within what they may cost."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from heldout.behaviour.ablation import WITH, UnitEffect, ablate, paired, sampled
from heldout.behaviour.bench import Bench
from heldout.behaviour.closed_book import ClosedBook, closed_book
from heldout.behaviour.lines import Unit
from heldout.behaviour.options import ProbeOptions
from heldout.behaviour.renaming import Survival, counted, invariance
from heldout.behaviour.rendering import Renamed, renamed_cases
from heldout.behaviour.report import BehaviourReport, UnitReport
from heldout.brain import Brain
from heldout.errors import CapReached
from heldout.llm.names import ModelName
from heldout.run.plan import Arm

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
        self.order = sampled(self.bench, self.fixed, units)
        self.effects = {unit.name: UnitEffect(()) for unit in units}

    async def run(self) -> BehaviourReport:
        options = self.bench.options
        rendering = asyncio.create_task(self._render()) if options.rename else None
        told: ClosedBook | None = None
        survived: dict[str, Survival] = {}
        try:
            if options.closed_book:
                told = await closed_book(self.bench, self.before, self.after, self.after.hash)
            if options.ablation:
                self.effects = await ablate(self.bench, self.after, self.units, self.order)
                self.bench.say(f"{sum(len(unit.lines) for unit in self.units)} line(s) dropped")
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
            UnitReport(
                u.name,
                effects[u.name].lines,
                survived.get(u.name),
                len(effects[u.name].needed_by),
                effects[u.name].tried,
            )
            for u in self.units
        )
        return BehaviourReport(
            closed_book=told,
            rename=whole,
            units=tuple(reports),
            notes=tuple(self.notes),
            simulated=ModelName.parse(self.bench.model).is_simulated,
        )

    async def _render(self) -> Renamed:
        """Fixed traps rendered again, the first of those whose lines are dropped."""
        cases = [case for case in self.order if case.is_trap][: self.bench.options.rename]
        return await asyncio.to_thread(renamed_cases, self.bench.settings, cases)

    async def _survived(self, found: Renamed) -> dict[str, Survival]:
        """What is left on renamed incidents: of the whole change, and where an edit was needed.

        All are held against the whole's gain on every train trap. One repeat of each counts, as on
        the renamed incidents: a majority of several is another measure.
        """
        self.notes += [f"renaming {one}: {why}" for one, why in sorted(found.refused.items())]
        if not found.cases:
            self.notes.append("renaming: the change fixed nothing that can be rendered again")
            return {}
        self.bench.say(f"{len(found.cases)} incident(s) rendered again under other names")
        result = await self.bench.plays.play(
            "probe",
            list(found.cases.values()),
            [Arm(_BASE, self.before), Arm(WITH, self.after)],
            repeats=1,
            seed=self.bench.seed("renamed", self.after.hash),
        )
        pairs = paired(result.outcomes, _BASE, WITH)
        traps = {case.incident.id for case in self.bench.cases if case.is_trap}
        original = counted({one: held[:1] for one, held in self.measured.items() if one in traps})
        whole = invariance(original, counted(pairs), len(pairs))
        survived = {_BASE: whole}
        if len(self.units) == 1:
            return survived | {self.units[0].name: whole}
        for name, effect in self.effects.items():
            mine = {found.cases[one].incident.id for one in effect.needed_by if one in found.cases}
            again = {one: held for one, held in pairs.items() if one in mine}
            if again:
                survived[name] = invariance(original, counted(again), len(again))
        return survived


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

    Both give way alike, down to :data:`FEWEST`; then dropping lines is left out, then renaming. An
    edit is taken to be needed by half of what it is dropped on; second looks are not counted.
    """
    rename, ablation = options.rename, options.ablation

    def cost() -> int:
        tried = min(ablation, fixed)
        lines = sum(1 + len(unit.lines) for unit in units if len(unit.lines) > 1)
        return (1 + len(units)) * tried + lines * (tried + 1) // 2 + 2 * min(rename, fixed)

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
