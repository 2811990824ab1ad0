"""Traps: functions from plot to plot, one per file under ``traps/``, found by listing it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from heldout.errors import SpecError
from heldout.simulate.coverage import covered
from heldout.simulate.fault import nearest, records
from heldout.simulate.plot import Plot


@dataclass(frozen=True, slots=True)
class Trap:
    """A named composer. ``siblings`` asks for a place that exists in several clusters.

    Traps of a lower ``turn`` compose first: what moves the cause before what is placed relative to
    it, and what withholds telemetry after everything that must stay provable.
    """

    name: str
    compose: Callable[[Plot], Plot]
    siblings: bool = False
    turn: int = 1


@cache
def traps() -> Mapping[str, Trap]:
    """Every trap by name, in name order."""
    found: Mapping[str, Trap] = records("heldout.simulate.traps", "TRAP")
    return found


def trap_named(name: str) -> Trap:
    """The trap of that name; an unknown one is a :class:`SpecError` with near names."""
    known = traps()
    if name not in known:
        raise SpecError(f"there is no trap '{name}'", where="spec.traps", mend=nearest(name, known))
    return known[name]


def stacked(plot: Plot, names: Sequence[str]) -> Plot:
    """The plot with all named traps composed onto it, and with what its knobs leave uncollected.

    The order of composition is fixed, by turn and name, so that a spec's list is a set.
    """
    chosen = {name: trap_named(name) for name in names}
    for trap in sorted(chosen.values(), key=lambda one: (one.turn, one.name)):
        plot = trap.compose(plot)
    return covered(plot)


def around(plot: Plot, kinds: Sequence[str] = ("Deployment", "ConfigMap", "Hpa")) -> list[int]:
    """Entities of ``kinds`` by which the services of the path run, the victim's first.

    The entity that holds the cause's field is left out.
    """
    ground = plot.land.ground
    found: dict[int, None] = {}
    for service in plot.binding.path:
        for kind in kinds:
            for hops in _WAYS[kind]:
                found.update(dict.fromkeys(ground.walk(service, hops)[-1:]))
    return [one for one in found if one != plot.binding.holder]


_WAYS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "Deployment": (("runs_on>Deployment",),),
    "ConfigMap": (("runs_on>Deployment", "mounts>ConfigMap"),),
    "Secret": (("runs_on>Deployment", "mounts>Secret"),),
    "Hpa": (("runs_on>Deployment", "scales<Hpa"),),
}
