"""The plot of an incident: where the fault sits, which changes are part of it, and when.

A plot is immutable; traps are functions from plot to plot.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from heldout.errors import SpecError
from heldout.simulate.catalog import COUNTERS, VERSIONED
from heldout.simulate.dressing import image_at, other_edit
from heldout.simulate.fault import Fault
from heldout.simulate.ground import DEPENDS, Edit, Ground
from heldout.simulate.landscape import IMPORTED, Landscape, spell
from heldout.simulate.rhythm import DAY, HOUR, MINUTE, SECOND, calendar, moments, near_office
from heldout.simulate.scope import effect_pins, population, scope_pins
from heldout.simulate.streams import share, stream

Role = Literal[
    "former", "cause", "decoy", "older", "fleet", "reaction", "twin", "revert", "lookalike", "noise"
]
DECOYS: tuple[Role, ...] = (
    "decoy", "older", "fleet", "reaction", "twin", "revert", "lookalike"
)  # fmt: skip
"""Roles of innocent changes that look like the cause; the first found stands in as one in twins."""
MAX_HOPS = 4
MOST_NEIGHBOURS = 26
"""A service of the path has at most as many neighbours as one page of a tool's answer holds."""


@dataclass(frozen=True, slots=True)
class Act:
    """A change that belongs to the incident, before it is dressed.

    ``fault`` names the record whose symptoms it would have if it were the cause; ``None`` means
    none is written for it. ``before`` and ``also`` are edits that stand before and after its own
    in the same change.
    """

    key: str
    role: Role
    ts: int
    edit: Edit
    fault: Fault | None = None
    seat: int = -1
    also: tuple[Edit, ...] = ()
    why: str = ""
    before: tuple[Edit, ...] = ()

    @property
    def edits(self) -> tuple[Edit, ...]:
        """Every edit of the act, its own among them."""
        return (*self.before, self.edit, *self.also)


class Gap(NamedTuple):
    """Telemetry that was not kept: of one entity, between two times, and what is said of it."""

    source: Literal["logs", "metrics", "changes"]
    entity: int
    since: int
    until: int
    note: str


class Ring(NamedTuple):
    """One further alert beside the one that opened the incident."""

    entity: int
    ts: int
    rule: str
    severity: str
    text: str
    state: str


@dataclass(frozen=True, slots=True)
class Binding:
    """A fault tied to a place. ``path`` runs from the alerted victim to the seat."""

    fault: Fault
    seat: int
    holder: int
    field: str
    old: Any
    new: Any
    path: tuple[int, ...]
    woken: int
    """The entity whose timeline shows the trigger."""

    @property
    def victim(self) -> int:
        """The service that the alert names."""
        return self.path[0]


@dataclass(frozen=True, slots=True)
class Plot:
    """Everything that tells this incident from an ordinary day."""

    land: Landscape
    seed: int
    kind: str
    knobs: Mapping[str, float | int | str]
    binding: Binding
    start: int
    onset: int
    now: int
    latent: bool = False
    acts: tuple[Act, ...] = field(default=())
    gaps: tuple[Gap, ...] = ()
    rings: tuple[Ring, ...] = ()
    hint: str = ""
    """A line under the alert's text, as an annotation of the rule or a bot would leave it."""

    @property
    def ended(self) -> int:
        """When the trouble was over; ``now`` where it still goes on."""
        over = self.binding.fault.cause == "recovered"
        return self.now - 100 * SECOND if over else self.now

    def rng(self, *names: object) -> np.random.Generator:
        """A stream of this incident."""
        return stream(self.seed, "plot", *names)

    def knob(self, name: str, default: float) -> float:
        """A numeric knob."""
        value = self.knobs.get(name, default)
        if isinstance(value, str):
            raise SpecError(f"knob '{name}' is text", where="spec.knobs", mend="Give it a number")
        return float(value)

    def act(self, role: Role) -> Act | None:
        """The first act of a role."""
        return next((act for act in self.acts if act.role == role), None)

    def having(self, *acts: Act) -> Plot:
        """The plot with more acts."""
        return replace(self, acts=(*self.acts, *acts))

    def pinned(self) -> dict[tuple[int, str], Any]:
        """Base values that the acts rely on; the same in every variant."""
        pins: dict[tuple[int, str], Any] = {}
        for act in self.acts:
            if act.role == "noise":
                continue
            for edit in act.edits:
                if edit.field not in VERSIONED:
                    pins.setdefault((edit.entity, edit.field), edit.other)
            if act.fault is not None:
                pins.update(effect_pins(self.land.ground, act.fault, act.seat, act.edit.entity))
        for sibling in self.land.ground.siblings(self.binding.holder):
            if self.binding.field in VERSIONED:
                break
            pins.setdefault((sibling, self.binding.field), self.binding.old)
        if self.binding.fault.cause == "change" and self.binding.field not in VERSIONED:
            pins.setdefault((self.binding.holder, self.binding.field), self.binding.old)
        return pins | scope_pins(self)

    def protected(self) -> dict[tuple[int, str], int]:
        """Fields that ordinary life leaves alone, and from when: versions only from the act on."""
        fields = dict.fromkeys(self.pinned(), 0)
        for act in self.acts:
            if act.role != "noise" and act.edit.field in VERSIONED:
                fields[(act.edit.entity, act.edit.field)] = act.ts - HOUR
        return fields


def dependents(ground: Ground, entity: int) -> list[int]:
    """Services that lean on ``entity`` directly."""
    return [
        src
        for predicate, src in ground.into(entity)
        if predicate in DEPENDS and ground.entities[src].kind == "Service"
    ]


def upstream(ground: Ground, seat: int, *, most: int = MAX_HOPS) -> dict[int, tuple[int, ...]]:
    """Every service within ``most`` hops above ``seat``, with a shortest path from it to there."""
    paths: dict[int, tuple[int, ...]] = {seat: (seat,)}
    queue = deque([seat])
    while queue:
        at = queue.popleft()
        if len(paths[at]) > most:
            continue
        for above in dependents(ground, at):
            if above not in paths:
                paths[above] = (above, *paths[at])
                queue.append(above)
    return paths


def _seats(land: Landscape, fault: Fault, *, partial: bool) -> list[tuple[int, int]]:
    ground = land.ground
    found = []
    for seat in ground.of_kind(fault.seat):
        walk = ground.walk(seat, fault.holder)
        if fault.holder and not walk:
            continue
        holder = walk[-1] if walk else seat
        if fault.scope is not None and len(population(ground, fault, seat)) < 2:
            continue
        alike = bool(ground.siblings(seat)), bool(ground.siblings(holder))
        # A scope names its own part, so copies in other clusters neither help nor harm.
        if fault.scope is None and ((not all(alike)) if partial else any(alike)):
            continue
        found.append((seat, holder))
    return found


def bind(
    land: Landscape, fault: Fault, seed: int, *, hops: int, partial: bool, start: int, cause_at: int
) -> Binding:
    """Tie ``fault`` to a place with a victim ``hops`` (or the nearest possible) above its seat."""
    ground = land.ground
    best: list[tuple[int, tuple[int, ...], int]] = []
    closest = 99
    for seat, holder in _seats(land, fault, partial=partial):
        if _woken(ground, fault, seat, holder) is None:
            continue
        for above, path in upstream(ground, seat).items():
            if len(path) - 1 < min(hops, 1) or ground.entities[above].kind != "Service":
                continue
            if max(ground.degree(at) for at in path) > MOST_NEIGHBOURS:
                continue
            if partial and not ground.siblings(above):
                continue
            off = abs(len(path) - 1 - hops)
            if off < closest:
                closest, best = off, []
            if off == closest:
                best.append((seat, path, holder))
    if not best:
        needs = " ".join((fault.seat, *fault.holder))
        raise SpecError(
            f"fault '{fault.name}' finds no place: it needs {needs} below a calling Service"
            + (", with siblings in other clusters" if partial else ""),
            where="spec.fault",
            mend="Choose another fault, archetype or seed",
        )
    seat, path, holder = best[int(share(seed, "bind", fault.name) * len(best))]
    name = fault.field_in(land.style)
    old, new = _values(land, fault, seed, holder, name)
    if fault.field in VERSIONED:
        old = image_at(ground, holder, cause_at - 2 * DAY, start)
        new = image_at(ground, holder, cause_at, start)
    woken = _woken(ground, fault, seat, holder)
    return Binding(fault, seat, holder, name, old, new, path, seat if woken is None else woken)


def _values(land: Landscape, fault: Fault, seed: int, holder: int, name: str) -> tuple[Any, Any]:
    """The healthy and the biting value; an imported estate keeps its own healthy one."""
    old, new = fault.values[int(share(seed, "values", fault.name) * len(fault.values))]
    base = land.ground.base
    if isinstance(new, str) and new.startswith("="):
        new = base.get((holder, new[1:]), "64Mi")
    if land.archetype == IMPORTED:
        old = base.get((holder, name), old)
    return old, new


def _woken(ground: Ground, fault: Fault, seat: int, holder: int) -> int | None:
    on = fault.trigger.on
    if on == "seat":
        return seat
    if on == "holder":
        return holder
    hops: Sequence[str] = ("runs_on>Deployment",) if on == "workload" else on.split()
    walk = ground.walk(seat, hops)
    return walk[-1] if walk else None


def base_plot(
    land: Landscape,
    seed: int,
    kind: str,
    knobs: Mapping[str, float | int | str],
    fault: Fault,
    *,
    partial: bool,
) -> Plot:
    """The plain incident: the cause a few minutes before onset, no trap yet."""
    now, start, onset = calendar(seed, knobs)
    hops = int(knobs.get("hops", 2))
    at = onset - (2 + int(share(seed, "delay") * 8)) * MINUTE
    binding = bind(land, fault, seed, hops=hops, partial=partial, start=start, cause_at=at)
    plot = Plot(land, seed, kind, knobs, binding, start, onset, now)
    if fault.cause == "change":
        edit = Edit(binding.holder, binding.field, binding.new, binding.old)
        also = tuple(
            Edit(binding.holder, spell(name, land.style), biting, healthy)
            for name, healthy, biting in fault.also
        )
        cause = Act("cause", "cause", at, edit, fault, binding.seat, also=also)
        plot = plot.having(*former_acts(plot), cause)
        plot = plot.having(*everyday_acts(plot, "everyday", 5, start, onset - HOUR))
    return plot


def former_acts(plot: Plot) -> tuple[Act, ...]:
    """In a third of incidents: an earlier, healthy step of the very field, at history's start."""
    binding = plot.binding
    fault = binding.fault
    healthy = [pair[0] for pair in fault.values if pair[0] != binding.old]
    drawn = share(plot.seed, "former") < 0.35
    if not drawn or not healthy or fault.field in VERSIONED or fault.field in COUNTERS:
        return ()
    before = healthy[int(share(plot.seed, "former-value") * len(healthy))]
    target = plot.start + round(share(plot.seed, "former-time") * DAY)
    rhythm = plot.land.habits.rhythm
    low, high = plot.start + HOUR, plot.start + 2 * DAY
    ts = near_office(plot.rng("former"), target, low, high, rhythm)
    return (Act("former", "former", ts, Edit(binding.holder, binding.field, binding.old, before)),)


def everyday_acts(plot: Plot, key: str, count: int, since: int, until: int) -> tuple[Act, ...]:
    """Ordinary changes of *other* fields of the holder, in working hours."""
    return edits_on(plot, key, plot.binding.holder, count, since, until)


def edits_on(
    plot: Plot, key: str, entity: int, count: int, since: int, until: int
) -> tuple[Act, ...]:
    """Ordinary changes of an entity, never of a field that an act of the plot relies on."""
    rng = plot.rng("everyday", key, plot.land.ground.id(entity))
    taken = [act.edit.field for act in plot.acts if act.edit.entity == entity
             and act.role != "noise"]  # fmt: skip
    if entity == plot.binding.holder:
        taken.append(plot.binding.field)
    if until - since < 2 * HOUR:
        return ()
    acts = []
    rhythm = plot.land.habits.rhythm
    times = moments(rng, count, since, until, flat=False, rhythm=rhythm).tolist()
    for number, ts in enumerate(times):
        edit = other_edit(plot.land, entity, float(rng.random()), taken)
        if edit is not None:
            name = f"{key}/{plot.land.ground.id(entity)}/{number}"
            acts.append(Act(name, "noise", int(ts), edit))
    return tuple(acts)


def office_moment(plot: Plot, key: str, target: int, low: int, high: int) -> int:
    """A working-hours moment near ``target``."""
    rhythm = plot.land.habits.rhythm
    return near_office(plot.rng("moment", key), target, low, high, rhythm)
