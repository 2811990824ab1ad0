"""Whatever tools, harness or brain hold, a simulated model answers and comes to an end."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heldout.llm.simulated import handle
from heldout.llm.simulated.guidance import read_guidance
from heldout.llm.simulated.transcript import read_transcript

RELAXED = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
NAMES = [
    "id", "kind", "name", "cluster", "pattern", "msg", "level", "count", "new", "entity", "ts",
    "entities", "fields", "diffs", "field", "change_id", "old", "series", "first_change", "rule",
    "depth", "direction", "example_id", "entity_name", "actor_kind", "type",
]  # fmt: skip
ROWS = st.lists(st.dictionaries(st.sampled_from(NAMES), JSON, max_size=8), max_size=4)
ENVELOPES = st.fixed_dictionaries(
    {"rows": ROWS | JSON, "truncated": JSON, "cursor": JSON, "data_gaps": JSON}
)
ANSWERS = (
    st.text(max_size=60)
    | JSON.map(lambda value: json.dumps(value))
    | ENVELOPES.map(lambda value: json.dumps(value))
    | ENVELOPES.map(lambda value: json.dumps(value)[: len(str(value)) // 2])
)


@RELAXED
@given(
    answers=st.lists(ANSWERS, min_size=1, max_size=6),
    model=st.sampled_from(["anchored", "scattered"]),
)
def test_any_tool_answer_leads_to_an_end(bench: Any, answers: list[str], model: str):
    """Errors, cut JSON, other shapes and noise end in a submission within the usual steps."""

    class Noise:
        def __init__(self) -> None:
            self.turn = 0

        def call(self, tool: str, args: dict[str, Any]) -> str:
            self.turn += 1
            return answers[self.turn % len(answers)]

    played = bench.play(Noise(), "Look back 14 days.", model=model, steps=60)
    assert played.submission
    assert played.submission["mechanism"]


@RELAXED
@given(ruined=st.integers(0, 20), answer=ANSWERS)
def test_one_bad_answer_in_a_good_investigation_is_survived(bench: Any, ruined: int, answer: str):
    """A source that fails in the middle costs what it would have told, nothing else."""

    class Patchy:
        def __init__(self) -> None:
            self.world, self.turn = bench.latent(), 0

        def call(self, tool: str, args: dict[str, Any]) -> str:
            self.turn += 1
            return answer if self.turn == ruined else self.world.call(tool, args)

    played = bench.play(Patchy(), "Pull the field history of the setting.", steps=60)
    assert played.submission


@RELAXED
@given(
    body=st.dictionaries(st.sampled_from(["messages", "tools", "seed", "reasoning_effort"]), JSON)
)
def test_any_request_body_is_answered(body: dict[str, Any]):
    """A body of any shape gets a response of the wire."""
    answer = handle({**body, "model": "anchored"})
    assert answer["choices"][0]["message"]["role"] == "assistant"


@RELAXED
@given(text=st.text(max_size=400))
def test_any_brain_text_is_read(text: str):
    """Reading a brain never fails and counts only what it knows."""
    guidance = read_guidance(text)
    assert guidance.days >= 1


def test_lone_surrogates_reach_no_answer(bench: Any):
    """Text that no JSON writer takes is replaced before it is quoted."""
    world = bench.latent()
    world.patterns["e-00000004"] = [("all of max_connections=20 taken \ud800", "ERROR", 9)]
    submission = bench.play(world, "").submission
    assert "max_connections=20 taken ?" in submission["mechanism"]


@pytest.mark.parametrize(
    "answer",
    [
        '{"error":{"type":"unavailable","message":"the source is down","near":[]}}',
        '{"error":{"type":"repeated_call","message":"made before","near":[]}}',
        '{"rows":[],"data_gaps":["logs"]}',
    ],
)
def test_a_world_that_shows_nothing_is_answered_honestly(bench: Any, answer: str):
    """When every source fails or is empty, nothing is blamed."""

    class Silent:
        def call(self, tool: str, args: dict[str, Any]) -> str:
            return answer

    submission = bench.play(Silent(), "").submission
    assert submission["root_cause_change"] == "none"
    assert submission["root_cause_entity"] == "none"
    if "unavailable" in answer:
        assert "search_entities" in submission["unavailable_sources"]


def test_a_refused_submission_is_made_once_more_and_then_told():
    """A submission that comes back is simplified once; after that the model says it in words."""
    tools = [{"type": "function", "function": {"name": "submit_diagnosis"}}]
    messages: list[dict[str, Any]] = [{"role": "user", "content": "# Down"}]
    for _ in range(2):
        message = handle({"model": "anchored", "messages": messages, "tools": tools})["choices"][0]
        call = message["message"]["tool_calls"][0]
        refusal = json.dumps({"error": {"type": "bad_argument", "message": "no", "near": []}})
        messages += [
            message["message"],
            {"role": "tool", "tool_call_id": call["id"], "content": refusal},
        ]
    last = handle({"model": "anchored", "messages": messages, "tools": tools})["choices"][0]
    assert "tool_calls" not in last["message"]
    assert last["finish_reason"] == "stop"


def test_a_transcript_of_parts_is_read_like_text():
    """Content given as a list of text parts counts as its text."""
    body = {
        "messages": [
            {"role": "system", "content": [{"type": "text", "text": "Look back 3 days."}]},
            {"role": "user", "content": [{"type": "text", "text": "Service: fen-store"}]},
        ]
    }
    transcript = read_transcript(body)
    assert transcript.system == "Look back 3 days."
    assert transcript.alert.service == "fen-store"
