"""The cause is one of some forty fields in a large apply whose summary does not speak of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from heldout.simulate.catalog import VERSIONED
from heldout.simulate.dressing import image_at, other_edit
from heldout.simulate.ground import Edit
from heldout.simulate.plot import Act, Plot, office_moment
from heldout.simulate.rhythm import DAY, HOUR
from heldout.simulate.trap import Trap

_TOGETHER = ("declared_in", "part_of", "controlled_by")
"""Predicates whose common end is what one apply covers."""
_OTHERS = 4
"""Large applies of other days that hide nothing, so that size alone tells nothing."""


def _stack(plot: Plot, entity: int) -> list[int]:
    """Entities declared with ``entity``, filled up with others of its kind, in stable order."""
    ground = plot.land.ground
    tops = [dst for predicate, dst in ground.out(entity) if predicate in _TOGETHER]
    found = dict.fromkeys(
        src for top in tops for predicate, src in ground.into(top) if predicate in _TOGETHER
    )
    own = ground.entities[entity]
    found.update(
        dict.fromkeys(e for e in ground.of_kind(own.kind) if ground.entities[e].cluster ==
                      own.cluster)
    )  # fmt: skip
    found.update(dict.fromkeys(ground.of_kind(own.kind)))
    return [one for one in found if one != entity]


def _edits(plot: Plot, key: str, lead: int, field: str, ts: int, size: int) -> list[Edit]:
    """About ``size`` edits over the entities that are applied together with ``lead``."""
    rng = plot.rng("squash", key)
    if field in VERSIONED:
        return _releases(plot, lead, ts, size, rng.permutation(10_000).tolist())
    group = _stack(plot, lead)[: size * 2]
    taken: dict[int, list[str]] = {one: [] for one in group}
    for entity, name in plot.protected():
        if entity in taken:
            taken[entity].append(name)
    edits: list[Edit] = []
    for at in rng.permutation(len(group)).tolist():
        for _ in range(1 + int(rng.geometric(0.5))):
            edit = other_edit(plot.land, group[at], float(rng.random()), taken[group[at]])
            if edit is not None and len(edits) < size:
                taken[edit.entity].append(edit.field)
                edits.append(edit)
    return edits


def _releases(plot: Plot, lead: int, ts: int, size: int, order: Sequence[int]) -> list[Edit]:
    """A release train: new versions of other workloads."""
    ground, taken = plot.land.ground, plot.protected()
    pool = [site.deployment for site in plot.land.sites]
    pool = [one for one in pool if one != lead and (one, "image") not in taken]
    chosen = sorted(range(len(pool)), key=lambda at: order[at])[: min(size, len(pool) // 2)]
    return [
        Edit(
            pool[at], "image", image_at(ground, pool[at], ts, plot.start),
            image_at(ground, pool[at], ts - 2 * DAY, plot.start),
        )
        for at in chosen
    ]  # fmt: skip


def _led(plot: Plot, edits: list[Edit]) -> list[Edit]:
    """The edits, first one that gives the change neither the holder's name nor the victim's."""
    ground, repo = plot.land.ground, plot.land.repo_of
    alerted, holder = ground.name(plot.binding.victim), ground.name(plot.binding.holder)
    return sorted(
        edits, key=lambda edit: repo.get(edit.entity, "") == alerted
        or ground.name(edit.entity) in (alerted, holder),
    )  # fmt: skip


def compose(plot: Plot) -> Plot:
    """Put the cause among 30 to 43 edits of one change, and add large applies that are innocent."""
    rng = plot.rng("squashed")
    cause, holder = plot.act("cause"), plot.binding.holder
    if cause is not None:
        size = int(rng.integers(30, 43))
        if cause.edit.field in VERSIONED:
            size = min(size, len(plot.land.sites) // 3)
        more = _edits(plot, "own", holder, cause.edit.field, cause.ts, size)
        more = _led(plot, more)
        at = int(rng.integers(1, len(more))) if len(more) > 1 else 0
        whole = replace(cause, before=tuple(more[:at]), also=(*cause.also, *more[at:]))
        plot = replace(plot, acts=tuple(whole if act is cause else act for act in plot.acts))
    span = plot.onset - plot.start - 4 * HOUR
    for number in range(_OTHERS):
        target = plot.start + 2 * HOUR + round(span * (number + float(rng.random())) / _OTHERS)
        low, high = max(plot.start, target - 8 * HOUR), min(plot.onset - HOUR, target + 8 * HOUR)
        plot = plot.having(*_innocent(plot, number, office_moment(plot, "big", target, low, high)))
    return plot


def _innocent(plot: Plot, number: int, ts: int) -> tuple[Act, ...]:
    rng = plot.rng("innocent", number)
    pool = [*plot.land.ground.of_kind(plot.land.ground.entities[plot.binding.holder].kind)]
    pool += [site.deployment for site in plot.land.sites]
    lead = pool[int(rng.integers(len(pool)))]
    field = plot.binding.field if plot.binding.field in VERSIONED else ""
    more = _edits(plot, f"big/{number}", lead, field, ts, int(rng.integers(30, 52)))
    if len(more) < 2:
        return ()
    at = int(rng.integers(1, len(more)))
    return (
        Act(f"big/{number}", "noise", ts, more[at], before=tuple(more[:at]),
            also=tuple(more[at + 1 :])),
    )  # fmt: skip


TRAP = Trap("squashed_pr", compose, turn=2)
