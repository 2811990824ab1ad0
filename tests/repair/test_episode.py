"""Episodes: what tools show, what they refuse, what ends one, and what it is worth."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.repair.played import ask, look, opened, repair, report

from heldout.repair.defect import MECHANISMS, Repair
from heldout.repair.episode import MAX_TEXT, Episode
from heldout.repair.grade import Grade, grade
from heldout.repair.interface import RepairInterface
from heldout.repair.sandbox.runner import Limits, Sandbox
from heldout.repair.tasks import tasks
from heldout.repair.tools import TOOLS


@pytest.fixture
def leak() -> Iterator[Episode]:
    """A connection leak in the code base's own words."""
    episode = opened("leak-on-error")
    yield episode
    episode.close()


def graded(name: str, wanted: Repair | None = None, seed: int = 0, **said: Any) -> Grade:
    """What an episode is worth in which a repair was made and a report given."""
    episode = opened(name, seed)
    look(episode)
    if wanted is not None:
        repair(episode, wanted)
    report(episode, **said)
    found = grade(episode)
    episode.close()
    return found


def test_the_oracle_is_worth_all(leak: Episode):
    """Who looks, repairs, tests and reports what is true gets at least 0.95."""
    look(leak)
    before = ask(leak, "run_tests", suite="load", service="ad_ranking")
    repair(leak, leak.instance.template.fix)
    after = ask(leak, "run_tests", suite="load", service="ad_ranking")
    assert before["failed"] > 0
    assert after["failed"] == 0
    report(leak)
    assert leak.ended == "submitted"
    found = grade(leak)
    assert found.repaired
    assert found.score is not None
    assert found.score >= 0.95


def test_doing_nothing_is_worth_nothing(leak: Episode):
    """Without an edit and a report the grade is 0, and the ceiling of a report alone is a quarter."""
    assert grade(leak).score == 0
    look(leak)
    report(leak)
    assert grade(leak).score == pytest.approx(0.25)


def test_wrong_repairs_stay_under_the_ceiling(leak: Episode):
    """A bigger pool with the right report is not a repair."""
    found = graded("leak-on-error", leak.instance.template.wrong[0])
    assert not found.repaired
    assert found.score is not None
    assert found.score <= 0.25
    assert any("connections" in reason for reason in found.reasons)


@pytest.mark.parametrize(
    ("said", "most"),
    [
        (
            {"affected": ["ad_ranking", "capi_pipeline", "whatsapp_sync", "shared", "database"]},
            0.99,
        ),
        (
            {"mechanism": "pool_too_small", "file": "shared/settings.py", "symbol": "POOL_SIZE"},
            0.90,
        ),
        ({"service": "", "file": "", "symbol": "", "introduced_by": "", "affected": []}, 0.83),
    ],
)
def test_what_a_report_says_counts(said: dict[str, Any], most: float):
    """With the right repair a wrong or stuffed report costs; naming everything is not naming it."""
    episode = opened("leak-on-error")
    fix = episode.instance.template.fix
    episode.close()
    found = graded("leak-on-error", fix, **said)
    assert found.score is not None
    assert found.score < most


def test_evidence_must_have_been_shown(leak: Episode):
    """An id that no tool showed is refused, and the episode goes on."""
    text, error, _ = leak.call(
        "submit_report",
        {"service": "ad_ranking", "file": "x", "symbol": "y", "mechanism": MECHANISMS[0],
         "evidence": ["l-00000000"]},
    )  # fmt: skip
    assert error
    assert "not shown" in text
    assert leak.ended == ""


def test_nothing_is_scripted(leak: Episode):
    """Metrics follow the code: repaired they fall, broken again they rise, and undone they are as before."""
    before = leak.observation()["services"]["ad_ranking"]
    repair(leak, leak.instance.template.fix)
    after = leak.observation()["services"]["ad_ranking"]
    assert before["error_rate"] > 0.05 > after["error_rate"]
    assert before["pool_in_use"] > after["pool_in_use"]
    ask(leak, "revert_edit")
    assert leak.observation()["services"]["ad_ranking"] == before


def test_a_broken_edit_shows_as_broken_services(leak: Episode):
    """Code that compiles and fails to load takes the service down, by what runs and not by a rule."""
    ask(leak, "edit_lines", path="ad_ranking/service.py", action="insert", first=1,
        text="import nowhere")  # fmt: skip
    services = leak.observation()["services"]
    assert services["ad_ranking"]["health"] == "down"
    assert "ModuleNotFoundError" in json.dumps(ask(leak, "read_logs", service="ad_ranking"))


def test_a_process_that_ends_is_down_and_alerts(leak: Episode):
    """Traffic goes on where nobody listens any more: no dashboard is green for want of requests."""
    ask(leak, "edit_lines", path="ad_ranking/service.py", action="insert", first=1,
        text="import os\nos._exit(1)")  # fmt: skip
    services = leak.observation()["services"]
    assert {one["health"] for one in services.values()} == {"down"}
    assert all(one["requests"] for one in services.values())
    alerts = ask(leak, "list_alerts")["alerts"]
    assert {one["rule"] for one in alerts} >= {"HighErrorRate"}
    assert "ConnectionRefused" in json.dumps(ask(leak, "read_logs", service="capi_pipeline"))


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("nothing", {}, "unknown_tool"),
        ("view_file", {}, "bad_argument"),
        ("view_file", {"path": "a/b.py"}, "refused"),
        ("view_file", {"path": "ad_ranking/budget.py", "colour": 1}, "bad_argument"),
        ("view_file", {"path": "ad_ranking/budget.py", "first": 999}, "out_of_range"),
        ("edit_lines", {"path": "migrations/0001_people.sql", "first": 1, "text": "x",
                        "expected": "-- up"}, "refused"),
        ("run_tests", {"suite": "magic"}, "refused"),
        ("rollback_migration", {"migration": "0005_ended_creatives"}, "refused"),
        ("rollback_migration", {"migration": "0099"}, "not_found"),
        ("query_rows", {"sql": "delete from users"}, "refused"),
        ("query_rows", {"sql": "select * from nothing"}, "refused"),
        ("query_rows", {"sql": "select 1; drop table users"}, "refused"),
        ("revert_edit", {}, "refused"),
        ("git_show", {"commit": "ffffffff"}, "not_found"),
        ("read_logs", {"service": "mars"}, "not_found"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_a_typed_error(
    leak: Episode, tool: str, arguments: dict[str, Any], code: str
):
    """A wrong call costs a step and is answered; it changes nothing and raises nothing."""
    digest = leak.workspace.tree.digest
    text, error, ids = leak.call(tool, arguments)
    assert error
    assert json.loads(text)["error"] == code
    assert ids == ()
    assert leak.workspace.tree.digest == digest
    assert len(leak.steps) == 1


def test_an_episode_ends_and_stays_ended():
    """After the report, the last step or the SLA every call is answered with an error and pays nothing."""
    for limits in ({"max_steps": 2}, {"sla_minutes": 2.0}):
        episode = opened("leak-on-error")
        for name, value in limits.items():
            setattr(episode, name, value)
        ask(episode, "list_files")
        ask(episode, "list_files")
        text, error, _ = episode.call("list_files", {})
        assert error
        assert json.loads(text)["error"] == "ended"
        assert len(episode.steps) == 2
        episode.close()
        assert episode.call("list_files", {})[1]


def test_hints_are_method_and_cost():
    """A senior names no file, symbol or mechanism, three times at most, and the report is worth less."""
    episode = opened("leak-on-error")
    said = "".join(ask(episode, "ask_senior")["hint"] for _ in range(3))
    text, error, _ = episode.call("ask_senior", {})
    assert error
    assert "nothing more" in text
    assert not [path for path in episode.workspace.tree if path in said]
    assert not [one for one in MECHANISMS if one in said]
    look(episode)
    repair(episode, episode.instance.template.fix)
    report(episode)
    assert grade(episode).parts["report"] == 0.5
    episode.close()


def served(episode: Episode) -> str:
    """Everything that an agent can be shown, short of edits."""
    found = [json.dumps(episode.observation())]
    for path in episode.workspace.tree:
        found += [
            json.dumps(ask(episode, "view_file", path=path)),
            json.dumps(ask(episode, "git_blame", path=path)),
        ]
    for service in ("ad_ranking", "capi_pipeline", "whatsapp_sync"):
        found += [json.dumps(ask(episode, "read_logs", service=service)),
                  json.dumps(ask(episode, "query_metrics", service=service))]  # fmt: skip
    found += [json.dumps(ask(episode, tool)) for tool in
              ("list_files", "list_alerts", "show_dependencies", "git_log", "list_migrations", "show_diff")]  # fmt: skip
    found += [
        json.dumps(ask(episode, "git_show", commit=one.id)) for one in episode.history.commits
    ]
    return "\n".join(found)


@pytest.mark.parametrize("name", ["leak-on-error", "reverse-cascade"])
def test_no_served_byte_tells_the_truth(name: str):
    """No tool, error or history shows the template's name, its repair, its mechanism or a half."""
    episode = opened(name)
    episode.max_steps, episode.sla_minutes = 10_000, 10_000
    text = served(episode)
    template = episode.instance.template
    for change in template.fix.changes:
        new = [line.strip() for line in change.new.splitlines() if line.strip()]
        old = [line.strip() for line in change.old.splitlines()]
        added = [line for line in new if line not in old]
        base = "\n".join(episode.workspace.base.files.values())
        assert not [line for line in added if json.dumps(line)[1:-1] in text and line not in base]
    for word in (template.name, template.truth.mechanism, "defect", "twin", "probe"):
        assert not re.search(rf"\b{re.escape(word)}\b", text), word
    episode.close()


def test_the_guilty_commit_is_one_among_many():
    """At least six recent commits beside it, one of them at the onset; none after the alert."""
    episode = opened("unit-threshold", 4)
    history = episode.history
    recent = [one for one in history.commits if one.at > history.commits[0].at - 10 * 86_400]
    guilty = history.commit(history.guilty)
    assert guilty is not None
    assert len(recent) >= 7
    assert guilty is not history.commits[0]
    assert max(one.at for one in history.commits) < 1_780_000_000
    twin = opened("unit-threshold", 4, healthy=True)
    assert len(twin.history.commits) == len(history.commits)
    assert twin.history.guilty == ""
    episode.close()
    twin.close()


def test_a_machine_that_cannot_run_the_healthy_code_scores_nobody():
    """Where even the control does not end in time the grade is none; with time the same is graded."""
    episode = opened("template-after-cache", 4)
    slow = Episode(episode.instance, Sandbox(limits=Limits(wall_seconds=0.001)))
    found = grade(slow)
    assert found.score is None
    assert "healthy code" in found.unscored
    text, error, _ = slow.call("run_tests", {"suite": "unit"})
    assert error
    assert json.loads(text)["error"] == "environment"
    assert slow.ended == "unscored"
    slow.close()
    assert grade(episode).score == 0
    episode.close()


def test_a_healthy_task_must_not_be_repaired():
    """On the twin nothing is wrong: leaving it alone passes every probe."""
    episode = opened("features-after-cache", healthy=True)
    assert episode.observation()["alerts"] == []
    assert grade(episode).repaired
    episode.close()


def test_the_record_is_a_chain(leak: Episode):
    """The same actions give the same links; another one, or another order, gives others."""
    again, other = opened("leak-on-error"), opened("leak-on-error")
    for episode in (leak, again):
        look(episode)
    ask(other, "git_log")
    assert [one.chain for one in leak.steps] == [one.chain for one in again.steps]
    assert other.steps[0].chain != leak.steps[0].chain
    again.close()
    other.close()


def test_the_interface_opens_tasks_and_gives_a_submission():
    """In process the environment is an Interface like any: specs, a session, a submission."""
    interface = RepairInterface()
    assert [one.name for one in interface.tool_specs()] == list(TOOLS)
    session = interface.open(next(one.id for one in tasks().values() if one.half == "train"), 0)
    assert session.finish() is None
    assert "services" in json.loads(session.opening())
    answer = session.call("list_files", {})
    assert not answer.is_error
    assert len(answer.text) <= MAX_TEXT
    session.close()


@settings(
    deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    tool=st.sampled_from([*TOOLS, "x"]),
    arguments=st.dictionaries(
        st.sampled_from(
            ["path", "first", "last", "service", "sql", "suite", "text", "commit", "z"]
        ),
        st.one_of(st.none(), st.integers(-5, 10**6), st.text(max_size=30), st.lists(st.text())),
        max_size=4,
    ),
)
def test_any_call_is_answered(leak: Episode, tool: str, arguments: dict[str, Any]):
    """Whatever is called with whatever, the answer is JSON of bounded size."""
    if tool in ("run_tests", "submit_report"):
        return
    text, _, _ = leak.call(tool, arguments)
    assert isinstance(json.loads(text), dict)
    assert len(text) <= MAX_TEXT
