"""Worlds with a known cause: an estate, its history, and an incident with traps.

The registries are ``heldout.simulate.fault.faults()`` and ``heldout.simulate.trap.traps()``; here
those names are the packages that hold the records.
"""

from heldout.simulate.fault import Effect, Fault, Gauge, Near, Scope, Trigger
from heldout.simulate.grafting import graft
from heldout.simulate.trap import Trap
from heldout.simulate.world import GENERATOR, VARIANTS, Generated, generate, twin

__all__ = [
    "GENERATOR",
    "VARIANTS",
    "Effect",
    "Fault",
    "Gauge",
    "Generated",
    "Near",
    "Scope",
    "Trap",
    "Trigger",
    "generate",
    "graft",
    "twin",
]
