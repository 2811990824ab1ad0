"""Worlds with a known cause: an estate, its history, and an incident with traps.

The registries are ``heldout.simulate.fault.faults()`` and ``heldout.simulate.trap.traps()``; here
those names are the packages that hold the records.
"""

from heldout.simulate.fault import Fault, Gauge, Trigger
from heldout.simulate.grafting import graft
from heldout.simulate.trap import Trap
from heldout.simulate.world import GENERATOR, VARIANTS, Generated, generate

__all__ = [
    "GENERATOR",
    "VARIANTS",
    "Fault",
    "Gauge",
    "Generated",
    "Trap",
    "Trigger",
    "generate",
    "graft",
]
