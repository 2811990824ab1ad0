"""What must hold of the tools over any world, simulated or imported. Give it a folder."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from heldout.graph import WorldInterface, open_interface, read_table, world_meta
from heldout.graph.tools.catalogue import SUBMIT
from heldout.interface import Interface, Session, ToolAnswer

ENVELOPE = {"rows", "total_estimate", "truncated", "cursor", "window_used", "data_gaps"}
ROWS: Mapping[str, set[str]] = {
    "search_entities": {"id", "kind", "name", "cluster", "status"},
    "get_entity": {
        "id",
        "kind",
        "name",
        "external_id",
        "cluster",
        "first_seen",
        "last_seen",
        "fields",
    },
    "get_neighbors": {
        "id",
        "kind",
        "name",
        "predicate",
        "direction",
        "depth",
        "provenance",
        "confidence",
        "status",
    },
    "find_paths": {"length", "path"},
    "list_changes": {
        "id",
        "ts",
        "type",
        "actor",
        "actor_kind",
        "source",
        "pr",
        "summary",
        "entities",
        "fields",
    },
    "get_change": {
        "id",
        "ts",
        "type",
        "actor",
        "actor_kind",
        "source",
        "pr",
        "repo",
        "commit",
        "summary",
        "diffs",
    },
    "get_field_history": {"ts", "change_id", "old", "new", "actor", "pr"},
    "compare_state": {"field", "left", "right"},
    "search_logs": {"id", "ts", "entity", "entity_name", "level", "msg"},
    "log_patterns": {
        "pattern",
        "entity",
        "entity_name",
        "level",
        "count",
        "baseline_count",
        "new",
        "example_id",
    },
    "query_metrics": {"series", "name", "unit", "points", "min", "max", "mean", "first_change"},
    "list_alerts": {"id", "ts", "rule", "entity", "entity_name", "severity", "text", "state"},
    "check_health": {"check", "entity", "entity_name", "severity", "finding", "fields"},
}
Questions = Sequence[tuple[str, Mapping[str, Any]]]
_NATIVE_QUESTIONS: Questions = (
    ("search_entities", {"query": "a"}),
    ("list_changes", {"since": "1970-01-01", "until": "2100-01-01"}),
    ("search_logs", {"query": "a"}),
    ("check_health", {}),
)
ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
HOSTILE_VALUES: tuple[Any, ...] = (
    None, 7, -1, 1e308, True, [], {}, [[]], {"id": {}}, "", " ", "'; drop table log; --", "\x00",
    "\ud800", "%_\\", "(" * 200, "x" * 100_000, "e-00000000", "2026-13-45", "9999-99-99T00:00:00Z",
)  # fmt: skip


def ask(session: Session, tool: str, **args: Any) -> dict[str, Any]:
    """One call that must succeed, checked against the envelope and the row shape."""
    answer = session.call(tool, args)
    assert not answer.is_error, f"{tool} {args}: {answer.text}"
    assert len(answer.text.encode()) <= 8 * 1024, f"{tool}: {len(answer.text)} characters"
    body: dict[str, Any] = json.loads(answer.text)
    assert body.keys() >= ENVELOPE
    assert body["truncated"] == (body["cursor"] is not None)
    if tool == "list_changes":
        assert body["outside_window"] >= 0
    shown = set(answer.shown_ids)
    for row in body["rows"]:
        assert row.keys() >= ROWS[tool], f"{tool}: {sorted(ROWS[tool] - row.keys())} missing"
        if "ts" in row:
            assert ISO.fullmatch(row["ts"])
        if "id" in row:
            assert row["id"] in shown
    return body


def every_row(session: Session, tool: str, **args: Any) -> list[dict[str, Any]]:
    """All rows of a query, page by page."""
    rows: list[dict[str, Any]] = []
    cursor = None
    for _ in range(1_000):
        body = ask(session, tool, **args, **({"cursor": cursor} if cursor else {}))
        rows += body["rows"]
        cursor = body["cursor"]
        if cursor is None:
            return rows
        assert body["rows"], "a page that is cut must show something"
    raise AssertionError(f"{tool} never ends")


def check_conformance(directory: Path) -> None:
    """Every rule of the suite on one world."""
    interface = WorldInterface()
    session = interface.open(str(directory), 1)
    try:
        assert [spec.name for spec in interface.tool_specs()] == [*ROWS, SUBMIT]
        _specs(interface)
        _looks(directory, session)
        _pages(directory, session)
        _errors(interface, session)
        _same_again(interface, directory, session, _NATIVE_QUESTIONS)
    finally:
        session.close()
    _submits(interface, directory)


def check_pack(directory: Path, pack: str, questions: Questions) -> None:
    """The same rules for a pack: ``questions`` are calls of it that must be answered."""
    interface = open_interface(pack)
    session = interface.open(str(directory), 1)
    try:
        _specs(interface)
        known = {row["id"] for table in ("entity", "change_event", "alert", "metric_series")
                 for row in read_table(directory, table)}  # fmt: skip
        for tool, args in questions:
            answers = every_answer(session, tool, args)
            for answer in answers:
                for one in answer.shown_ids:
                    assert one in answer.text, f"{tool} {args}: {one} is not in the answer"
                    assert one in known or one.startswith("l-"), f"{tool} {args}: {one}"
        _errors(interface, session)
        _same_again(interface, directory, session, questions)
    finally:
        session.close()
    _submits(interface, directory)


def every_answer(session: Session, tool: str, args: Mapping[str, Any]) -> list[ToolAnswer]:
    """All pages of one call, each checked; together they show what ``total_estimate`` says."""
    found = []
    cursor: dict[str, str] = {}
    for _ in range(200):
        answer = session.call(tool, {**args, **cursor})
        assert not answer.is_error, f"{tool} {args}: {answer.text}"
        assert len(answer.text.encode()) <= 8 * 1024, f"{tool} {args}"
        body = json.loads(answer.text)
        assert body.keys() >= {"total_estimate", "truncated", "cursor", "window_used", "data_gaps"}
        assert ("rows" in body) != ("output" in body)
        assert body["truncated"] == (body["cursor"] is not None)
        found.append(answer)
        if body["cursor"] is None:
            return found
        assert body.get("rows") or body.get("output"), "a page that is cut must show something"
        cursor = {"cursor": body["cursor"]}
    return found


def _specs(interface: Interface) -> None:
    specs = interface.tool_specs()
    assert specs[-1].name == SUBMIT
    assert len({spec.name for spec in specs}) == len(specs)
    for spec in specs:
        wire = spec.wire()["function"]["parameters"]
        assert wire["additionalProperties"] is False
        assert set(wire["required"]) <= set(wire["properties"])


def _moment(microseconds: int) -> str:
    return (datetime.fromtimestamp(0, UTC) + timedelta(microseconds=microseconds)).strftime(
        "%Y-%m-%dT%H:%M:%SZ"
    )


def _looks(directory: Path, session: Session) -> None:
    meta = world_meta(directory)
    since, until = _moment(meta.start), _moment(meta.now)
    ids = [row["id"] for row in ask(session, "search_entities", query="", limit=50)["rows"]]
    first, last = ids[0], ids[-1]
    for one in (first, last):
        ask(session, "get_entity", id=one)
        ask(session, "get_entity", id=one, as_of=since)
        for direction in ("out", "in", "both"):
            ask(session, "get_neighbors", id=one, depth=2, direction=direction)
        ask(session, "check_health", scope=one)
        ask(session, "query_metrics", entity=one, since=since, until=until)
        ask(session, "list_changes", around={"id": one, "depth": 2}, since=since, until=until)
    ask(session, "find_paths", src=first, dst=last)
    ask(session, "compare_state", entity=first, t1=since)
    ask(session, "compare_state", entity=first, entity_b=last)
    changes = ask(session, "list_changes", since=since, until=until)
    assert changes["window_used"] == {"since": since, "until": until}
    for row in changes["rows"][:3]:
        ask(session, "get_change", id=row["id"])
        for entity in row["entities"][:1]:
            for field in row["fields"][:1]:
                ask(session, "get_field_history", entity=entity["id"], field=field)
    ask(session, "search_logs", query="e")
    ask(session, "search_logs", query="[0-9]+", mode="regex", level="ERROR")
    ask(session, "log_patterns", since=until, until=until, baseline_since=since)
    ask(session, "list_alerts", since=since, until=until)
    ask(session, "check_health")


def _pages(directory: Path, session: Session) -> None:
    meta = world_meta(directory)
    since, until = _moment(meta.start), _moment(meta.now)
    entities = every_row(session, "search_entities", query="", limit=50)
    assert sorted(row["id"] for row in entities) == [
        row["id"] for row in read_table(directory, "entity")
    ]
    window = ask(session, "list_changes", since=_moment(meta.now - 86_400_000_000), until=until)
    everything = ask(session, "list_changes", since="1970-01-01", until=until)
    assert window["total_estimate"] + window["outside_window"] == everything["total_estimate"]
    rows = every_row(session, "list_changes", since=since, until=until, limit=50)
    assert len({row["id"] for row in rows}) == len(rows)
    assert [row["ts"] for row in rows] == sorted((row["ts"] for row in rows), reverse=True)
    assert max((row["ts"] for row in rows), default=since) <= until


def _errors(interface: Interface, session: Session) -> None:
    for spec in interface.tool_specs():
        for argument in spec.parameters["properties"]:
            for value in HOSTILE_VALUES:
                given = dict.fromkeys(spec.parameters["required"], "e-00000000")
                if spec.name == SUBMIT:
                    continue
                answer = session.call(spec.name, {**given, argument: value})
                assert len(answer.text.encode()) <= 8 * 1024
                body = json.loads(answer.text)
                assert answer.is_error == ("error" in body)
        answer = session.call(spec.name, {"no_such_argument": 1})
        assert json.loads(answer.text)["error"]["type"] == "unknown_argument"
    for name in ("no_such_tool", "", None, 7):
        answer = session.call(name, {})  # type: ignore[arg-type]
        assert json.loads(answer.text)["error"]["type"] == "unknown_tool"
    first = interface.tool_specs()[0].name
    for args in (None, [], "x", 7):
        assert session.call(first, args).is_error  # type: ignore[arg-type]


def _same_again(
    interface: Interface, directory: Path, session: Session, questions: Questions
) -> None:
    other = interface.open(str(directory), 2)
    try:
        for tool, args in questions:
            assert session.call(tool, args) == other.call(tool, args)
    finally:
        other.close()


def _submits(interface: Interface, directory: Path) -> None:
    session = interface.open(str(directory), 1)
    assert session.finish() is None
    refused = session.call(SUBMIT, {"mechanism": "x"})
    assert refused.is_error
    assert not refused.final
    answer = session.call(
        SUBMIT, {"root_cause_entity": "none", "root_cause_change": None, "mechanism": "x"}
    )
    assert answer.final
    submission = session.finish()
    assert submission is not None
    assert submission.root_cause_entity is None
    assert submission.complete
    session.close()
