"""Worlds with a known cause: an estate, its history, and an incident with traps."""

from heldout.simulate.fault import Fault, Gauge, Trigger, faults
from heldout.simulate.grafting import graft
from heldout.simulate.trap import Trap, traps
from heldout.simulate.world import GENERATOR, VARIANTS, Generated, generate

__all__ = [
    "GENERATOR",
    "VARIANTS",
    "Fault",
    "Gauge",
    "Generated",
    "Trap",
    "Trigger",
    "faults",
    "generate",
    "graft",
    "traps",
]
