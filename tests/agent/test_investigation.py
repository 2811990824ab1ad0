"""The agent loop: how an investigation goes, how it ends, and what is nobody's answer."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from tests.agent.toy import (
    BRAIN,
    INCIDENT,
    LIMITS,
    SKILLED,
    Toy,
    look,
    play,
    says,
    submit,
)
from tests.llm import wire

from heldout.agent import JournalEntry, SandboxFailure, Trace, investigate
from heldout.agent.prompt import HARNESS, LAST_CHANCE, NUDGE
from heldout.errors import (
    ConfigError,
    ProviderFiltered,
    ProviderUnavailable,
    StoreError,
    WorldError,
)
from heldout.interface import Submission
from heldout.llm import Bounds, ContextExceeded, ModelRequest, Usage, open_client
from heldout.run.plan import Limits


def roles(trace: Trace) -> list[str]:
    """The roles of the conversation, in order."""
    return [message["role"] for message in trace.messages]


def test_an_investigation_looks_and_submits():
    """Brain and alert go in, tool answers come back, the submission is the trace's."""
    toy = Toy()
    trace, model = play(look("a"), look("b"), submit("the pool"), toy=toy)
    assert trace.stop_reason == "submitted"
    assert trace.submission == Submission(mechanism="the pool")
    assert trace.submission.complete
    assert roles(trace) == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
        "tool",
    ]
    assert trace.messages[0]["content"].startswith("Look before you answer.")
    assert trace.messages[0]["content"].endswith(HARNESS)
    assert trace.messages[1]["content"] == INCIDENT.alert
    assert [(step.tool, step.args) for step in trace.steps[:2]] == [
        ("look", {"q": "a"}),
        ("look", {"q": "b"}),
    ]
    assert trace.steps[0].shown_ids == ("e-1",)
    assert (trace.calls, trace.input_tokens, trace.cached_tokens, trace.output_tokens) == (
        3,
        300,
        120,
        30,
    )
    assert trace.usd == pytest.approx(0.03)
    assert trace.served_model == "toy-1"
    assert {request.seed for request in model.asked} == {5}
    assert toy.sessions[0].closed


def test_several_calls_in_one_reply_all_run():
    """Each call of a turn is run in order and answered under its id."""
    trace, _ = play(says("", ("look", '{"q":"a"}'), ("look", '{"q":"b"}')), submit())
    tools = [message for message in trace.messages if message["role"] == "tool"]
    assert [message["tool_call_id"] for message in tools] == ["call_0", "call_1", "call_0"]
    assert len(trace.steps) == 3


def test_nothing_runs_after_the_submission():
    """Calls behind the submitting one in the same reply are not run."""
    toy = Toy()
    play(says("", ("submit_diagnosis", '{"mechanism":"m"}'), ("look", "{}")), toy=toy)
    assert [tool for tool, _ in toy.sessions[0].calls] == ["submit_diagnosis"]


@pytest.mark.parametrize(
    ("name", "arguments", "kind"),
    [
        ("look", "{oops", "malformed_arguments"),
        ("look", "[1]", "malformed_arguments"),
        ("look", '{"q": NaN}', "malformed_arguments"),
        ("look", '{"q":"\\ud800"}', "malformed_arguments"),
        ("lok", "{}", "unknown_tool"),
        ("rm -rf /\x1b[2J", "{}", "unknown_tool"),
    ],
)
def test_a_malformed_call_is_told_and_bounded(name: str, arguments: str, kind: str):
    """The model reads a typed error and may mend it; four in a row end it."""
    trace, _ = play(says("", (name, arguments)), submit())
    assert trace.stop_reason == "submitted"
    assert json.loads(trace.steps[0].answer)["error"]["type"] == kind
    assert trace.steps[0].is_error
    trace, model = play(says("", (name, arguments)))
    assert trace.stop_reason == "malformed"
    assert len(model.asked) == 4
    assert trace.submission == Submission(complete=False)


def test_malformed_arguments_go_back_as_json():
    """Servers refuse a conversation in which an earlier call's arguments cannot be read."""
    trace, model = play(says("", ("look", "{oops" * 500), ("look", "")), submit())
    first, second = model.asked[1].messages[2]["tool_calls"]
    assert json.loads(first["function"]["arguments"])["not JSON"].startswith("{oops")
    assert len(first["function"]["arguments"]) < 600
    assert second["function"]["arguments"] == "{}"
    assert json.loads(trace.steps[0].answer)["error"]["type"] == "malformed_arguments"


def test_a_good_call_between_malformed_ones_starts_the_count_anew():
    """Only malformed calls in a row count."""
    bad = says("", ("look", "{"))
    trace, _ = play(bad, bad, bad, look(), bad, bad, bad, submit())
    assert trace.stop_reason == "submitted"


def test_an_unknown_tool_gets_near_names():
    """A misspelt tool is answered with what it may have meant."""
    trace, _ = play(says("", ("lookk", "{}")), submit())
    assert json.loads(trace.steps[0].answer)["error"]["near"] == ["look"]


def test_a_call_that_was_cut_off_is_told_so():
    """Half a call at the output limit is answered with how to go on."""
    trace, _ = play(says("", ("look", '{"q'), finish_reason="length"), submit())
    assert "cut off" in trace.steps[0].answer


def test_empty_arguments_are_no_arguments():
    """Some servers send an empty string for a call without arguments."""
    toy = Toy()
    play(says("", ("look", "")), submit(), toy=toy)
    assert toy.sessions[0].calls[0] == ("look", {})


def test_an_identical_call_is_refused_and_then_ends_it():
    """The third same call is not run, the fifth ends the investigation after a last chance."""
    toy = Toy()
    trace, model = play(look("same"), toy=toy)
    assert trace.stop_reason == "loop"
    assert len(toy.sessions[0].calls) == 2
    assert json.loads(trace.steps[2].answer)["error"]["type"] == "repeated_call"
    assert len(model.asked) == 6
    assert [tool["function"]["name"] for tool in model.asked[-1].tools] == ["submit_diagnosis"]


def test_the_order_of_arguments_does_not_hide_a_repeat():
    """The same arguments in another order are the same call; other arguments are not."""
    one, other = '{"q":"a","r":1}', '{"r":1,"q":"a"}'
    trace, _ = play(
        says("", ("look", one)), says("", ("look", other)), says("", ("look", one)), submit()
    )
    assert [step.is_error for step in trace.steps] == [False, False, True, False]


def test_text_without_a_call_gets_one_nudge():
    """Words alone are answered with a reminder; words again end it."""
    trace, _ = play(says("I think"), submit())
    assert trace.stop_reason == "submitted"
    assert trace.messages[3] == {"role": "user", "content": NUDGE}
    trace, model = play(says("I am sure it is DNS"))
    assert trace.stop_reason == "no_submission"
    assert len(model.asked) == 2
    assert "DNS" in trace.detail


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"name": "look", "arguments": {"q": "a"}}\n```',
        'First I look.\n```\n{"name": "look", "parameters": {"q": "a"}}\n```\nThen more.',
        '<tool_call>\n{"name": "look", "arguments": {"q": "a"}}\n</tool_call>',
        '{"name": "look", "arguments": {"q": "a"}}',
    ],
)
def test_a_call_written_as_text_counts(text: str):
    """Models without native calls are understood when they write exactly one call."""
    trace, _ = play(says(text), submit())
    assert trace.steps[0].tool == "look"
    assert trace.steps[0].args == {"q": "a"}


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"name": "nope", "arguments": {}}\n```',
        '```json\n{"name": "look", "arguments": "x"}\n```',
        '```json\n{"name": "look"}\n```',
        "```json\n[]\n```",
        "```json\n" + "[" * 15_000 + "\n```",
        '```\n{"name":"look","arguments":{}}\n```\n```\n{"name":"look","arguments":{"q":"2"}}\n```',
        'I would call {"name": "look", "arguments": {}} next',
    ],
)
def test_other_text_is_not_taken_for_a_call(text: str):
    """What is no single call of an offered tool is text."""
    trace, _ = play(says(text), submit())
    assert [step.tool for step in trace.steps] == ["submit_diagnosis"]


def test_a_refusal_ends_it_as_the_models_own():
    """A refusal is a stop reason that is judged."""
    trace, _ = play(look(), says("", refusal="I cannot help with that."))
    assert (trace.stop_reason, trace.detail) == ("refused", "I cannot help with that.")
    assert not trace.submission.complete


LIMITED = [
    (Limits(max_steps=2), "max_steps"),
    (Limits(max_tokens=220), "max_tokens"),
    (Limits(max_seconds=2.0), "max_seconds"),
    (Limits(max_usd=0.02), "max_usd"),
]


@pytest.mark.parametrize(("limits", "reason"), LIMITED)
def test_a_limit_gives_one_last_chance(limits: Limits, reason: str):
    """After two calls the limit is reached; only the submitting tool is left, and it counts."""

    def last(request: ModelRequest) -> Any:
        assert request.messages[-1]["content"] == LAST_CHANCE
        assert [tool["function"]["name"] for tool in request.tools] == ["submit_diagnosis"]
        return submit("late but right")

    trace, model = play(look("a"), look("b"), last, limits=limits)
    assert trace.stop_reason == reason
    assert trace.submission == Submission(mechanism="late but right", complete=False)
    assert len(model.asked) == 3


@pytest.mark.parametrize(("limits", "reason"), LIMITED)
@pytest.mark.parametrize("answer", [look("c"), says("hm")])
def test_a_wasted_last_chance_is_an_empty_incomplete_submission(
    limits: Limits, reason: str, answer: Any
):
    """What is not submitted then is not asked for again, and other tools no longer run."""
    toy = Toy()
    trace, model = play(look("a"), look("b"), answer, limits=limits, toy=toy)
    assert trace.stop_reason == reason
    assert trace.submission == Submission(complete=False)
    assert len(model.asked) == 3
    assert [tool for tool, _ in toy.sessions[0].calls].count("look") == 2


@pytest.mark.parametrize(("second", "kept"), [(submit("right after all"), "right after all"),
                                              (says("", ("submit_diagnosis", "{}")), "")])  # fmt: skip
def test_a_last_submission_that_was_refused_may_be_mended_once(second: Any, kept: str):
    """A misspelt argument costs no answer, and a second one ends it."""
    refused = says("", ("submit_diagnosis", '{"mechansm": "m"}'))
    trace, model = play(look("a"), look("b"), refused, second, limits=Limits(max_steps=2))
    assert trace.stop_reason == "max_steps"
    assert trace.submission == Submission(mechanism=kept, complete=False)
    assert len(model.asked) == 4
    assert model.asked[3].messages[-1]["content"] == LAST_CHANCE
    assert "missing_argument" in model.asked[3].messages[-2]["content"]


def test_calls_beyond_the_limit_of_steps_do_not_run():
    """A turn with more calls than are left runs only so many, and answers the others."""
    toy = Toy()
    turn = says("", *(("look", json.dumps({"q": str(i)})) for i in range(5)))
    trace, _ = play(turn, submit(), limits=Limits(max_steps=2), toy=toy)
    assert len([tool for tool, _ in toy.sessions[0].calls if tool == "look"]) == 2
    tools = [message["content"] for message in trace.messages if message["role"] == "tool"]
    assert [json.loads(text).get("error", {}).get("type") for text in tools[2:5]] == [
        "limit_reached"
    ] * 3


def test_a_cap_in_usd_needs_a_price():
    """A cap that cannot be held is an error of the configuration, not silently ignored."""
    with pytest.raises(ConfigError, match="max_usd"):
        play(look(usd=None), limits=Limits(max_usd=1.0))


def test_an_unknown_price_stays_unknown():
    """One reply without a price makes the whole cost unknown, never smaller."""
    trace, _ = play(look(), look("b", usd=None), submit())
    assert trace.usd is None


def test_a_full_context_is_a_limit_of_the_agent():
    """Overrunning the model's window is judged; the provider is not to blame."""
    trace, _ = play(look(), ContextExceeded("too long"))
    assert trace.stop_reason == "max_tokens"
    assert not trace.submission.complete


@pytest.mark.parametrize("error", [ProviderFiltered("no"), ProviderUnavailable("down")])
def test_failures_of_the_provider_are_raised(error: Exception):
    """They make the investigation invalid, with the session closed."""
    toy = Toy()
    with pytest.raises(type(error)):
        play(look(), error, toy=toy)
    assert toy.sessions[0].closed


def test_a_broken_environment_is_a_sandbox_failure():
    """An exception out of a session is not booked on the agent, and keeps its cause."""
    for toy in (Toy(broken=ZeroDivisionError("boom")), Toy(refuses_to_open=OSError("gone"))):
        with pytest.raises(SandboxFailure, match=r"boom|gone") as caught:
            play(look(), submit(), toy=toy)
        assert caught.value.reason == "sandbox"
    with pytest.raises(WorldError, match="altered"):
        play(look(), toy=Toy(broken=WorldError("altered")))


def test_served_models_are_all_named():
    """A provider that changes the model half-way is seen in the trace."""
    trace, _ = play(look(), submit(served_model="toy-2"))
    assert trace.served_model == "toy-1, toy-2"


def test_estimated_usage_is_told():
    """Counts that are estimates say so in the trace."""
    trace, _ = play(submit(usage=Usage(10, 10, estimated=True), usd=None))
    assert "estimates" in trace.detail


def test_skills_are_read_on_demand():
    """A brain with skills on demand offers a tool for them; another brain does not."""
    trace, model = play(
        says("", ("read_skill", '{"name":"fleet"}')),
        says("", ("read_skill", '{"name":"flet"}')),
        submit(),
        brain=SKILLED,
    )
    assert json.loads(trace.steps[0].answer) == {
        "name": "fleet",
        "text": "Compare the failing with a healthy one.",
    }
    assert json.loads(trace.steps[1].answer)["error"] == {
        "type": "unknown_skill", "message": "there is no skill of this name", "near": ["fleet"],
    }  # fmt: skip
    assert "fleet: compare siblings" in trace.messages[0]["content"]
    assert [tool["function"]["name"] for tool in model.asked[0].tools][-1] == "read_skill"
    _, model = play(submit())
    assert "read_skill" not in [tool["function"]["name"] for tool in model.asked[0].tools]


def test_messages_are_appended_and_never_rebuilt():
    """Every request begins with all of the one before it."""
    _, model = play(look("a"), says("hm"), look("b"), submit())
    for earlier, later in zip(model.asked, model.asked[1:], strict=False):
        assert list(later.messages)[: len(earlier.messages)] == list(earlier.messages)


LINES = (look("a"), says("hm"), says("", ("look", "{")), look("b"), submit("done"))


@pytest.mark.parametrize("killed_after", range(len(LINES) + 1))
def test_a_resumed_investigation_pays_for_nothing_twice(killed_after: int):
    """Wherever it stopped, a replay asks only for what is missing and ends in the same trace."""
    journal: list[JournalEntry] = []
    whole, _ = play(*LINES, journal=journal)
    assert len(journal) == len(LINES)
    kept = [JournalEntry.from_json(entry.to_json()) for entry in journal[:killed_after]]
    rest: list[JournalEntry] = []
    resumed, model = play(
        *(LINES[killed_after:] or (AssertionError("nothing is left to ask"),)),
        resume=kept,
        journal=rest,
    )
    assert len(model.asked) == len(LINES) - killed_after
    assert [entry.index for entry in rest] == list(range(killed_after, len(LINES)))
    assert [entry.asked for entry in rest] == [entry.asked for entry in journal[killed_after:]]
    assert resumed.messages == whole.messages
    assert resumed.submission == whole.submission
    assert (resumed.calls, resumed.usd, resumed.input_tokens) == (
        whole.calls,
        whole.usd,
        whole.input_tokens,
    )
    assert [(s.tool, s.args, s.answer) for s in resumed.steps] == [
        (s.tool, s.args, s.answer) for s in whole.steps
    ]


def test_a_time_limit_is_replayed_as_it_was():
    """Whether the limit was reached is read from the journal, not measured again."""
    journal: list[JournalEntry] = []
    limits = Limits(max_seconds=2.0)
    whole, _ = play(look("a"), look("b"), submit(), limits=limits, journal=journal)
    resumed, model = play(AssertionError("all is recorded"), limits=limits, resume=journal)
    assert not model.asked
    assert resumed.stop_reason == whole.stop_reason == "max_seconds"


def test_a_journal_of_another_conversation_is_refused():
    """Another brain or seed is noticed before anything is replayed."""
    journal: list[JournalEntry] = []
    play(look("a"), submit(), journal=journal)
    with pytest.raises(StoreError, match="another conversation"):
        play(submit(), resume=journal, brain=SKILLED)
    with pytest.raises(StoreError, match="another conversation"):
        play(submit(), resume=journal, seed=6)
    with pytest.raises(StoreError, match="another conversation"):
        play(submit(), resume=journal[1:])


def test_a_journal_line_that_is_none_is_refused():
    """A half-written or foreign line is a store error, not a crash."""
    journal: list[JournalEntry] = []
    play(submit(), journal=journal)
    line = journal[0].to_json()
    assert JournalEntry.from_json(line) == journal[0]
    for broken in (
        line[:-5],
        "",
        "[]",
        "{}",
        '{"index":0,"asked":"x","elapsed":0,"reply":{}}',
        "[" * 100_000,
        b"\xff",
    ):
        with pytest.raises(StoreError):
            JournalEntry.from_json(broken)


def test_the_loop_runs_over_the_wire():
    """The same loop against a real server: calls, a 429 between, a submission."""

    async def main(url: str) -> Trace:
        async with open_client(
            "openai/gpt-5@low", base_url=url, bounds=Bounds(first_delay=0.01)
        ) as client:
            return await investigate(
                INCIDENT, BRAIN, client, Toy(), model="openai/gpt-5@low", limits=LIMITS, seed=1
            )

    replies = (
        wire.call("look", q="a"),
        wire.status(429),
        wire.calls(("look", "{")),
        wire.call("submit_diagnosis", mechanism="m"),
    )
    with wire.WireServer(*replies) as server:
        trace = asyncio.run(main(server.url))
        assert trace.stop_reason == "submitted"
        assert trace.calls == 3
        assert len(server.requests) == 4
        last = server.requests[-1].body["messages"]
        assert last[2]["tool_calls"][0]["function"]["name"] == "look"
        assert last[3]["role"] == "tool"
