"""What each tool answers about the small world."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.graph.conformance import ask, every_row
from tests.graph.worlds import HOSTILE, HOUR, MINUTE, NOW, START, cid, eid, small_builder

from heldout.graph import WorldInterface, WorldSession, write_world
from heldout.graph.schema import OPEN_END
from heldout.graph.tools.page import iso
from heldout.interface import Interface, Session

T_NOW, T_DAY, T_START = "2026-03-04T12:00:00Z", "2026-03-04", "2026-02-25T12:00:00Z"


def error(session: WorldSession, tool: str, **args: Any) -> dict[str, Any]:
    """The error of a call that must fail."""
    answer = session.call(tool, args)
    assert answer.is_error, answer.text
    found: dict[str, Any] = json.loads(answer.text)["error"]
    return found


def test_the_room_keeps_the_shared_protocols(small_dir: Path):
    """World and session are an Interface and a Session as the harness knows them."""
    interface: Interface = WorldInterface()
    session: Session = interface.open(str(small_dir), 3)
    session.close()
    session.close()
    assert interface.name == "world"
    assert len(interface.tool_specs()) == 14


def test_tool_texts_do_not_teach_the_method():
    """No description hints at looking further back, at traps or at causes."""
    text = json.dumps([spec.wire() for spec in WorldInterface().tool_specs()]).casefold()
    for hint in (
        "earlier",
        "days before",
        "further back",
        "latent",
        "decoy",
        "suspicious",
        "remember",
        "should",
        "incident day",
    ):
        assert hint not in text.replace("an earlier answer", "")


def test_entities_are_found_by_exact_then_similar_name(session: WorldSession):
    """Exact names come first, misspelt ones still find something, filters hold."""
    rows = ask(session, "search_entities", query="quay-core")["rows"]
    assert [row["name"] for row in rows[:4]] == ["quay-core"] * 4
    assert {row["kind"] for row in rows} >= {"Service", "Deployment", "K8sService", "Pod"}
    assert [row["name"] for row in ask(session, "search_entities", query="habror-api")["rows"]] == [
        "harbor-api"
    ]
    south = ask(session, "search_entities", query="quay", cluster="south", kinds="configmap")[
        "rows"
    ]
    assert [row["id"] for row in south] == [eid(5)]
    assert ask(session, "search_entities", query="arn:quay-cache")["rows"][0]["id"] == eid(6)
    assert error(session, "search_entities", query="a", cluster="nroth")["near"][0] == "north"
    assert "ConfigMap" in error(session, "search_entities", query="a", kinds=["ConfgMap"])["near"]


def test_an_entity_shows_values_with_who_said_so(session: WorldSession):
    """Fields come with value, since, provenance, confidence and source, also of the past."""
    fields = ask(session, "get_entity", id=eid(4))["rows"][0]["fields"]
    assert fields["data.pool.maxSize"] == {
        "value": 12, "since": "2026-02-27T12:00:00Z", "provenance": "observed",
        "confidence": 0.95, "source": "k8s",
    }  # fmt: skip
    past = ask(session, "get_entity", id=eid(4), as_of="2026-02-26", fields=["data.pool.maxSize"])
    assert {name: fact["value"] for name, fact in past["rows"][0]["fields"].items()} == {
        "data.pool.maxSize": 60
    }
    assert (
        "data.pool.maxSize"
        in error(session, "get_entity", id=eid(4), fields=["data.pool.maxsiz"])["near"]
    )


def test_an_unknown_id_is_answered_with_what_was_meant(session: WorldSession):
    """A name that several bear, or a misspelt id, gets ids that exist; they count as shown."""
    found = error(session, "get_entity", id="quay-settings")
    assert found["type"] == "unknown_id"
    assert "2 have this name" in found["message"]
    assert found["near"] == [
        f"{eid(4)} (ConfigMap quay-settings)",
        f"{eid(5)} (ConfigMap quay-settings)",
    ]
    assert session.call("get_entity", {"id": "quay-settings"}).shown_ids == (eid(4), eid(5))
    assert error(session, "get_entity", id="e-0000001")["near"]
    assert error(session, "get_change", id="c-0000001")["near"]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("harbor-api", 1),
        ("Harbor-API", 1),
        (f"{eid(1)} (Service harbor-api)", 1),
        ("Deployment/quay-core", 3),
        ("deployment quay-core", 3),
    ],
)
def test_a_name_that_means_one_entity_stands_for_its_id(
    session: WorldSession, given: str, meant: int
):
    """Small models write names; the answer says what was taken for what."""
    answer = session.call("get_entity", {"id": given})
    body = json.loads(answer.text)
    assert body["rows"][0]["id"] == eid(meant)
    assert body["read_as"][given]["id"] == eid(meant)
    assert eid(meant) in answer.shown_ids
    plain = json.loads(session.call("get_entity", {"id": eid(meant)}).text)
    assert "read_as" not in plain
    assert plain["rows"] == body["rows"]


def test_names_are_taken_wherever_an_entity_is_asked_for(session: WorldSession):
    """In lists, around one, as a scope, and for both ends of a path."""
    window = {"since": "2026-01-01", "until": "now"}
    for tool, by_name, by_id in (
        (
            "list_changes",
            {"entity_ids": ["harbor-api"], **window},
            {"entity_ids": [eid(1)], **window},
        ),
        ("list_changes", {"around": "harbor-api", **window}, {"around": eid(1), **window}),
        ("check_health", {"scope": "harbor-api"}, {"scope": eid(1)}),
        ("find_paths", {"src": "harbor-api", "dst": "quay-cache"}, {"src": eid(1), "dst": eid(6)}),
        ("query_metrics", {"entity": "harbor-api", **window}, {"entity": eid(1), **window}),
    ):
        named, plain = session.call(tool, by_name), session.call(tool, by_id)
        assert json.loads(named.text).get("rows") == json.loads(plain.text).get("rows"), tool


def test_neighbors_follow_direction_predicate_depth_and_time(session: WorldSession):
    """One hop by default; two name what they went through; three need predicates."""
    rows = ask(session, "get_neighbors", id=eid(1))["rows"]
    assert [(row["id"], row["predicate"], row["direction"]) for row in rows] == [
        (eid(2), "calls", "out")
    ]
    past = ask(session, "get_neighbors", id=eid(1), as_of="2026-03-01")["rows"]
    assert {row["id"] for row in past} == {eid(2), eid(8)}
    two = ask(session, "get_neighbors", id=eid(1), depth=2)["rows"]
    assert {row["id"]: row.get("via") for row in two}[eid(6)] == "quay-core"
    assert [row["depth"] for row in two] == sorted(row["depth"] for row in two)
    assert ask(session, "get_neighbors", id=eid(1), direction="in")["rows"] == []
    assert error(session, "get_neighbors", id=eid(1), depth=3)["type"] == "bad_argument"
    three = ask(
        session, "get_neighbors", id=eid(1), depth=3, predicates=["calls", "runs_on", "mounts"]
    )
    assert eid(4) in {row["id"] for row in three["rows"]}
    service = ask(session, "get_neighbors", id=eid(2), predicates="routes_to")["rows"]
    assert service[0]["status"] == "2 ready endpoints"


def test_paths_are_shortest_first(session: WorldSession):
    """A path names each entity and the edge that led to it."""
    body = ask(session, "find_paths", src=eid(1), dst=eid(4))
    assert body["rows"][0]["length"] == 3
    assert [(node["id"], node["via"]) for node in body["rows"][0]["path"]] == [
        (eid(1), None), (eid(2), "calls"), (eid(3), "runs_on"), (eid(4), "mounts"),
    ]  # fmt: skip
    assert [row["length"] for row in body["rows"]] == sorted(row["length"] for row in body["rows"])
    assert ask(session, "find_paths", src=eid(1), dst=eid(4), max_len=2)["rows"] == []
    assert ask(session, "find_paths", src=eid(1), dst=eid(1))["rows"] == []


def test_changes_echo_their_window_and_count_what_lies_outside(session: WorldSession):
    """The count outside is of the same filters; the window ends at now."""
    day = ask(session, "list_changes", since=T_DAY, until="2026-03-05")
    assert [row["id"] for row in day["rows"]] == [cid(2), cid(3)]
    assert day["window_used"] == {"since": "2026-03-04T00:00:00Z", "until": T_NOW}
    assert day["outside_window"] == 32
    one = ask(session, "list_changes", since=T_DAY, until=T_NOW, entity_ids=[eid(4)])
    assert (one["total_estimate"], one["outside_window"]) == (1, 1)
    field = ask(session, "list_changes", since=T_START, until=T_NOW, field="MAXsize")
    assert [row["id"] for row in field["rows"]] == [cid(1)]
    assert field["rows"][0]["entities"] == [{"id": eid(4), "name": "quay-settings"}]
    assert field["rows"][0]["fields"] == ["data.pool.maxSize"]
    runtime = ask(session, "list_changes", since=T_START, until=T_NOW, types="runtime")
    assert [row["id"] for row in runtime["rows"]] == [cid(4)]
    actor = ask(session, "list_changes", since=T_START, until=T_NOW, actor="IVEN")
    assert {row["id"] for row in actor["rows"]} == {cid(2), cid(3)}
    around = ask(
        session, "list_changes", since=T_START, until=T_NOW, around={"id": eid(2), "depth": 2}
    )
    assert around["total_estimate"] == 34
    page = ask(session, "list_changes", since=T_START, until=T_NOW)
    assert len(page["rows"]) == 20
    assert page["truncated"]


def test_changes_that_cannot_be_asked_for_are_typed_errors(session: WorldSession):
    """A missing window, an unknown type, field or actor, and a reversed window are errors."""
    assert error(session, "list_changes", until=T_NOW)["type"] == "missing_argument"
    assert (
        "config"
        in error(session, "list_changes", since=T_DAY, until=T_NOW, types=["confg"])["near"]
    )
    assert error(session, "list_changes", since=T_DAY, until=T_NOW, field="maxSzie")["near"]
    assert error(session, "list_changes", since=T_DAY, until=T_NOW, actor="mira")["near"] == [
        "mara"
    ]
    assert error(session, "list_changes", since=T_NOW, until=T_START)["type"] == "bad_argument"
    assert (
        error(session, "list_changes", since="2027-01-01", until="2027-01-02")["type"]
        == "bad_argument"
    )
    assert error(session, "list_changes", since="last week", until=T_NOW)["type"] == "bad_argument"


def test_nothing_observed_after_now_is_visible(session: WorldSession):
    """A change that was collected only after the alert cannot be seen by any tool."""
    assert error(session, "get_change", id=cid(5))["type"] == "unknown_id"
    every = every_row(session, "list_changes", since="1970-01-01", until="2100-01-01")
    assert cid(5) not in {row["id"] for row in every}


def test_what_an_unseen_change_replaced_still_holds(tmp_path: Path):
    """Until a change is observed its field keeps the value before, up to the next one observed."""
    build = small_builder()
    seen, unseen = NOW - 3 * MINUTE, NOW + HOUR
    steps = [(1, START, START, ""), (2, NOW - 9 * MINUTE, unseen, cid(901)),
             (3, NOW - 8 * MINUTE, unseen, cid(902)), (4, NOW - 7 * MINUTE, seen, cid(903)),
             (5, NOW - 2 * MINUTE, unseen, cid(904))]  # fmt: skip
    ends = [step[1] for step in steps[1:]] + [OPEN_END]
    for (value, since, observed, event), until in zip(steps, ends, strict=True):
        build.fact(2, "tier", value, since=since, until=until, observed=observed, event=event)
        if event:
            step = [(2, "tier", value - 1, value)]
            build.change(int(event[2:], 16), since, "config", "mara", step, observed=observed)
    write_world(build.tables(), tmp_path / "w")
    session = WorldInterface().open(str(tmp_path / "w"), 1)
    for minutes, value in ((10, 1), (9, 1), (8, 1), (7, 4), (2, 4), (0, 4)):
        fields = ask(session, "get_entity", id=eid(2), as_of=iso(NOW - minutes * MINUTE))["rows"]
        assert fields[0]["fields"]["tier"]["value"] == value, minutes
    history = ask(session, "get_field_history", entity=eid(2), field="tier")
    assert [row["change_id"] for row in history["rows"]] == [cid(903)]


def test_a_change_and_a_field_tell_old_and_new(session: WorldSession):
    """The diff and the history of a field hold the same values."""
    row = ask(session, "get_change", id=cid(1))["rows"][0]
    assert row["diffs"] == [
        {
            "entity": eid(4),
            "entity_name": "quay-settings",
            "field": "data.pool.maxSize",
            "old": 60,
            "new": 12,
        }
    ]
    assert (row["actor"], row["pr"]) == ("mara", "#41")
    for name in ("data.pool.maxSize", "DATA.POOL.MAXSIZE", "maxSize"):
        history = ask(session, "get_field_history", entity=eid(4), field=name)
        assert [(one["change_id"], one["old"], one["new"]) for one in history["rows"]] == [
            (cid(1), 60, 12)
        ]
        assert history["current"]["value"] == 12
    assert ask(session, "get_field_history", entity=eid(5), field="data.pool.maxSize")["rows"] == []
    assert error(session, "get_field_history", entity=eid(4), field="pool")["near"]


def test_two_siblings_or_two_times_are_compared(session: WorldSession):
    """Only fields that differ are rows, with both values."""
    rows = ask(session, "compare_state", entity=eid(4), entity_b=eid(5))["rows"]
    assert rows == [{"field": "data.pool.maxSize", "left": 12, "right": 60}]
    rows = ask(session, "compare_state", entity=eid(4), t1=T_START, t2=T_NOW)["rows"]
    assert rows == [{"field": "data.pool.maxSize", "left": 60, "right": 12}]
    assert error(session, "compare_state", entity=eid(4))["type"] == "missing_argument"


def test_logs_are_searched_by_text_expression_level_entity_and_time(session: WorldSession):
    """Newest first; case is ignored in text; SQL's wildcards are only characters."""
    body = ask(session, "search_logs", query="CALL TO quay-core")
    assert body["total_estimate"] == 12
    assert [row["id"] for row in body["rows"]] == sorted(
        (row["id"] for row in body["rows"]), reverse=True
    )
    assert body["data_gaps"][0]["note"] == "collector restarted"
    assert (
        ask(session, "search_logs", query="pool.*max_size=1[0-9]", mode="regex")["total_estimate"]
        == 1
    )
    assert ask(session, "search_logs", query="", level="warn")["total_estimate"] == 1
    assert (
        ask(
            session,
            "search_logs",
            query="",
            entity=eid(1),
            level="ERROR",
            since="2026-03-04T11:45:00Z",
        )["total_estimate"]
        == 0
    )
    for text in ("%", "_________", "' or 1=1 --"):
        assert ask(session, "search_logs", query=text)["total_estimate"] == 0
    exact = ask(
        session,
        "search_logs",
        query="call to",
        since="2026-03-04T11:40:05Z",
        until="2026-03-04T11:40:05Z",
    )
    assert exact["total_estimate"] == 1


@pytest.mark.parametrize(
    "pattern", ["(", "[z-a]", "(?<x", "a{1,99999}", "\\", "(?=a)", "((a{99}){99}){99}", "x" * 600]
)
def test_bad_expressions_are_refused(session: WorldSession, pattern: str):
    """An expression that RE2 refuses, or that is too large, is a typed error."""
    assert error(session, "search_logs", query=pattern, mode="regex")["type"] == "bad_argument"


def test_a_catastrophic_expression_is_answered(session: WorldSession):
    """RE2 is linear: what hangs other engines is an ordinary search."""
    assert ask(session, "search_logs", query="(x+x+)+y", mode="regex")["rows"] == []


def test_hostile_lines_are_shown_as_data(session: WorldSession):
    """A line with escapes, markup and commands is cut, escaped and otherwise unchanged."""
    answer = session.call("search_logs", {"query": "ignore all rules"})
    assert "\x1b" not in answer.text
    message = json.loads(answer.text)["rows"][0]["msg"]
    assert message.startswith(HOSTILE[:200])
    assert message.endswith("more characters]")


def test_new_patterns_stand_first(session: WorldSession):
    """An error that the baseline does not know is the most anomalous; counts are of the window."""
    body = ask(session, "log_patterns", since="2026-03-04T11:30:00Z", until=T_NOW)
    top = body["rows"][0]
    assert top["pattern"] == "call to quay-core failed: timeout after <*> ms"
    assert (top["count"], top["baseline_count"], top["new"]) == (12, 0, True)
    assert body["baseline_used"] == {
        "since": "2026-03-04T10:59:59Z",
        "until": "2026-03-04T11:29:59Z",
    }
    line = ask(session, "search_logs", query="call to quay-core")["rows"][0]
    assert top["example_id"] == line["id"]
    healthy = [row for row in body["rows"] if row["pattern"] == "served order <*> in <*> ms"]
    assert healthy[0]["baseline_count"] > 0
    uncovered = ask(
        session,
        "log_patterns",
        since=T_DAY,
        until=T_NOW,
        baseline_since=T_START,
        baseline_until="2026-02-26",
    )
    assert uncovered["rows"][0]["new"] is None


def test_metrics_have_at_most_sixty_points_and_the_first_change(session: WorldSession):
    """A week and an hour are both drawn with few points; where the level moved is told."""
    for since in (T_START, "2026-03-04T10:00:00Z"):
        body = ask(session, "query_metrics", entity=eid(1), since=since, until=T_NOW)
        assert [row["name"] for row in body["rows"]] == ["error_rate", "latency_p95"]
        assert all(0 < len(row["points"]) <= 60 for row in body["rows"])
    rate, latency = body["rows"]
    assert (rate["min"], rate["max"]) == (0.01, 0.31)
    assert rate["first_change"] == "2026-03-04T11:30:00Z"
    assert latency["first_change"] is None
    coarse = ask(
        session,
        "query_metrics",
        entity=eid(1),
        since="2026-03-04T10:00:00Z",
        until=T_NOW,
        step="1h",
        names="error_rate",
    )
    assert [len(row["points"]) for row in coarse["rows"]] == [2]
    assert error(
        session, "query_metrics", entity=eid(1), since=T_DAY, until=T_NOW, names=["eror_rate"]
    )["near"] == ["error_rate"]


def test_missing_data_is_an_error_never_an_empty_answer(session: WorldSession):
    """A source that has nothing for the whole question says that it is unavailable."""
    found = error(session, "query_metrics", entity=eid(6), since=T_DAY, until=T_NOW)
    assert found["type"] == "unavailable"
    assert "never deployed" in found["message"]
    during = {"since": "2026-03-04T09:10:00Z", "until": "2026-03-04T09:20:00Z"}
    assert error(session, "search_logs", query="", **during)["type"] == "unavailable"
    assert ask(session, "query_metrics", entity=eid(2), since=T_DAY, until=T_NOW)["rows"] == []


def test_alerts_in_a_window(session: WorldSession):
    """Newest first, by entity where asked."""
    rows = ask(session, "list_alerts", since=T_START, until=T_NOW)["rows"]
    assert [row["id"] for row in rows] == ["a-00000001", "a-00000002"]
    assert [
        row["id"]
        for row in ask(session, "list_alerts", since=T_START, until=T_NOW, entity=eid(6))["rows"]
    ] == ["a-00000002"]


def test_health_findings_by_scope(tmp_path: Path):
    """A finding shows for everything, its cluster, its entity and what leads to it."""
    build = small_builder()
    for row in build.rows["fact"]:
        if (row["entity_id"], row["field"]) == (eid(11), "selector"):
            row["value_json"] = '{"app": "quay-core", "version": "2"}'
    write_world(build.tables(), tmp_path / "w")
    session = WorldInterface().open(str(tmp_path / "w"), 1)
    for scope in ("all", "north", eid(11), eid(2)):
        rows = ask(session, "check_health", scope=scope)["rows"]
        assert [(row["check"], row["entity"]) for row in rows] == [
            ("service-without-endpoints", eid(11))
        ]
    for scope in ("south", eid(6)):
        assert ask(session, "check_health", scope=scope)["rows"] == []
    assert error(session, "check_health", scope="nrth")["near"] == ["north"]
