"""Exchanges as a model of 1.5 billion parameters has them, shortened and set in a small world.

Each line was written by such a model in this form; names, ids and times are those of the world.
Every one ended an investigation once: as a loop, as malformed, or without a submission.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.agent.toy import BRAIN, Scripted, says
from tests.graph.worlds import NOW, cid, eid, small_world

from heldout.agent import Trace, investigate, mode_of
from heldout.graph import open_interface, write_world
from heldout.graph.tools.page import iso
from heldout.incident import Incident
from heldout.run.plan import Limits

FIRED = iso(NOW)
ANSWER = {
    "root_cause_entity": f"{eid(4)} (ConfigMap quay-settings)",
    "root_cause_change": f"{cid(1)}: pool.maxSize 60 -> 12",
    "mechanism": "the pool is exhausted",
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small world."""
    directory = tmp_path_factory.mktemp("small") / "world"
    write_world(small_world(), directory)
    return directory


def exchange(world: Path, *lines: str, steps: int = 20) -> tuple[Trace, Scripted]:
    """What became of the replies, and what the model was asked."""
    alert = f"# LatencyHigh\n\nFired at {FIRED}\nService: harbor-api\nCluster: north"
    model = Scripted([says(line, finish_reason="stop") for line in lines])
    trace = asyncio.run(
        investigate(
            Incident("i-1", "small", alert, world, "d"), BRAIN, model, open_interface("native"),
            model="local/small", limits=replace(Limits(), max_steps=steps), seed=1,
            mode=mode_of("notebook"),
        )
    )  # fmt: skip
    return trace, model


def call(tool: str, thought: str = "look", **arguments: Any) -> str:
    """A reply that is one step."""
    return json.dumps({"thought": thought, "tool": tool, "arguments": arguments})


def errors(trace: Trace) -> list[str]:
    """The errors of a trace, by tool."""
    return [f"{one.tool}: {one.answer}" for one in trace.steps if one.is_error]


def test_names_windows_and_blanks_as_a_small_model_writes_them(world: Path):
    """A name for an id, 'now', an empty cursor, too many rows, another tool's word for an id."""
    trace, _ = exchange(
        world,
        call("search_entities", query="harbor-api", kind="Service", cluster="north", cursor=""),
        call("get_neighbors", id="harbor-api", direction="out", depth="1", as_of="now"),
        call("search_logs", query="pool", entity="quay-core-a", since="now-1h", until="now"),
        call("get_entity", entity=f"{eid(4)} (ConfigMap quay-settings)", fields=[]),
        call("list_changes", entity_ids=eid(4), since="-7d", until=FIRED, limit=100, types=[]),
        call("submit_diagnosis", **ANSWER, rule_out=["the deploy"], affected="harbor-api"),
    )
    assert errors(trace) == []
    assert trace.stop_reason == "submitted"
    assert trace.submission.root_cause_entity == eid(4)
    assert trace.submission.root_cause_change == cid(1)
    assert trace.submission.ruled_out == ("the deploy",)


def test_a_name_of_several_is_told_again_until_it_is_heard(world: Path):
    """The near ids stand on every later page, also once the call was refused as a repetition."""
    wrong = call("get_entity", id="quay-settings")
    trace, model = exchange(
        world,
        wrong,
        wrong,
        wrong,
        call("get_entity", id=eid(4)),
        call("submit_diagnosis", **ANSWER),
    )
    assert trace.stop_reason == "submitted"
    for request in model.asked[1:4]:
        page = str(request.messages[1]["content"])
        assert f"{eid(4)} (ConfigMap quay-settings)" in page
    assert "Call another tool now." in str(model.asked[3].messages[1]["content"])


def test_going_round_in_three_calls_runs_out_of_tools(world: Path):
    """What is offered shrinks with each call made again, down to what was not called yet."""
    round_ = [
        call("search_entities", query="harbor-api", limit=1),
        call("get_entity", id=eid(1)),
        call("search_logs", query="harbor-api", level="ERROR"),
    ]
    _, model = exchange(world, *round_, *round_, call("submit_diagnosis", **ANSWER))
    offered = model.asked[6].response_schema
    assert offered is not None
    left = offered["properties"]["tool"]["enum"]
    assert not {"search_entities", "get_entity", "search_logs"} & set(left)
    assert {"list_changes", "submit_diagnosis"} <= set(left)


def test_prose_fences_and_python_around_a_step(world: Path):
    """Sentences, a fence and single quotes are what a server without schemas lets through."""
    trace, _ = exchange(
        world,
        "Let me look at the service first.\n\n```json\n"
        + call("search_entities", query="harbor-api")
        + "\n```\nThen I will read its logs.",
        "{'thought': 'logs', 'tool': 'search_logs', 'arguments': {'query': 'pool', 'level': 'error'}}",
        '{"name": "list_changes", "parameters": {"since": "7 d ago", "until": "now"}}',
        "The root cause is the pool.",
        call("submit_diagnosis", **{**ANSWER, "root_cause_change": "none"}),
    )
    assert errors(trace) == []
    assert [one.tool for one in trace.steps] == [
        "search_entities", "search_logs", "list_changes", "submit_diagnosis",
    ]  # fmt: skip
    assert trace.stop_reason == "submitted"


def test_what_has_two_readings_is_still_refused(world: Path):
    """The control: no guessing where a name, a time or an argument could mean two things."""
    unknown = {**ANSWER, "root_cause_change": "none"}
    trace, _ = exchange(
        world,
        call("get_entity", id="quay-settings"),
        call("search_logs", query="pool", since="this morning"),
        call("get_neighbors", id=eid(1), predicates=["depends_on"]),
        call("get_entity", id=eid(1), status="serving"),
        call("submit_diagnosis", **{**unknown, "root_cause_entity": f"{eid(4)} or {eid(5)}"}),
        call("submit_diagnosis", **unknown),
    )
    kinds = [json.loads(one.answer)["error"]["type"] for one in trace.steps if one.is_error]
    assert kinds == [
        "unknown_id", "bad_argument", "bad_argument", "unknown_argument", "bad_argument",
    ]  # fmt: skip
