"""A report as SARIF 2.1.0 (OASIS standard, 2020), for code hosts and editors."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from heldout.errors import HeldoutError
from heldout.gate.pages import FILE_NAMES, RATIONALE
from heldout.gate.report import GATE_VERSION, Finding, GateReport, Severity
from heldout.gate.rules import RULES

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
VERSION = "2.1.0"
_LEVEL: Mapping[Severity, str] = {"reject": "error", "warn": "warning", "info": "note"}


def sarif(report: GateReport, folder: str) -> dict[str, Any]:
    """A log of one run. ``folder`` is the brain's place as a relative or absolute POSIX path.

    Lines and columns count from 1 in code points; the end of a region is exclusive.
    """
    names = sorted({*RULES, *(finding.rule for finding in report.findings)})
    places = {name: number for number, name in enumerate(names)}
    results = [_result(finding, places, folder) for finding in report.findings]
    rules = [_rule(name) for name in names]
    invocation: dict[str, Any] = {
        "executionSuccessful": True,
        "exitCode": 0 if report.passed else 3,
    }
    if report.ignored:
        invocation["toolExecutionNotifications"] = [
            {"level": "warning", "message": {"text": f"exception ignored: {one}"}}
            for one in report.ignored
        ]
    return _log(rules, invocation, results, _properties(report))


def sarif_failure(error: HeldoutError) -> dict[str, Any]:
    """A log that says that the gate could not run, so that no reader takes silence for a pass."""
    notification = {"level": "error", "message": {"text": error.sentence()}}
    invocation = {
        "executionSuccessful": False,
        "exitCode": error.exit_code,
        "toolExecutionNotifications": [notification],
    }
    return _log([], invocation, [], {"passed": False})


def _log(
    rules: list[dict[str, Any]],
    invocation: dict[str, Any],
    results: list[dict[str, Any]],
    properties: dict[str, Any],
) -> dict[str, Any]:
    driver = {"name": "heldout gate", "version": GATE_VERSION, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": results,
        "properties": properties,
    }
    return {"$schema": SCHEMA, "version": VERSION, "runs": [run]}


def _rule(name: str) -> dict[str, Any]:
    known = RULES.get(name)
    plain: dict[str, Any] = {"id": name}
    if known:
        plain["shortDescription"] = {"text": known.summary}
    if known and known.advice:
        plain["help"] = {"text": known.advice}
    return plain


def _properties(report: GateReport) -> dict[str, Any]:
    plain = report.plain()
    return {name: value for name, value in plain.items() if name not in {"findings", "ignored"}}


def _result(finding: Finding, places: Mapping[str, int], folder: str) -> dict[str, Any]:
    kind = " ".join(word for word in (finding.tier, finding.identifier_type) if word)
    name = f" = {finding.identifier}" if finding.identifier else ""
    said = f"'{finding.matched}'{name}{f' ({kind})' if kind else ''}"
    of = f" of {finding.incident}" if finding.incident else ""
    key = f"{finding.rule}\0{finding.file}\0{finding.matched}\0{finding.identifier}"
    return {
        "ruleId": finding.rule,
        "ruleIndex": places[finding.rule],
        "level": _LEVEL[finding.severity],
        "message": {"text": f"{said}{of}. {finding.hint}".rstrip(". ") + "."},
        "locations": [_location(finding, folder)],
        "partialFingerprints": {"finding/v1": hashlib.sha256(key.encode()).hexdigest()[:32]},
        "properties": {
            "identifier": finding.identifier,
            "type": finding.identifier_type,
            "tier": finding.tier,
            "sources": [source._asdict() for source in finding.sources],
        },
    }


def _location(finding: Finding, folder: str) -> dict[str, Any]:
    if finding.file in {FILE_NAMES, RATIONALE}:
        return {"logicalLocations": [{"name": finding.file}]}
    region = {
        "startLine": finding.line,
        "startColumn": finding.column,
        "endLine": finding.end_line or finding.line,
        "endColumn": finding.end_line_column or finding.end_column,
    }
    artifact = {"uri": _uri(folder, finding.file)}
    return {"physicalLocation": {"artifactLocation": artifact, "region": region}}


def _uri(folder: str, name: str) -> str:
    path = quote(str(PurePosixPath(folder) / name))
    return f"file://{path}" if path.startswith("/") else path
