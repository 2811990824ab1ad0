"""Names that nowhere stand whole, and other facts that came through in other clothes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.gate.conftest import METHOD, STORIES, add_story, brain_of, write_project

from heldout.gate.engine import Engine
from heldout.gate.report import Finding
from heldout.gate.talk import TABLE, TALK

Rejects = Callable[..., tuple[Finding, ...]]
PIECES = "name-in-pieces"


def rules(findings: tuple[Finding, ...]) -> set[str]:
    """The rules that refused."""
    return {one.rule for one in findings}


@pytest.mark.parametrize(
    "text",
    [
        "- Begin with the KL service.",
        "- Look at the K.L. pods first.",
        "- Two KL-deployments share it.",
        "- Note kestro for later.\n- Put it before van when you search.",
        "- Keep harbor in mind.\n- After it comes lantern.",
        "- First kestr, then ovan.",
        "- Search for `kestro|kestrovan`.",
        "- Search for `lantern[-_].*`.",
        "- All of lantern-* is worth a look.",
    ],
)
def test_names_in_pieces_are_refused(rejects: Rejects, text: str):
    """Initials beside a kind, halves on lines apart, globs and regular expressions."""
    assert PIECES in rules(rejects(text))


@pytest.mark.parametrize(
    "text",
    [
        "- Look at the DNS service and the TLS certificate.",
        "- Ask the DB service for its limits; read the CI pipeline.",
        "- ALL services of a node share its disk.",
        "- A lantern lights a harbor.",
        "- Look at the QX service.",
        "- The KL of two distributions is no service.",
        "- Metrics such as `node_*` and `kube_.*_total` help.",
        "- Files in `/var/log/*.log` tell when it began.",
        "- Look for *early* signs and **late** ones.",
        "- Follow the error budget; budgets burn in steps.",
    ],
)
def test_abbreviations_patterns_and_prose_of_the_trade_pass(rejects: Rejects, text: str):
    """What anybody writes is nobody's name in pieces."""
    assert PIECES not in rules(rejects(text))


def test_the_second_half_is_what_is_refused(engine: Engine):
    """A half that stood in the brain already is old; the edit that completes the name falls."""
    before = brain_of(METHOD + "- Note kest for later.\n")
    assert engine.check(brain_of(METHOD), before).passed
    after = before.with_file("method.md", before.files["method.md"] + "- Put rovan behind it.\n")
    report = engine.check(before, after)
    assert PIECES in rules(report.rejects)
    assert {one.line for one in report.rejects} == {len(METHOD.splitlines()) + 2}


def test_the_rule_is_what_finds_them(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    """Without its checker the initials come through."""
    before = brain_of(METHOD)
    after = before.with_file("method.md", METHOD + "- Begin with the KL service.\n")
    assert not engine.check(before, after).passed
    loaded = tuple(pair for pair in engine.checkers.loaded if pair[0] != "names_in_pieces")
    monkeypatch.setattr(engine, "_checkers", replace(engine.checkers, loaded=loaded))
    engine.forget()
    assert engine.check(before, after).passed
    monkeypatch.undo()
    engine.forget()


@pytest.mark.parametrize(
    "text",
    ["the tenth of May", "March the fourth", "March fourth", "the twenty-third of February",
     "MR !2269", "!4711"],
)  # fmt: skip
def test_days_in_words_and_merge_requests_are_shapes(rejects: Rejects, text: str):
    """As telling as their numbers."""
    assert "shape" in rules(rejects(f"- Look at what changed with {text} in mind."))


@pytest.mark.parametrize(
    "text",
    ["The first may fail, the second may not.", "March on; ask twice!", "It may first rise."],
)
def test_months_that_are_words_pass(rejects: Rejects, text: str):
    """May and March are words too."""
    assert rejects(f"- {text}") == ()


def test_an_incident_counted_in_words_is_talk(rejects: Rejects):
    """'Incident number two' is one that was seen; 'one incident after another' is not."""
    assert rules(rejects("- As in incident number two, look further back.")) == {TALK}
    assert rejects("- One incident after another may have one cause.") == ()


def test_a_table_of_what_is_seen_and_what_to_answer_is_an_answer_sheet(rejects: Rejects):
    """Whatever its heads are called."""
    table = "| what you see | what to answer |\n|---|---|\n| errors rise | the pool |"
    assert rules(rejects(table)) == {TABLE}
    harmless = "| what you see | where to look |\n|---|---|\n| errors rise | logs |"
    assert rejects(harmless) == ()


LINE = "lease of spindle 12 was broken by a stale writer after 35 ms of waiting"
QUOTED = "- Think of 'lease of spindle 3 was broken by a stale writer after 17 ms of waiting'.\n"


def _engine(root: Path, count: int, **told: str) -> Engine:
    """A project of so many incidents that differ from the first one in what is told."""
    settings = write_project(root, ())
    for number in range(1, count + 1):
        add_story(settings, replace(STORIES[0], id=f"inc-{number:08x}", **told), number)  # type: ignore[arg-type]
    return Engine(settings)


def test_a_log_line_is_refused_with_other_numbers_in_it(tmp_path: Path, as_gate: None):
    """Six words of a line that few incidents have; its numbers differ every time."""
    engine = _engine(tmp_path / "few", 1, log=LINE)
    before = brain_of(METHOD)
    report = engine.check(before, before.with_file("method.md", METHOD + QUOTED))
    assert "incident-phrase" in rules(report.rejects)
    assert "log phrase" in {one.identifier_type for one in report.rejects}


def test_a_librarys_log_line_may_be_quoted(tmp_path: Path, as_gate: None):
    """What more than two incidents and a tenth of all have is no incident's own."""
    engine = _engine(tmp_path / "many", 3, log=LINE)
    before = brain_of(METHOD)
    after = before.with_file("method.md", METHOD + QUOTED)
    assert "log phrase" not in {one.identifier_type for one in engine.check(before, after).rejects}


def test_a_plain_key_right_before_its_value_is_refused(tmp_path: Path, as_gate: None):
    """One word of the trade as a key gives its value away only where both stand together."""
    engine = _engine(tmp_path / "plain", 1, key="data.parallelism", old="8", new="40")
    before = brain_of(METHOD)

    def refused(line: str) -> bool:
        after = before.with_file("method.md", f"{METHOD}- {line}\n")
        return "incident-value" in rules(engine.check(before, after).rejects)

    assert refused("A parallelism of 40 was too much.")
    assert refused("Look for parallelism: 40 first.")
    assert not refused("Compare parallelism on the newest 40 rows.")
    assert not refused("A parallelism of 8 is anybody's.")
    assert not refused("Read the first 40 rows.")
