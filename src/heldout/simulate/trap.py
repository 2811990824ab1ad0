"""Traps: functions from plot to plot, one per file under ``traps/``, found by listing it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from heldout.errors import SpecError
from heldout.simulate.fault import nearest, records
from heldout.simulate.plot import Plot


@dataclass(frozen=True, slots=True)
class Trap:
    """A named composer. ``siblings`` asks for a place that exists in several clusters."""

    name: str
    compose: Callable[[Plot], Plot]
    siblings: bool = False


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
    """The plot with all named traps composed onto it, in the order of the traps' own names.

    The order of composition is fixed so that a spec's list is a set: latent_cause moves the cause
    first, because the others place themselves relative to it.
    """
    first = [name for name in names if name == "latent_cause"]
    for name in (*first, *sorted(name for name in names if name != "latent_cause")):
        plot = trap_named(name).compose(plot)
    return plot
