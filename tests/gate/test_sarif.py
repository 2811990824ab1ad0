"""A report as SARIF 2.1.0: valid, complete, and pointing at the text as somebody wrote it."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from heldout.brain import Brain
from heldout.errors import GateError
from heldout.gate import GateProcess, check_brain
from heldout.gate.report import Finding, GateReport
from heldout.gate.sarif import sarif, sarif_failure
from heldout.settings import Settings

TEXT = {"type": "object", "required": ["text"], "additionalProperties": False,
        "properties": {"text": {"type": "string", "minLength": 1}}}  # fmt: skip
NUMBER = {"type": "integer", "minimum": 1}
LEVEL = {"enum": ["none", "note", "warning", "error"]}


def shape(required: str, **properties: Any) -> dict[str, Any]:
    """An object of the standard: no other property may stand in it."""
    return {"type": "object", "required": required.split(), "properties": properties,
            "additionalProperties": False}  # fmt: skip


def rows(item: dict[str, Any], least: int = 0) -> dict[str, Any]:
    """An array of the standard."""
    return {"type": "array", "items": item, "minItems": least, "uniqueItems": True}


REGION = shape("startLine startColumn endLine endColumn", startLine=NUMBER, startColumn=NUMBER,
               endLine=NUMBER, endColumn=NUMBER)  # fmt: skip
ARTIFACT = shape("uri", uri={"type": "string", "pattern": r"^[^ \\()]+$"})
LOCATION = shape(
    "", physicalLocation=shape("artifactLocation region", artifactLocation=ARTIFACT, region=REGION),
    logicalLocations=rows(shape("name", name={"type": "string"})),
)  # fmt: skip
RESULT = shape(
    "ruleId message", ruleId={"type": "string"}, ruleIndex={"type": "integer", "minimum": 0},
    level=LEVEL, message=TEXT, locations=rows(LOCATION),
    partialFingerprints={"type": "object", "additionalProperties": {"type": "string"}},
    properties={"type": "object"},
)  # fmt: skip
NOTE = shape("message", message=TEXT, level=LEVEL)
RUN = shape(
    "tool",
    tool=shape("driver", driver=shape(
        "name", name={"type": "string"}, version={"type": "string"},
        rules=rows(shape("id", id={"type": "string"}, shortDescription=TEXT, help=TEXT)),
    )),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    invocations=rows(shape("executionSuccessful", executionSuccessful={"type": "boolean"},
                           exitCode={"type": "integer"}, toolExecutionNotifications=rows(NOTE))),
    results=rows(RESULT), properties={"type": "object"},
)  # fmt: skip
LOG = shape("version runs", **{
    "$schema": {"type": "string", "format": "uri"}, "version": {"const": "2.1.0"},
    "runs": {"type": "array", "items": RUN},
})  # fmt: skip
"""What the published schema of SARIF 2.1.0 demands of the properties that are written here."""


@pytest.fixture(scope="module")
def gate(project: Settings) -> Iterator[GateProcess]:
    """One warm child for the module."""
    with GateProcess(project) as process:
        yield process


@pytest.fixture
def report(gate: GateProcess, make_brain: Callable[..., Brain], method: str) -> GateReport:
    """Findings of many rules, one over a line break, one in a file's name."""
    text = (
        "- Blame `kestrovan-ledger`.\n- Blame kestrovan-\n  ledger too.\n- It began at 14:05.\n"
        "- Expect 41 seconds.\n- The judge wants an id.\n- A walnut tree.\n"
    )
    files = {"method.md": method + text, "dromblivet notes.md": "# Notes\n"}
    return gate.check(make_brain(method), Brain(files, tuple(files)))


def test_the_log_is_valid_and_holds_every_finding(report: GateReport):
    """Structure and required properties are those of the standard, and nothing is left out."""
    log = sarif(report, "brain")
    jsonschema.validate(log, LOG)
    (run,) = log["runs"]
    assert len(run["results"]) == len(report.findings) > 6
    levels = {result["level"] for result in run["results"]}
    assert {"error", "note"} <= levels
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert run["invocations"][0]["exitCode"] == 3
    assert run["properties"]["inventory_hash"] == report.inventory_hash
    assert json.loads(json.dumps(log)) == log
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**log, "version": "2.0.0"}, LOG)


def test_regions_cover_what_was_matched(report: GateReport, method: str):
    """A region within a line, one over a line break, and none where a file's name is at fault."""
    found = {}
    for result in sarif(report, "/work/brain")["runs"][0]["results"]:
        found.setdefault((result["ruleId"], result["properties"]["identifier"]), result)
    first = len(method.splitlines()) + 1
    within = found["incident-identifier", "kestrovan-ledger"]["locations"][0]["physicalLocation"]
    assert within["artifactLocation"]["uri"] == "file:///work/brain/method.md"
    assert within["region"] == {
        "startLine": first, "startColumn": 10, "endLine": first, "endColumn": 26,
    }  # fmt: skip
    (over,) = [
        finding for finding in report.findings
        if finding.end_line and finding.rule == "incident-identifier"
    ]  # fmt: skip
    assert (over.line, over.end_line, over.end_line_column) == (first + 1, first + 2, 9)
    named = [
        result["locations"][0]
        for result in sarif(report, "brain")["runs"][0]["results"]
        if "logicalLocations" in result["locations"][0]
    ]
    assert named == [{"logicalLocations": [{"name": "(file names)"}]}]


def test_nothing_of_the_held_out_half_is_in_the_log(report: GateReport):
    """A redacted finding stays redacted in message and properties."""
    text = json.dumps(sarif(report, "brain"))
    for secret in ("inc-b2d4418e", "dromblivet-meter", "5237"):
        assert secret not in text
    assert "inc-7f3a90c1" in text


def test_a_gate_that_could_not_run_is_no_silent_pass():
    """The log of a failure says so, with the reason and the exit code."""
    log = sarif_failure(GateError("the gate is down", where="gate", mend="Build the worlds"))
    jsonschema.validate(log, LOG)
    (invocation,) = log["runs"][0]["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 1)
    assert "the gate is down" in invocation["toolExecutionNotifications"][0]["message"]["text"]


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_places_are_those_of_the_file_on_disk(project: Settings, tmp_path: Path, ends: str):
    """Blank lines before the first and accents in two characters move what is checked, not what is said."""
    lines = ["", "  ", "# Method", "- Le cafe\u0301 est ferme\u0301: kestrovan, apre\u0300s.", ""]
    (tmp_path / "brain.toml").write_text('load = ["method.md"]', encoding="utf-8")
    (tmp_path / "method.md").write_bytes(ends.join(lines).encode())
    (finding,) = check_brain(project, tmp_path).rejects
    written = lines[finding.line - 1]
    assert finding.line == 4
    assert written[finding.column - 1 : finding.end_column - 1] == "kestrovan"
    composed = unicodedata.normalize("NFC", written)
    assert composed.index("kestrovan") != finding.column - 1


def test_a_tool_of_ones_own_needs_no_entry_among_the_rules():
    """A rule that a project adds is listed by its name alone."""
    finding = Finding("no-shouting", "reject", "a b.md", 1, 1, 5, "LOOK", hint="Speak softly")
    log = sarif(GateReport(False, (finding,), 0, "1", "i", "v", "c", 0.0), "brain")
    jsonschema.validate(log, LOG)
    (result,) = log["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "brain/a%20b.md"
    assert log["runs"][0]["tool"]["driver"]["rules"][result["ruleIndex"]] == {"id": "no-shouting"}
