"""Places that a record names from its seat, and the part of a population that a fault reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.simulate.fault import Fault
from heldout.simulate.ground import Ground
from heldout.simulate.rhythm import DAY, HOUR, MINUTE, SECOND, iso
from heldout.simulate.streams import share

if TYPE_CHECKING:
    from heldout.simulate.plot import Plot

_WORKLOAD = ("runs_on>Deployment",)


def places(ground: Ground, on: str, seat: int, holder: int, victim: int = -1) -> list[int]:
    """The entities that ``on`` names: ``seat``, ``holder``, ``workload``, ``victim`` or hops."""
    if on == "seat":
        return [seat]
    if on == "holder":
        return [holder]
    if on == "victim":
        return [victim] if victim >= 0 else []
    return ground.reach(seat, _WORKLOAD if on == "workload" else on.split())


def population(ground: Ground, fault: Fault, seat: int) -> list[int]:
    """The entities among which the fault's scope tells members from others."""
    if fault.scope is None:
        return []
    return ground.reach(seat, fault.scope.over.split())


def members(plot: Plot) -> tuple[list[int], list[int]]:
    """(reached, spared) entities of the plot's own fault; at least one of each."""
    ground, fault = plot.land.ground, plot.binding.fault
    people = population(ground, fault, plot.binding.seat)
    if fault.scope is None or len(people) < 2:
        return [], []
    part = plot.knob("fleet_share", fault.scope.share)
    order = sorted(people, key=lambda one: share(plot.seed, "scope", ground.id(one)))
    count = min(len(order) - 1, max(1, round(part * len(order))))
    return sorted(order[:count]), sorted(order[count:])


def scope_pins(plot: Plot) -> dict[tuple[int, str], Any]:
    """Base values by which members are told from others, on every entity of their kind.

    Elsewhere the values are drawn, so that the field itself points nowhere.
    """
    scope = plot.binding.fault.scope
    reached, spared = members(plot)
    if scope is None or not reached:
        return {}
    ground = plot.land.ground
    kind = ground.entities[reached[0]].kind
    pins: dict[tuple[int, str], Any] = {}
    for entity in ground.of_kind(kind):
        key = (entity, scope.field)
        if key not in ground.base:
            inside = share(plot.seed, "scope-elsewhere", ground.id(entity)) < scope.share
            pins[key] = told(plot, scope.inside if inside else scope.outside, entity)
    pins.update({(one, scope.field): told(plot, scope.inside, one) for one in reached})
    pins.update({(one, scope.field): told(plot, scope.outside, one) for one in spared})
    return pins


def told(plot: Plot, value: Any, entity: int) -> Any:
    """A scope's value for one entity; a moment (``@before`` and so on) becomes an ISO time.

    ``@before`` lies 4 to 12 days before the change, ``@since`` between it and the trigger,
    ``@recent`` in the last two hours of those, ``@trigger`` right after the trigger.
    """
    if not isinstance(value, str) or not value.startswith("@"):
        return value
    cause = plot.act("cause")
    changed = plot.onset - HOUR if cause is None else cause.ts
    woke = plot.onset - 25 * SECOND
    low, high = {
        "@before": (changed - 12 * DAY, changed - 4 * DAY),
        "@since": (changed + SECOND, woke),
        "@recent": (max(changed, woke - 2 * HOUR), max(changed, woke - 2 * MINUTE)),
        "@trigger": (woke, woke + 20 * SECOND),
    }[value]
    draw = share(plot.seed, "scope-moment", value, plot.land.ground.id(entity))
    return iso(low + int(draw * (high - low)))


def effect_pins(ground: Ground, fault: Fault, seat: int, holder: int) -> dict[tuple[int, str], Any]:
    """Healthy values of the states that a fault's effects turn, so that turning them shows."""
    pins: dict[tuple[int, str], Any] = {}
    for effect in fault.effects:
        if effect.field and effect.healthy is not None and effect.on != "victim":
            for entity in places(ground, effect.on, seat, holder):
                pins[(entity, effect.field)] = effect.healthy
    return pins
