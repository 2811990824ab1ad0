"""The gate: nothing about an incident gets into the brain.

It runs as a child process, the only one besides score and build that opens both halves of a set,
and hands back findings in which the held-out half is redacted.
"""

from heldout.gate.command import check_brain, check_patch, check_stored, check_target
from heldout.gate.process import GateProcess
from heldout.gate.report import GATE_VERSION, Finding, GateReport, render

__all__ = [
    "GATE_VERSION",
    "Finding",
    "GateProcess",
    "GateReport",
    "check_brain",
    "check_patch",
    "check_stored",
    "check_target",
    "render",
]
