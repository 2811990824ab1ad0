"""An entity of the same name elsewhere, or of nearly the same name, changed as trouble neared."""

from __future__ import annotations

from rapidfuzz import fuzz

from heldout.simulate.catalog import COUNTERS, VERSIONED
from heldout.simulate.dressing import other_edit
from heldout.simulate.ground import Edit
from heldout.simulate.plot import Act, Plot
from heldout.simulate.rhythm import MINUTE
from heldout.simulate.trap import Trap, around

_MARKS = ("-next", "-v2", "-old", "-b", "2")
_TIES = ("part_of", "declared_in", "owned_by", "built_from")
_IDLE = ("replicas", "ready_replicas", "desired_size")
_ALIKE = 82
"""Least likeness of two names, 0 to 100, that takes a second look to tell apart."""


def compose(plot: Plot) -> Plot:
    """Change a look-alike of the holder 1 to 20 minutes before onset, but before the cause."""
    ground, binding = plot.land.ground, plot.binding
    rng = plot.rng("lookalike")
    cause = plot.act("cause")
    latest = plot.onset if plot.latent or cause is None else cause.ts - 4 * MINUTE
    ts = latest - int(rng.integers(60, 20 * 60)) * MINUTE // 60
    model = binding.holder if binding.field else next(iter(around(plot)), binding.holder)
    live = ground.siblings(model) or _near_names(plot, model)
    if live:
        edit = _harmless(plot, live[int(rng.integers(len(live)))], float(rng.random()))
        why = "it belongs to another cluster or another service, and that one is well"
    else:
        copy = _copied(plot, model, _MARKS[int(rng.integers(len(_MARKS)))])
        edit = _same(plot, copy) or other_edit(plot.land, copy, float(rng.random()), [])
        why = "only its name is alike: nothing on the failing path uses it"
    if edit is None:
        return plot
    return plot.having(Act("alike", "lookalike", ts, edit, why=why))


def _near_names(plot: Plot, model: int) -> list[int]:
    """Entities of the model's kind that are named much like it and are off the failing path."""
    ground = plot.land.ground
    own = ground.entities[model]
    touched = {edit.entity for act in plot.acts if act.role != "noise" for edit in act.edits}
    near = {*plot.binding.path, *around(plot), *touched, model}
    return [
        one for one in ground.of_kind(own.kind)
        if one not in near and fuzz.ratio(ground.name(one), own.name) >= _ALIKE
    ]  # fmt: skip


def _same(plot: Plot, entity: int) -> Edit | None:
    """The cause's own edit on an entity that nothing uses."""
    binding = plot.binding
    plain = {binding.fault.field, binding.field} & {*COUNTERS, *VERSIONED}
    if not binding.field or plain:
        return None
    return Edit(entity, binding.field, binding.new, binding.old)


def _harmless(plot: Plot, entity: int, draw: float) -> Edit | None:
    """A step of the cause's field between healthy values, or of another field."""
    binding = plot.binding
    taken = [field for at, field in plot.protected() if at == entity]
    healthy = [pair[0] for pair in binding.fault.values if pair[0] != binding.old]
    if healthy and _same(plot, entity) is not None:
        return Edit(entity, binding.field, healthy[int(draw * len(healthy))], binding.old)
    return other_edit(plot.land, entity, draw, [*taken, binding.field])


def _copied(plot: Plot, model: int, mark: str) -> int:
    """A second entity beside the model, named nearly like it and used by nothing."""
    ground, land = plot.land.ground, plot.land
    own = ground.entities[model]
    copy = ground.add(own.kind, _marked(plot, own.name, mark), own.cluster)
    for (entity, field), value in list(ground.base.items()):
        if entity == model:
            ground.base.setdefault((copy, field), 0 if field in _IDLE else value)
    for predicate, dst in list(ground.out(model)):
        if predicate in _TIES and (predicate, dst) not in ground.out(copy):
            ground.link(copy, predicate, dst)
    if model in land.repo_of:
        land.repo_of[copy] = land.repo_of[model]
    return copy


def _marked(plot: Plot, name: str, mark: str) -> str:
    """The name with a mark after the service's own part of it, or at its end."""
    stems = [site.name for site in plot.land.sites if name.startswith(site.name)]
    stem = max(stems, key=len, default="")
    if not stem:
        stem = name.split("-")[0].split(".")[0]
    return f"{stem}{mark}{name[len(stem) :]}"


TRAP = Trap("lookalike_entity", compose)
