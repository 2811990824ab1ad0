"""What the gate says: findings and the report around them, as data, text and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple

from heldout.terminal import visible

Severity = Literal["reject", "warn", "info"]

GATE_VERSION = "2"
"""Raised whenever a pass can give another answer; part of every report."""

HELD_OUT = "held-out"
"""Stands in the place of incident, type and identifier of whatever is on the test side only."""

HELD_OUT_HINT = "This wording is not allowed; state the method without it"
"""One constant sentence, so that a rejection says nothing about the held-out half."""

LEAKED = (
    "leak: this holds material of the held-out half alone, so something that may not read that "
    "half did; find out what before you go on"
)


class Provenance(NamedTuple):
    """One place of an identifier: the incident, the field there, and its role in it."""

    incident: str
    field: str
    role: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One hit. ``line`` counts from 1, ``column`` from 1, ``end_column`` is exclusive.

    ``matched`` is the edit's own text. ``identifier``, its ``tier`` and ``incident`` name what it
    matches, ``sources`` the places of train incidents that hold it; for material of the held-out
    half alone they are redacted before they leave the gate's process. A hit over line breaks goes
    on to ``end_line_column`` of ``end_line``; both are 0 for a hit within one line.
    """

    rule: str
    severity: Severity
    file: str
    line: int
    column: int
    end_column: int
    matched: str
    identifier: str = ""
    identifier_type: str = ""
    incident: str = ""
    hint: str = ""
    tier: str = ""
    sources: tuple[Provenance, ...] = ()
    end_line: int = 0
    end_line_column: int = 0

    @property
    def where(self) -> str:
        """``file:line:column``, as editors jump to it."""
        return f"{self.file}:{self.line}:{self.column}"

    def plain(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "sources": [source._asdict() for source in self.sources]}

    def redacted(self) -> Finding:
        """The finding without a word about the incident that it belongs to."""
        return replace(
            self,
            identifier="",
            identifier_type=HELD_OUT,
            incident=HELD_OUT,
            hint=HELD_OUT_HINT,
            tier="",
            sources=(),
        )


@dataclass(frozen=True, slots=True)
class GateReport:
    """The gate's answer about one brain. ``passed`` is false as soon as one finding rejects.

    ``preexisting`` counts findings that stood in the base already and so do not reject.
    ``test_side_only`` says that an unmistakable name or sentence of the held-out half alone came
    up: the pipeline leaked, and the job must end. ``seconds`` is wall time in the gate's process.
    ``exceptions`` counts the signed exceptions in force, ``excused`` what they let through here,
    and ``ignored`` says which entries did not count, and why.
    """

    passed: bool
    findings: tuple[Finding, ...]
    preexisting: int
    gate_version: str
    inventory_hash: str
    vocabulary_hash: str
    checkers_hash: str
    seconds: float
    test_side_only: bool = False
    incidents: int = 0
    exceptions: int = 0
    excused: int = 0
    ignored: tuple[str, ...] = ()

    @property
    def rejects(self) -> tuple[Finding, ...]:
        """The findings that refuse the edit."""
        return tuple(finding for finding in self.findings if finding.severity == "reject")

    def plain(self) -> dict[str, Any]:
        """Plain data for the ledger and for ``--json``."""
        return {**asdict(self), "findings": [finding.plain() for finding in self.findings]}


def report_from_plain(data: Mapping[str, Any]) -> GateReport:
    """Read a report back; raises ``KeyError``, ``TypeError`` or ``ValueError`` on other data."""
    known = {name: data[name] for name in GateReport.__dataclass_fields__}
    findings = tuple(_finding(one) for one in known.pop("findings"))
    for name in ("passed", "test_side_only"):
        if not isinstance(known[name], bool):
            raise TypeError(name)
    ignored = tuple(str(one) for one in known.pop("ignored"))
    report = GateReport(findings=findings, ignored=ignored, **known)
    if report.passed == bool(report.rejects):
        raise ValueError("verdict and findings disagree")
    return report


def _finding(data: Mapping[str, Any]) -> Finding:
    sources = tuple(Provenance(**one) for one in data["sources"])
    return Finding(**{**data, "sources": sources})


def render(report: GateReport) -> str:
    """The report as text: verdict, then a finding a block with line, rule, name and remedy."""
    rejects = len(report.rejects)
    verdict = "passed" if report.passed else f"refused: {rejects} finding(s) reject"
    lines = [
        f"gate {verdict} ({report.incidents} incidents, {report.preexisting} older finding(s) "
        f"not counted, {report.seconds:.2f} s)"
    ]
    if report.test_side_only:
        lines.append(LEAKED)
    for finding in report.findings:
        lines += _block(finding)
    if report.exceptions or report.ignored:
        lines.append(
            f"{report.exceptions} exception(s) in force, {report.excused} finding(s) let by"
        )
    lines += [f"exception ignored: {visible(one, 200)}" for one in report.ignored]
    lines.append(
        f"gate {report.gate_version}, inventory {report.inventory_hash[:12]}, "
        f"vocabulary {report.vocabulary_hash[:12]}, checkers {report.checkers_hash[:12]}"
    )
    return "\n".join(lines)


def _block(finding: Finding) -> list[str]:
    name = f" = {finding.identifier}" if finding.identifier else ""
    words = " ".join(word for word in (finding.tier, finding.identifier_type) if word)
    kind = f" ({words})" if words else ""
    incident = f" of {finding.incident}" if finding.incident else ""
    lines = [
        f"{finding.severity:6} {visible(finding.where, 200)} {finding.rule}: "
        f"'{visible(finding.matched, 80)}'{visible(name, 80)}{kind}{incident}"
    ]
    for source in finding.sources:
        lines.append(f"       in {source.incident}: {source.field} ({source.role})")
    if finding.hint:
        lines.append(f"       {visible(finding.hint, 700)}")
    return lines
