"""The gate before a look: no brain that holds a fact of an incident is ever scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from heldout.brain import Brain
from heldout.errors import GateRejected
from heldout.gate import GateProcess
from heldout.gate.report import GateReport
from heldout.settings import Settings


class Gate(Protocol):
    """The part of :class:`heldout.gate.GateProcess` that a score needs; it may block."""

    def check(self, before: Brain, after: Brain) -> GateReport:
        """What is new in ``after`` and must not be there."""
        ...


@dataclass(frozen=True, slots=True)
class Clearance:
    """What the gate ran with when it let the brain after pass.

    ``findings`` counts what refuses, and so is 0; ``exceptions`` the signed exceptions in force and
    ``excused`` what they let by.
    """

    gate_version: str
    inventory_hash: str
    vocabulary_hash: str
    checkers_hash: str
    brain_hash: str
    findings: int
    exceptions: int
    excused: int

    def sentence(self) -> str:
        """One plain sentence for a report."""
        plural = "" if self.exceptions == 1 else "s"
        return (
            f"gate: {self.findings} findings against the brain after; {self.exceptions} signed "
            f"exception{plural} in force, which let {self.excused} by"
        )

    def pins(self) -> dict[str, str]:
        """As a part of the endpoint, so that a score stands and falls with it."""
        return {
            "gate": self.gate_version,
            "gate_inventory": self.inventory_hash,
            "gate_vocabulary": self.vocabulary_hash,
            "gate_checkers": self.checkers_hash,
            "gate_findings": str(self.findings),
            "gate_exceptions": str(self.exceptions),
            "gate_excused": str(self.excused),
        }

    def row(self) -> dict[str, Any]:
        """The columns of the ledger's table of scores; the brain has one of its own."""
        return {
            "gate_version": self.gate_version,
            "inventory_hash": self.inventory_hash,
            "vocabulary_hash": self.vocabulary_hash,
            "checkers_hash": self.checkers_hash,
            "findings": self.findings,
            "exceptions": self.exceptions,
        }


def clear(
    settings: Settings, before: Brain, brains: Sequence[Brain], gate: Gate | None = None
) -> Clearance:
    """Ask the gate about each brain; what it said of the first is kept.

    A refusal is a :class:`GateRejected`, a gate that cannot run a GateError.
    """
    if gate is None:
        with GateProcess(settings) as process:
            return clear(settings, before, brains, process)
    cleared = [_cleared(gate.check(before, one), one) for one in brains]
    return cleared[0]


def _cleared(report: GateReport, after: Brain) -> Clearance:
    if not report.passed:
        rules = ", ".join(sorted({finding.rule for finding in report.rejects}))
        raise GateRejected(
            f"the gate refuses the brain after ({len(report.rejects)} finding(s): {rules})",
            where=f"brain {after.hash[:12]}",
            mend="No look was counted. 'heldout check' names the lines; take them out",
        )
    return Clearance(
        gate_version=report.gate_version,
        inventory_hash=report.inventory_hash,
        vocabulary_hash=report.vocabulary_hash,
        checkers_hash=report.checkers_hash,
        brain_hash=after.hash,
        findings=len(report.rejects),
        exceptions=report.exceptions,
        excused=report.excused,
    )


def clearance_of(pins: Mapping[str, str], after: Brain) -> Clearance | None:
    """The clearance in a stored endpoint; ``None`` for a score that was made without a gate."""
    if "gate" not in pins:
        return None
    return Clearance(
        gate_version=pins["gate"],
        inventory_hash=pins["gate_inventory"],
        vocabulary_hash=pins["gate_vocabulary"],
        checkers_hash=pins["gate_checkers"],
        brain_hash=after.hash,
        findings=int(pins["gate_findings"]),
        exceptions=int(pins["gate_exceptions"]),
        excused=int(pins["gate_excused"]),
    )
