"""The truth of an incident, written from what was really rendered."""

from __future__ import annotations

from itertools import pairwise

from heldout.simulate.plot import Act, Plot
from heldout.simulate.symptoms import Active
from heldout.simulate.tables import Replay
from heldout.truth import Decoy, NearMiss, Spec, Truth

_LEAST = 0.05


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _decoys(plot: Plot, done: Replay, cause: str) -> tuple[Decoy, ...]:
    ground = plot.land.ground
    return tuple(
        Decoy(done.ids[act.key], ground.id(act.edit.entity), act.why)
        for act in plot.acts
        if act.role in ("decoy", "fleet", "older") and act.key != cause and act.key in done.ids
    )


def _misses(
    plot: Plot, done: Replay, decoys: tuple[Decoy, ...], woken: str | None
) -> tuple[NearMiss, ...]:
    ground = plot.land.ground
    misses = [NearMiss(decoy.entity, decoy.change, decoy.why_innocent) for decoy in decoys]
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
    misses = _misses(plot, done, decoys, woken)
    fault = active.fault if active else plot.binding.fault
    words = {"old": "", "new": "", "said": "", "holder": "", "seat": ""}
    seat = ground.name(plot.binding.seat)
    if active is not None:
        seat = ground.name(active.seat)
        words = {
            "old": _shown(active.old), "new": _shown(active.new), "said": active.field,
            "holder": ground.name(active.holder), "seat": seat,
        }  # fmt: skip
    mechanism = _filled(fault.mechanism, words)
    field, change = "", ""
    entities: tuple[str, ...] = (ground.id(plot.binding.seat),)
    chain: list[str] = []
    if active is not None and active.change:
        field, change = active.field, active.change
        entities = tuple(dict.fromkeys((ground.id(active.holder), ground.id(active.seat))))
        chain.append(
            f"{change} set {active.field} of {words['holder']} "
            f"from {words['old']} to {words['new']}"
        )
    trigger = fault.trigger.prose
    chain += [trigger, mechanism]
    if active is not None:
        chain += [
            f"{ground.name(a)} failed its calls to {ground.name(b)}"
            for a, b in reversed(list(pairwise(active.path)))
        ]
    return Truth(
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
        recommended_fix=_filled(fault.fix, words),
        canary=spec.canary,
    )


def _filled(text: str, words: dict[str, str]) -> str:
    for name, value in words.items():
        text = text.replace("{" + name + "}", value)
    return text
