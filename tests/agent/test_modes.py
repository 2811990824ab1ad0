"""The modes without native tool calls: what is asked, what is understood, how it ends, resuming."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from tests.agent.toy import BRAIN, INCIDENT, LIMITS, Toy, look, play_in, says, step, submit
from tests.llm import wire

from heldout.agent import JournalEntry, Trace, investigate, mode_of
from heldout.agent.modes import NotebookMode, NotebookOptions
from heldout.agent.modes.notebook import pages
from heldout.agent.prompt import CUT_OFF, DROPPED, JSON_HARNESS, LAST_CHANCE, NO_STEP
from heldout.errors import ConfigError, ProviderRefused, StoreError
from heldout.interface import Submission
from heldout.llm import Bounds, ContextExceeded, ModelRequest, RequestRefused, Usage, open_client
from heldout.run.plan import Limits

PAPER = ("json", "notebook")
ALL = ("tools", *PAPER)
LOOK_A, LOOK_B = says(step("look", q="a")), says(step("look", q="b"))
DONE = says(step("submit_diagnosis", mechanism="the pool"))


def texts(trace: Trace) -> list[str]:
    """What was said, behind system prompt and alert."""
    return [str(message["content"]) for message in trace.messages[2:]]


@pytest.mark.parametrize("name", PAPER)
def test_an_investigation_in_steps(name: str):
    """Each step runs one tool, the conversation stands in the trace, the submission counts."""
    toy = Toy()
    trace, model = play_in(mode_of(name), LOOK_A, LOOK_B, DONE, toy=toy)
    assert (trace.stop_reason, trace.mode, trace.counts) == ("submitted", name, {})
    assert trace.submission == Submission(mechanism="the pool")
    assert [message["role"] for message in trace.messages] == [
        "system", "user", *("assistant", "user") * 3,
    ]  # fmt: skip
    assert trace.messages[1]["content"] == INCIDENT.alert
    assert texts(trace)[1::2] == [one.answer for one in trace.steps]
    assert [(one.tool, one.args) for one in trace.steps[:2]] == [
        ("look", {"q": "a"}),
        ("look", {"q": "b"}),
    ]
    for request in model.asked:
        assert not request.tools
        assert request.max_output_tokens
        enum = request.response_schema["properties"]["tool"]["enum"]
        assert enum == ["look", "submit_diagnosis"]
    assert toy.sessions[0].closed


def test_the_system_prompt_holds_brain_harness_and_tools():
    """The brain comes first, then the harness, then the tools on paper."""
    _, model = play_in(mode_of("json"), DONE)
    system = model.asked[0].messages[0]["content"]
    assert system.startswith("Look before you answer.")
    assert JSON_HARNESS in system
    assert "look(q?: string)\n  Look." in system


def test_a_chat_of_steps_is_appended_to_and_alternates():
    """Every request begins with all of the one before it, and no role comes twice in a row."""
    lines = (LOOK_A, says("hm"), LOOK_B, says(step("look", q="c")), DONE)
    _, model = play_in(mode_of("json"), *lines, limits=Limits(max_steps=3))
    for earlier, later in zip(model.asked, model.asked[1:], strict=False):
        assert list(later.messages)[: len(earlier.messages)] == list(earlier.messages)
    roles = [message["role"] for message in model.asked[-1].messages[1:]]
    assert all(one != other for one, other in pairwise(roles))
    assert model.asked[-1].messages[-1]["content"].endswith(LAST_CHANCE)


@pytest.mark.parametrize("name", PAPER)
def test_only_the_first_of_several_calls_runs(name: str):
    """The model is told that its other calls were not run."""
    both = says(f"{step('look', q='a')}\n{step('look', q='b')}")
    trace, model = play_in(mode_of(name), both, DONE)
    assert [one.args for one in trace.steps[:-1]] == [{"q": "a"}]
    assert "held 2 calls; only the first was run" in model.asked[1].messages[-1]["content"]
    assert trace.counts == {"several": 1}


@pytest.mark.parametrize("name", PAPER)
@pytest.mark.parametrize(
    ("reply", "told", "counts"),
    [
        (says("I think it is DNS"), NO_STEP, {"silent": 1}),
        (says(""), NO_STEP, {"silent": 1}),
        (says('{"thought": "well', finish_reason="length"), CUT_OFF, {"silent": 1, "cut_off": 1}),
    ],
)
def test_a_reply_without_a_step_is_told_and_bounded(name: str, reply: Any, told: str, counts: Any):
    """Words, nothing, or half a step: the model is told; three in a row end it."""
    trace, model = play_in(mode_of(name), reply, DONE)
    assert trace.stop_reason == "submitted"
    assert model.asked[1].messages[-1]["content"].endswith(told)
    assert trace.counts == counts
    trace, model = play_in(mode_of(name), reply)
    assert (trace.stop_reason, len(model.asked)) == ("no_submission", 3)
    assert trace.submission == Submission(complete=False)


@pytest.mark.parametrize("name", ALL)
def test_a_cut_off_reply_stands_short_in_the_conversation(name: str):
    """What a model wrote until its limit is not sent back in full."""
    trace, model = play_in(mode_of(name), says("blah " * 5_000, finish_reason="length"), end(name))
    assert len(texts(trace)[0]) <= 2_000
    assert "characters cut" in texts(trace)[0]
    assert trace.counts == {"silent": 1, "cut_off": 1}
    assert CUT_OFF in model.asked[1].messages[-1]["content"]


def test_a_long_reply_with_a_step_stands_as_its_step():
    """A rambling reply is kept as the step that it holds."""
    trace, _ = play_in(mode_of("json"), says("blah " * 1_000 + step("look", q="a")), DONE)
    assert json.loads(texts(trace)[0]) == {"thought": "", "tool": "look", "arguments": {"q": "a"}}


@pytest.mark.parametrize("name", ALL)
def test_a_refusal_ends_it_in_every_mode(name: str):
    """A model's own refusal is a stop reason that is judged."""
    trace, _ = play_in(mode_of(name), says("", refusal="I cannot help with that."))
    assert (trace.stop_reason, trace.detail) == ("refused", "I cannot help with that.")


@pytest.mark.parametrize("name", PAPER)
def test_native_calls_are_taken_as_well(name: str):
    """A server that turns the text into calls itself is understood."""
    trace, _ = play_in(mode_of(name), look("a"), submit("m"))
    assert [one.tool for one in trace.steps] == ["look", "submit_diagnosis"]
    assert json.loads(texts(trace)[0])["tool"] == "look"


LIMITED = [
    (Limits(max_steps=2), "max_steps"),
    (Limits(max_tokens=220), "max_tokens"),
    (Limits(max_seconds=2.0), "max_seconds"),
    (Limits(max_usd=0.02), "max_usd"),
]


@pytest.mark.parametrize("name", PAPER)
@pytest.mark.parametrize(("limits", "reason"), LIMITED)
def test_a_limit_gives_one_last_chance(name: str, limits: Limits, reason: str):
    """Only the submitting tool is left in the schema, and what is submitted counts."""

    def last(request: ModelRequest) -> Any:
        assert LAST_CHANCE in request.messages[-1]["content"]
        assert request.response_schema["properties"]["tool"]["enum"] == ["submit_diagnosis"]
        return says(step("submit_diagnosis", mechanism="late", root_cause_entity="e-99999999"))

    trace, model = play_in(mode_of(name), LOOK_A, LOOK_B, last, limits=limits)
    assert (trace.stop_reason, len(model.asked)) == (reason, 3)
    assert trace.submission.mechanism == "late"
    wasted, _ = play_in(mode_of(name), LOOK_A, LOOK_B, LOOK_A, limits=limits)
    assert wasted.submission == Submission(complete=False)


@pytest.mark.parametrize("name", PAPER)
def test_a_last_submission_that_was_refused_may_be_mended_once(name: str):
    """The refusal is shown with the same last words, and the schema still offers only that tool."""
    refused = says(step("submit_diagnosis", mechansm="m"))

    def mended(request: ModelRequest) -> Any:
        page = "\n".join(str(one["content"]) for one in request.messages)
        assert "missing_argument" in page
        assert LAST_CHANCE in request.messages[-1]["content"]
        assert request.response_schema["properties"]["tool"]["enum"] == ["submit_diagnosis"]
        return says(step("submit_diagnosis", mechanism="right after all"))

    limits = Limits(max_steps=2)
    trace, model = play_in(mode_of(name), LOOK_A, LOOK_B, refused, mended, limits=limits)
    assert (trace.submission.mechanism, len(model.asked)) == ("right after all", 4)


@pytest.mark.parametrize("name", PAPER)
def test_malformed_steps_are_told_and_bounded(name: str):
    """A wrong tool is answered with near names, arguments that are no object too; four end it."""
    trace, _ = play_in(mode_of(name), says(step("lok", q="a")), DONE)
    assert json.loads(trace.steps[0].answer)["error"]["near"] == ["look"]
    trace, _ = play_in(mode_of(name), says('{"tool": "look", "arguments": [1]}'))
    assert (trace.stop_reason, len(trace.steps)) == ("malformed", 4)
    assert trace.counts["malformed"] == 4


WINDOW = ContextExceeded("too long")


def big(q: str) -> str:
    """What makes a toy answer long enough to be worth taking out."""
    return q * 300


def turn(name: str, q: str) -> Any:
    """A reply that looks, as the mode wants it."""
    return look(q) if name == "tools" else says(step("look", q=q))


def end(name: str) -> Any:
    """A reply that submits, as the mode wants it."""
    return submit("m") if name == "tools" else DONE


@pytest.mark.parametrize("name", ALL)
def test_room_is_made_once_where_the_window_is_full(name: str):
    """The same request is made again, shorter; the trace keeps every answer and says so."""
    turns = [turn(name, big(q)) for q in "abcd"]
    trace, model = play_in(mode_of(name), *turns, WINDOW, end(name))
    assert trace.stop_reason == "submitted"
    assert (trace.counts["room_made"], trace.counts["room_made_at"]) == (1, 5)
    assert "before request 5" in trace.detail
    before, after = (json.dumps(list(one.messages)) for one in model.asked[-2:])
    assert len(after) < len(before) - 500
    kept = [str(message["content"]) for message in trace.messages[3:11:2]]
    assert [one.answer for one in trace.steps[:4]] == kept


@pytest.mark.parametrize("name", ALL)
def test_a_window_that_stays_full_ends_it(name: str):
    """One try is made to fit, no more."""
    turns = [turn(name, big(q)) for q in "abcd"]
    trace, model = play_in(mode_of(name), *turns, WINDOW, WINDOW)
    assert (trace.stop_reason, len(model.asked)) == ("max_tokens", 6)
    assert trace.counts == {"room_made": 1, "room_made_at": 5}
    trace, model = play_in(mode_of(name), WINDOW, WINDOW)
    assert trace.stop_reason == "max_tokens"
    assert not trace.submission.complete


def test_a_chat_without_anything_to_take_out_is_not_asked_again():
    """With nothing but one answer there is no room to make."""
    trace, model = play_in(mode_of("tools"), look(big("a")), WINDOW)
    assert (trace.stop_reason, len(model.asked)) == ("max_tokens", 2)
    assert not trace.counts


@pytest.mark.parametrize("name", PAPER)
def test_replies_are_held_shorter_once_the_window_was_full(name: str):
    """Some servers count a reply's limit as part of the request, so the first may not fit as well."""
    trace, model = play_in(mode_of(name), WINDOW, LOOK_A, DONE)
    assert (trace.stop_reason, trace.counts["room_made_at"]) == ("submitted", 1)
    assert [one.max_output_tokens for one in model.asked] == [4_096, 1_024, 1_024]


@pytest.mark.parametrize("name", ["tools", "json"])
def test_which_answers_are_taken_out(name: str):
    """All but the two newest become stubs; what was called before may then be called again."""
    turns = [turn(name, big(q)) for q in "abcd"]
    trace, model = play_in(mode_of(name), *turns, WINDOW, turns[0], turns[0], end(name))
    sent = [message["content"] for message in model.asked[5].messages[3:11:2]]
    assert [text == DROPPED for text in sent] == [True, True, False, False]
    assert not any(one.is_error for one in trace.steps)
    later, earlier = model.asked[6].messages, model.asked[5].messages
    assert list(later)[: len(earlier)] == list(earlier)


SCRIPTS: dict[str, tuple[Any, ...]] = {
    "tools": (look("a"), look(big("b")), says("hm"), look("c"), look("d"), WINDOW, look("e"), submit("m")),
    "json": (
        LOOK_A, says(step("look", q=big("b"))), says("hm"), says("```json\n" + step("look", q="c") + "\n```"),
        says(step("look", q="d") + step("look", q="x")), WINDOW, says(step("look", q="e")), DONE,
    ),
    "notebook": (
        LOOK_A, says(step("look", q=big("b"), thought="b it is")), says("hm"), says(step("lok", q="c")),
        says(step("look", q="d") + step("look", q="x")), WINDOW,
        says(step("submit_diagnosis", mechanism="m", root_cause_entity="e-0badbad0")), DONE,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("killed_after", range(8))
def test_a_resumed_investigation_is_the_same_in_every_mode(name: str, killed_after: int):
    """Wherever it stopped, also before and after room was made, a replay ends in the same trace."""
    script = SCRIPTS[name]
    journal: list[JournalEntry] = []
    whole, _ = play_in(mode_of(name), *script, journal=journal)
    assert whole.stop_reason == "submitted"
    assert whole.counts["room_made"] == 1
    replies = [line for line in script if line is not WINDOW]
    assert len(journal) == len(replies) == 7
    kept = [JournalEntry.from_json(one.to_json()) for one in journal[:killed_after]]
    rest = script[killed_after:] if killed_after < 6 else script[killed_after + 1 :]
    again: list[JournalEntry] = []
    resumed, model = play_in(
        mode_of(name), *(rest or (AssertionError("nothing is left"),)), resume=kept, journal=again
    )
    assert len(model.asked) == len(rest)
    assert [one.asked for one in again] == [one.asked for one in journal[killed_after:]]
    quiet = [replace(trace, seconds=0.0, steps=()) for trace in (whole, resumed)]
    assert quiet[0] == quiet[1]
    assert [replace(one, seconds=0) for one in whole.steps] == [
        replace(one, seconds=0) for one in resumed.steps
    ]


@pytest.mark.parametrize("name", ALL)
def test_a_journal_of_another_mode_is_refused(name: str):
    """What was asked in one mode is no answer in another."""
    journal: list[JournalEntry] = []
    play_in(mode_of(name), *SCRIPTS[name], journal=journal)
    other = ALL[ALL.index(name) - 1]
    with pytest.raises(StoreError, match="another conversation"):
        play_in(mode_of(other), DONE, resume=journal)


def test_an_unknown_mode_is_a_config_error():
    """A mode that does not exist names those that do."""
    with pytest.raises(ConfigError, match="tools, json or notebook"):
        mode_of("telepathy")


def fenced(tool: str, /, **arguments: Any) -> wire.Reply:
    """A served reply with prose and a fence, as small models write it."""
    return wire.text(f"I will call it.\n```json\n{step(tool, **arguments)}\n```\n")


def served(mode: Any, *replies: wire.Reply, times: int = 1) -> tuple[list[Trace], list[wire.Asked]]:
    """Investigations one after the other against a real server."""

    async def main(url: str) -> list[Trace]:
        bounds = Bounds(first_delay=0.01)
        async with open_client("openai/gpt-5@low", base_url=url, bounds=bounds) as client:
            return [
                await investigate(
                    INCIDENT, BRAIN, client, Toy(), model="openai/gpt-5@low", limits=LIMITS, seed=1,
                    mode=mode,
                )
                for _ in range(times)
            ]  # fmt: skip

    with wire.WireServer(*replies) as server:
        return asyncio.run(main(server.url)), server.requests


@pytest.mark.parametrize("name", PAPER)
def test_steps_over_the_wire(name: str):
    """A real server is asked with a schema and without tools; fences, prose and cuts are borne."""
    replies = (
        fenced("look", q="a"),
        wire.text('{"thought": "and so on and', finish="length"),
        wire.text(""),
        wire.text(step("look", since="yesterday", until=None)),
        wire.status(429),
        wire.text(step("submit_diagnosis", mechanism="m")),
    )
    (trace,), asked = served(mode_of(name), *replies)
    assert (trace.stop_reason, trace.calls) == ("submitted", 5)
    assert trace.counts == {"silent": 2, "cut_off": 1}
    for one in asked:
        assert "tools" not in one.body
        assert one.body["response_format"]["json_schema"]["schema"]["required"]


@pytest.mark.parametrize("name", PAPER)
@pytest.mark.parametrize("code", [400, 422])
def test_a_server_that_refuses_a_schema_is_asked_without_and_remembered(name: str, code: int):
    """The same conversation goes on in fences, and the run's next investigation begins that way."""
    refused = wire.status(code, message="response_format is not supported")
    replies = (refused, fenced("look", q="a"), fenced("submit_diagnosis", mechanism="m"))
    traces, asked = served(mode_of(name), *replies, *replies[1:], times=2)
    assert [trace.stop_reason for trace in traces] == ["submitted", "submitted"]
    assert ["response_format" in one.body for one in asked] == [True, *[False] * 4]
    assert asked[0].body["messages"] == asked[1].body["messages"]
    assert traces[0].calls == traces[1].calls == 2


def test_a_request_that_is_refused_either_way_is_the_providers():
    """What is refused without a schema as well is no matter of the schema, and raised."""
    mode = mode_of("json")
    with pytest.raises(RequestRefused):
        served(mode, wire.status(400, message="model is gone"))
    assert not mode.formats.no_schema
    with pytest.raises(ProviderRefused) as caught:
        served(mode, wire.status(401))
    assert not isinstance(caught.value, RequestRefused)


@pytest.mark.parametrize("name", PAPER)
def test_a_model_that_repeats_itself_is_stopped(name: str):
    """The weak model's favourite: the same call until the limit, ended after five of them."""
    (trace,), asked = served(mode_of(name), fenced("look", q="a"))
    assert (trace.stop_reason, len(asked)) == ("loop", 6)
    assert trace.counts == {"repeated": 3}


@pytest.mark.parametrize("name", PAPER)
def test_usage_is_booked_in_every_mode(name: str):
    """Tokens and price are those of all requests."""
    trace, _ = play_in(mode_of(name), LOOK_A, says(DONE.text, usage=Usage(50, 5), usd=0.5))
    assert (trace.input_tokens, trace.output_tokens, trace.usd) == (150, 15, pytest.approx(0.51))


def test_a_notebook_can_be_written_again_from_its_trace():
    """Every page that was asked with is rebuilt from the stored conversation and steps alone."""
    options = NotebookOptions(tokens=1_000)
    lines = [says(step("look", q=q * 500, thought=f"try {q}")) for q in "abcdefgh"]
    lines += [says("hm"), lines[0], WINDOW, says(step("look", q="z") + step("look", q="y")), DONE]
    trace, model = play_in(NotebookMode(options), *lines, limits=Limits(max_steps=11))
    asked = [request.messages[1]["content"] for request in model.asked]
    del asked[10]  # The one that did not fit.
    assert [f"{INCIDENT.alert}\n\n{page}" for page in pages(trace, 11, options)] == asked
