"""The truth of an incident, written from what was really rendered."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from heldout.simulate.plot import DECOYS, Act, Plot
from heldout.simulate.scope import members, places
from heldout.simulate.symptoms import Active, filled
from heldout.simulate.tables import Replay
from heldout.truth import NONE, Decoy, NearMiss, Spec, Truth

_LEAST = 0.05
_MOST_NEARS = 4


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _decoys(plot: Plot, done: Replay, cause: str) -> tuple[Decoy, ...]:
    ground = plot.land.ground
    return tuple(
        Decoy(done.ids[act.key], ground.id(act.edit.entity), act.why)
        for act in plot.acts
        if act.role in DECOYS and act.key != cause and act.key in done.ids
    )


def _misses(
    plot: Plot,
    done: Replay,
    decoys: tuple[Decoy, ...],
    active: Active | None,
    woken: str | None,
) -> tuple[NearMiss, ...]:
    ground = plot.land.ground
    misses = [NearMiss(decoy.entity, decoy.change, decoy.why_innocent) for decoy in decoys]
    if active is not None:
        for near in active.fault.nears:
            ends = places(ground, near.on, active.seat, active.holder, victim=active.path[0])
            misses += [
                NearMiss(ground.id(one), "", near.why)
                for one in ends[:_MOST_NEARS] if one not in (active.seat, active.holder)
            ]  # fmt: skip
    if woken is not None:
        misses.append(
            NearMiss(
                ground.id(plot.binding.woken),
                done.ids[woken],
                "it woke the trouble and did not make it; without the older change it is harmless",
            )
        )
    return tuple(misses)


def _affected(plot: Plot, level: dict[int, float]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    ground = plot.land.ground
    hit = tuple(ground.id(e) for e, value in level.items() if value >= _LEAST)
    well = [
        ground.id(other)
        for entity in (plot.binding.victim, plot.binding.seat)
        for other in ground.siblings(entity)
    ]
    well += [ground.id(site.service) for site in plot.land.sites if site.service not in level][:12]
    if level:
        reached, spared = members(plot)
        hit += tuple(ground.id(one) for one in reached if one not in level)
        well += [ground.id(one) for one in spared]
    return hit, tuple(dict.fromkeys(well))


def write_truth(
    spec: Spec,
    plot: Plot,
    done: Replay,
    active: Active | None,
    level: dict[int, float],
    *,
    cause: Act | None,
    woken: str | None,
) -> Truth:
    """The truth of the world just rendered; without an active cause the answer is 'no change'."""
    ground = plot.land.ground
    decoys = _decoys(plot, done, cause.key if cause else "")
    affected, unaffected = _affected(plot, level)
    misses = _misses(plot, done, decoys, active, woken)
    fault = active.fault if active else plot.binding.fault
    words = {"old": "", "new": "", "said": "", "holder": "", "seat": ""}
    seat = ground.name(plot.binding.seat)
    if active is not None:
        seat = ground.name(active.seat)
        words = {
            "old": _shown(active.old), "new": _shown(active.new), "said": active.field,
            "holder": ground.name(active.holder), "seat": seat,
        }  # fmt: skip
    mechanism = filled(fault.mechanism, words)
    field, change = "", ""
    entities: tuple[str, ...] = (ground.id(plot.binding.seat),)
    chain: list[str] = []
    if active is not None and active.change:
        field, change = active.field, active.change
        entities = _accepted(plot, active)
        chain.append(
            f"{change} set {active.field} of {words['holder']} "
            f"from {words['old']} to {words['new']}"
        )
    trigger = fault.trigger.prose
    chain += [trigger, mechanism]
    if active is not None and fault.scope is not None and fault.scope.why:
        chain.append(fault.scope.why)
    if active is not None:
        chain += [
            f"{ground.name(a)} failed its calls to {ground.name(b)}"
            for a, b in reversed(list(pairwise(active.path)))
        ]
    truth = Truth(
        incident=spec.id,
        culprit_entity=entities[0],
        culprit_change=change,
        culprit_field=field,
        accepted_entities=entities,
        accepted_changes=(change,) if change else (),
        mechanism=mechanism,
        mechanism_terms=fault.terms,
        trigger=trigger,
        affected=affected,
        unaffected=unaffected,
        chain=tuple(chain),
        decoys=decoys,
        near_misses=misses,
        recommended_fix=filled(fault.fix, words),
        canary=spec.canary,
    )
    if fault.cause in ("recovered", "false_alarm"):
        return _nothing_now(truth)
    return _unproven(truth, plot) if spec.kind == "unanswerable" else truth


def _accepted(plot: Plot, active: Active) -> tuple[str, ...]:
    """Ids of the holder, the seat, and what else the record accepts, each once."""
    ground = plot.land.ground
    further = [one for hops in active.fault.accepts for one in ground.reach(active.seat,
               hops.split())]  # fmt: skip
    return tuple(dict.fromkeys(ground.id(one) for one in (active.holder, active.seat, *further)))


def _nothing_now(truth: Truth) -> Truth:
    """The answer where nothing is broken any more, or never was: no entity, no change."""
    return replace(
        truth, culprit_entity="", culprit_change="", culprit_field="", accepted_entities=(),
        accepted_changes=(),
    )  # fmt: skip


def _unproven(truth: Truth, plot: Plot) -> Truth:
    """The answer where the proof was not kept: what failed may be named, a change may not.

    Without terms of its own, the mechanism must say that it cannot be proven.
    """
    reachable = (plot.land.ground.id(plot.binding.seat), NONE)
    return replace(truth, accepted_entities=reachable, accepted_changes=(), mechanism_terms=())
