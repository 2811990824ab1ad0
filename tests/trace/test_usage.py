"""Usage: every count of a run whose calls are written down, and what is suggested from them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.graph.worlds import eid
from tests.trace.conftest import ALERT, Project, end_score, heldout

from heldout.agent.trace import Step, Trace
from heldout.errors import SplitViolation
from heldout.interface import Submission
from heldout.report.wishes import wishes
from heldout.settings import Settings
from heldout.store import Ledger
from heldout.transcript.answers import answer_lines
from heldout.usage import MEASURES, Finding, Known, Play, Usage, render_usage, usage, usage_plain


@pytest.fixture(scope="module")
def counted(project: Project) -> Usage:
    """The usage of the run over train."""
    with Ledger.open(project.settings.ledger, read_only=True) as ledger:
        return usage(ledger, project.train[:8], project.settings.root)


def measured(counted: Usage, key: str, group: str = "before") -> Finding:
    """One finding of one group."""
    findings = next(one for one in counted.groups if one.name == group).findings
    return next(one for one in findings if one.key == key)


def rows(finding: Finding) -> dict[str, int]:
    """Counts by name, those of nothing left out."""
    return {row.name: row.count for row in finding.rows if row.count}


@pytest.mark.parametrize(
    ("key", "count", "of", "said"),
    [
        ("calls", 30, 2, {}),
        ("unknown_tools", 2, 30, {"kubectl_logs": 2}),
        ("unknown_arguments", 2, 30, {"list_changes.service": 2}),
        ("refused_values", 4, 30, {"get_neighbors.depth": 2, "list_changes.types": 2}),
        ("malformed", 4, 30, {"get_entity malformed arguments": 2, "get_change without 'id'": 2}),
        ("unknown_ids", 2, 30, {"get_entity with a name": 2}),
        ("empty_answers", 2, 12, {"search_logs": 2, "search_logs with level": 2}),
        ("unavailable", 2, 30, {"query_metrics: unavailable": 2}),
        ("hops", 2, 2, {"get_neighbors, 5 hops": 2}),
        ("windows", 8, 8, {"the day itself": 8}),
        ("repeats", 2, 30, {"list_changes": 2}),
        ("unshown_evidence", 2, 4, {"log lines": 2}),
        ("invented", 4, 6, {"root cause change": 2, "root cause entity or affected": 2}),
        ("give_ups", 0, 2, {"submitted": 2}),
    ],
)
def test_what_went_wrong_is_counted(
    counted: Usage, key: str, count: int, of: int, said: dict[str, int]
):
    """Each mistake of the hasty brain, twice (two incidents), under its own name."""
    finding = measured(counted, key)
    assert (finding.count, finding.of) == (count, of)
    if said:
        assert rows(finding) == said
    assert finding.investigations == (2 if count else 0)


def test_what_went_well_is_counted_as_well(counted: Usage):
    """The thorough brain walks three hops, reaches back, reads on nothing, invents nothing."""
    assert rows(measured(counted, "walks", "after")) == {"3 hops": 2}
    assert rows(measured(counted, "windows", "after")) == {"4-7 days before": 2}
    paged = measured(counted, "never_paged", "after")
    assert (paged.count, paged.of, rows(paged)) == (2, 2, {"list_changes": 2})
    for key in ("unknown_tools", "unknown_arguments", "unshown_evidence", "invented", "windows"):
        assert measured(counted, key, "after").count == 0, key
    assert measured(counted, "never_paged", "before").of == 0
    assert measured(counted, "unknown_ids").rows[0].figures == {
        "near_names": 2.0,
        "near_name_taken": 2.0,
    }


def test_groups_split_by_arm_and_verdict(counted: Usage):
    """Everything, and each arm whole, passed and failed; a group without members is undefined."""
    sizes = {one.name: one.investigations for one in counted.groups}
    assert sizes == {
        "all": 4,
        "before": 2,
        "before pass": 0,
        "before fail": 2,
        "after": 2,
        "after pass": 2,
        "after fail": 0,
    }
    assert all(one.share is None for one in counted.groups[3].findings)
    whole = measured(counted, "unknown_tools", "all")
    assert (whole.count, whole.of) == (2, 44)


def test_suggestions_carry_their_evidence(counted: Usage):
    """What to offer, what to let in, what comes back empty, and how far searches should reach."""
    said = "\n".join(f"{one.place}: {one.text}" for one in counted.suggestions)
    for wanted in (
        "tools: tool 'kubectl_logs' was asked for 2 times by 2 investigations: not offered",
        "tools: argument 'list_changes.service' was asked for 2 times by 2 investigations",
        "tools: get_neighbors, 5 hops were asked for 2 times by 2 investigations: not allowed",
        "tools: get_entity was given a name instead of an id 2 times by 2 investigations (2 went",
        "graph: query_metrics: unavailable 2 times by 2 investigations",
        "brain: 80 % of 10 change searches do not reach before the day of the alert; 4 of them",
        "brain: 4 of 12 names in diagnoses exist nowhere",
        "tools: never called in 4 investigations: check_health, compare_state",
    ):
        assert wanted in said, wanted


def test_nothing_to_count_is_undefined_never_one():
    """Of an investigation without a call, and with no world at hand, no share is invented."""
    bare = Trace(
        messages=({"role": "user", "content": ALERT},), steps=(), submission=Submission(),
        stop_reason="no_submission", calls=1, input_tokens=1, cached_tokens=0, output_tokens=1,
        usd=None, seconds=0.0, served_model="",
    )  # fmt: skip
    play = Play.of(bare, Known())
    tallies = {measure.key: measure.count(play) for measure in MEASURES}
    assert {key for key, tally in tallies.items() if tally.of} == {"calls", "give_ups"}
    assert tallies["give_ups"].count == 1


def test_invented_names_need_the_world(project: Project, tmp_path: Path):
    """Where the worlds were deleted nothing is said of what exists: undefined, not clean."""
    home = Path(shutil.copytree(project.settings.root, tmp_path / "p"))
    shutil.rmtree(Settings(root=home).state / "worlds")
    with Ledger.open(Settings(root=home).ledger, read_only=True) as ledger:
        finding = measured(usage(ledger, project.train, home), "invented", "all")
    assert (finding.of, finding.share) == (0, None)


def test_an_answer_that_is_no_json_breaks_nothing():
    """Texts of foreign environments are passed over."""
    steps = tuple(
        Step(n, "kubectl", {"verb": "get"}, answer, n == 2)
        for n, answer in enumerate(["NAME READY\nquay 2/2", "[1, 2]", "{", '{"rows": 7}', "null"])
    )
    trace = Trace(
        messages=(), steps=steps, submission=Submission(), stop_reason="submitted", calls=1,
        input_tokens=1, cached_tokens=0, output_tokens=1, usd=None, seconds=0.0, served_model="",
    )  # fmt: skip
    play = Play.of(trace, Known(frozenset({eid(1)}), frozenset()))
    tallies = {measure.key: measure.count(play) for measure in MEASURES}
    assert tallies["repeats"].count == 4
    assert tallies["unknown_tools"].count == 0


def test_a_commands_text_counts_as_an_answer():
    """What kubectl or git print is empty where nothing was found, and shown by its lines."""
    found = '{"output": "NAME\\nquay-core", "total_estimate": 1, "truncated": false}'
    nothing = '{"output": "No resources found", "total_estimate": 0, "truncated": false}'
    steps = tuple(
        Step(n, "kubectl", {"verb": n}, answer, False)
        for n, answer in enumerate((found, nothing, found))
    )
    trace = Trace(
        messages=(), steps=steps, submission=Submission(), stop_reason="submitted", calls=1,
        input_tokens=1, cached_tokens=0, output_tokens=1, usd=None, seconds=0.0, served_model="",
    )  # fmt: skip
    play = Play.of(trace, Known())
    tallies = {measure.key: measure.count(play) for measure in MEASURES}
    assert (tallies["empty_answers"].count, tallies["empty_answers"].of) == (1, 3)
    assert (tallies["same_answers"].count, tallies["same_answers"].of) == (1, 2)
    assert rows_of_errors() == {
        "unknown_arguments": {"kubectl exec.-it"},
        "refused_values": {"prometheus_query.query"},
        "unknown_ids": {"kubectl get with a name that is not there"},
    }
    assert list(answer_lines(steps[0])) == ["1 item", "| NAME", "| quay-core"]
    assert list(answer_lines(steps[1])) == ["no items", "| No resources found"]


def rows_of_errors() -> dict[str, set[str]]:
    """What is made of the refusals of commands."""
    refused = (
        (
            "kubectl",
            {"command": "exec -it a -- sh"},
            "unknown_argument",
            "kubectl has no option '-it' here",
        ),
        ("kubectl", {"command": "get pod quay"}, "unknown_id", "pods 'quay' not found"),
        ("prometheus_query", {"query": "rate(nope)"}, "bad_argument", "no metric is called 'nope'"),
    )
    steps = tuple(
        Step(
            n, tool, args, json.dumps({"error": {"type": kind, "message": said, "near": []}}), True
        )
        for n, (tool, args, kind, said) in enumerate(refused)
    )
    trace = Trace(
        messages=(), steps=steps, submission=Submission(), stop_reason="submitted", calls=1,
        input_tokens=1, cached_tokens=0, output_tokens=1, usd=None, seconds=0.0, served_model="",
    )  # fmt: skip
    keys = ("unknown_arguments", "refused_values", "unknown_ids")
    play = Play.of(trace, Known())
    return {one.key: set(one.count(play).rows) for one in MEASURES if one.key in keys}


def test_a_page_names_undefined_and_all_groups(counted: Usage):
    """The text has a column a group, and a row of each measure with its own words."""
    text = render_usage(counted)
    assert "before fail" in text
    assert "undefined" in text
    assert "Where the windows of change searches begin" in text
    assert "kubectl_logs  2  in 2" in text
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 100
    narrow = render_usage(counted, width=60).split("\n\n")
    assert sum("tool calls per investigation" in part for part in narrow) == 7
    plain = usage_plain(counted)
    assert plain["groups"][3]["measures"]["windows"]["share"] is None


def test_usage_of_the_held_out_half_waits_for_its_score(project: Project, tmp_path: Path):
    """Refused before the score has ended, told afterwards."""
    home = Path(shutil.copytree(project.settings.root, tmp_path / "p"))
    with Ledger.open(Settings(root=home).ledger) as ledger:
        with pytest.raises(SplitViolation, match="has not ended"):
            usage(ledger, project.test, home)
        end_score(ledger, project.test)
        assert usage(ledger, project.test, home).side == "test"


def test_a_report_says_what_the_tools_should_gain(project: Project, ledger: Ledger):
    """From the run that confirmed a proposal on train; nothing of it, or of the other half, else."""
    settings = project.settings
    said = wishes(ledger, settings, {"run": project.train})
    assert any("kubectl_logs" in one for one in said)
    assert not any("do not reach before" in one for one in said)
    assert wishes(ledger, settings, {}) == wishes(ledger, settings, {"run": "gone"}) == ()
    with pytest.raises(SplitViolation):
        wishes(ledger, settings, {"run": project.test})


def test_the_command_prints_text_and_json(project: Project):
    """Both forms agree; an unknown run is a usage error."""
    home = project.settings.root
    assert "calls of tools that are not offered" in heldout(home, "usage", project.train).stdout
    plain = json.loads(heldout(home, "usage", project.train, "--json").stdout)
    assert plain["groups"][0]["measures"]["unknown_tools"]["count"] == 2
    assert heldout(home, "usage", "nonesuch").returncode == 2
    assert heldout(home, "usage", project.test).returncode == 1
