"""``heldout health``: the same findings as text, JSON, SARIF and through the agent's tool."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.graph.conformance import ask
from tests.health.cases import CASES
from tests.health.test_healthy import broken
from tests.health.town import NOW, Town, listing

from heldout.errors import IngestError
from heldout.graph import WorldInterface
from heldout.graph.health import SEVERITIES, registry
from heldout.graph.scorecard import Scorecard, rendered
from heldout.ingest.draft import WorldDraft
from heldout.ingest.kubernetes import into, read
from heldout.pipeline.health import scorecard

Plain = dict[str, Any]


def run(*words: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    """The verb in a process of its own, with something on standard input."""
    return subprocess.run(
        [sys.executable, "-m", "heldout.cli.main", "health", *words],
        input=given, capture_output=True, text=True, timeout=120,
        env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip


@pytest.fixture
def card(tmp_path: Path) -> Scorecard:
    """The scorecard of a broken town."""
    (tmp_path / "all.json").write_text(listing(broken()), encoding="utf-8")
    return scorecard(str(tmp_path / "all.json"), cluster="town", now=NOW)


def test_what_comes_through_a_pipe_is_checked():
    """JSON and YAML of kubectl; exit 0 with findings, 3 where --fail-on says so."""
    text = listing(broken())
    done = run("-", "--format", "json", "--now", "2026-03-04T12:00:00Z", given=text)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["at"] == "2026-03-04T12:00:00Z"
    assert found["counts"]["critical"] == 3
    assert {one["check"] for one in found["findings"]} >= {"missing-secret", "missing-role"}
    failed = run("-", "--fail-on", "critical", given=text)
    assert failed.returncode == 3
    assert "findings are critical" in failed.stderr
    assert run("-", "--fail-on", "warning", given=listing(Town(3))).returncode == 0


def test_yaml_is_read_as_well(tmp_path: Path):
    """A multi-document file gives what the list gives, but for what only a list can show."""
    import yaml

    town = Town(3)
    CASES_BY["dns-policy-none"](town)
    text = yaml.safe_dump_all(town.items)
    (tmp_path / "all.yaml").write_text(text, encoding="utf-8")
    found = scorecard(str(tmp_path / "all.yaml"), now=NOW)
    assert {one.check for one in found.findings} == {"dns-policy-none"}
    assert not found.declared_only


CASES_BY = {case.check: case.fault for case in CASES}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "empty"),
        ("{", "does not parse"),
        ('{"kind": "List", "items": []}', "no object"),
        ("just words", "no object"),
    ],
)
def test_a_pipe_without_objects_is_an_error(given: str, said: str):
    """Nothing to look at is never a clean bill of health."""
    done = run("-", given=given)
    assert done.returncode == 1
    assert said in done.stderr
    assert "nothing found" not in done.stdout


def test_words_that_do_not_fit_are_usage():
    """An unknown format, a missing target and a bad moment exit 2; a missing file exits 1."""
    assert run("-", "--format", "xml", given="{}").returncode == 2
    assert run("-", "--now", "soon", given=listing(Town(3))).returncode == 2
    assert run("nowhere/at/all").returncode == 1


def test_the_text_tells_the_worst_first_and_what_was_not_run(card: Scorecard):
    """Critical before warning; checks without their fields are named."""
    lines = rendered(card, "text").splitlines()
    grades = [line.split()[0] for line in lines if line.split("  ")[0].strip() in SEVERITIES]
    assert grades == sorted(grades)
    assert any(line.startswith("3 critical, ") for line in lines)
    unrun = next(line for line in lines if line.startswith("not run"))
    assert "stuck-deletion" in unrun
    assert "missing-secret" not in unrun


def test_manifests_are_marked_as_declared_only(tmp_path: Path):
    """States that were derived are never passed off as observed."""
    one = {"kind": "ConfigMap", "metadata": {"name": "a", "namespace": "b"}, "data": {}}
    (tmp_path / "a.json").write_text(json.dumps(one), encoding="utf-8")
    (tmp_path / "b.yaml").write_text("a: {{ .Values.b }}\n c", encoding="utf-8")
    found = scorecard(str(tmp_path), now=NOW)
    assert found.declared_only
    assert "declared only" in found.text()
    assert "b.yaml: templated, skipped" in found.text()
    assert len(found.plain()["not_read"]) == 1


def test_hostile_names_stay_text(tmp_path: Path):
    """Escapes in names reach no terminal, and JSON stays JSON."""
    town = Town(3)
    CASES_BY["missing-role"](town)
    town.one("RoleBinding")["roleRef"]["name"] = "gone\x1b[31m\u202e"
    (tmp_path / "all.json").write_text(listing(town), encoding="utf-8")
    for form in ("text", "json", "sarif"):
        done = run(str(tmp_path / "all.json"), "--format", form)
        assert done.returncode == 0
        assert "\x1b" not in done.stdout
        assert "\u202e" not in done.stdout
        if form != "text":
            json.loads(done.stdout)


def test_secret_values_are_not_told(tmp_path: Path):
    """A variable set twice is told by name, never by value."""
    town = Town(3)
    for spec in town.specs(town.app):
        env = spec["containers"][0]["env"]
        env += [{"name": "DB_PASSWORD", "value": word} for word in ("swordfish1", "swordfish2")]
    (tmp_path / "all.json").write_text(listing(town), encoding="utf-8")
    found = scorecard(str(tmp_path / "all.json"), now=NOW)
    assert [one.check for one in found.findings] == ["shadowed-variable"]
    for form in ("text", "json", "sarif"):
        assert "swordfish" not in rendered(found, form)


def test_sarif_has_the_structure_that_2_1_0_asks_for(card: Scorecard):
    """Required properties, closed word lists, and indices that lead where they should."""
    log = json.loads(rendered(card, "sarif"))
    assert log["version"] == "2.1.0"
    assert set(log) == {"$schema", "version", "runs"}
    (played,) = log["runs"]
    driver = played["tool"]["driver"]
    assert driver["name"] == "heldout"
    ids = [rule["id"] for rule in driver["rules"]]
    assert ids == [check.name for check in registry()]
    assert all(
        rule["shortDescription"]["text"] and rule["help"]["text"] for rule in driver["rules"]
    )
    assert played["invocations"][0]["executionSuccessful"] is True
    for note in played["invocations"][0]["toolExecutionNotifications"]:
        assert note["level"] in ("none", "note", "warning", "error")
        assert note["message"]["text"]
    assert len(played["results"]) == len(card.findings)
    for result in played["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("error", "warning")
        assert result["message"]["text"]
        (where,) = result["locations"][0]["logicalLocations"]
        assert where["fullyQualifiedName"].startswith("town/")
        assert where["fullyQualifiedName"].endswith(where["name"])
    marks = [one["partialFingerprints"]["heldoutHealth/v1"] for one in played["results"]]
    assert len(set(marks)) == len(marks)


def test_a_world_and_the_agents_tool_show_the_same(tmp_path: Path, card: Scorecard):
    """What was imported, asked by the verb and page by page by tool 13, is what the pipe shows."""
    with WorldDraft(name="town") as draft:
        into(draft, read(tmp_path / "all.json", draft.redactor), cluster="town")
        draft.write(tmp_path / "world", now=NOW)
    told = scorecard(str(tmp_path / "world")).plain()
    keys = ("check", "severity", "kind", "name", "finding")
    assert [[one[key] for key in keys] for one in told["findings"]] == [
        [one[key] for key in keys] for one in card.plain()["findings"]
    ]
    session = WorldInterface().open(str(tmp_path / "world"), 1)
    rows: list[Plain] = []
    more: Plain = {}
    while True:
        answer = session.call("check_health", {"scope": "all", "limit": 4, **more})
        assert len(answer.text.encode()) <= 8192
        page = json.loads(answer.text)
        rows += page["rows"]
        if not page.get("cursor"):
            break
        more = {"cursor": page["cursor"]}
    assert [(one["check"], one["entity"], one["finding"]) for one in rows] == [
        (one["check"], one["entity"], one["finding"]) for one in told["findings"]
    ]
    named = ask(session, "check_health", scope="town")["rows"]
    assert len(named) == min(len(rows), 20)


def test_an_unreadable_file_is_an_error(tmp_path: Path):
    """A folder with nothing that could be read says why."""
    (tmp_path / "a.json").write_text("[", encoding="utf-8")
    with pytest.raises(IngestError, match="does not parse"):
        scorecard(str(tmp_path))
