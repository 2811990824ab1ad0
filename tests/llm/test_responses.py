"""The Responses wire: what is sent, what becomes of each answer, and reasoning kept over turns."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from openai.types.responses import Response
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from pydantic import TypeAdapter
from tests.llm import responses, wire

from heldout.errors import (
    ConfigError,
    ProviderError,
    ProviderFiltered,
    ProviderProtocol,
    ProviderRefused,
    ProviderUnavailable,
)
from heldout.llm import Bounds, ContextExceeded, ModelReply, ModelRequest, open_client
from heldout.llm.messages import KEPT, without_kept
from heldout.llm.wires import wire_named

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
HELLO = {"role": "user", "content": "hello"}
TOOL = {
    "type": "function",
    "function": {"name": "look", "description": "Look.", "parameters": {"type": "object"}},
}


def ask(
    *replies: wire.Reply, request: ModelRequest | None = None, model: str = "openai/gpt-5@low"
) -> tuple[ModelReply, wire.WireServer]:
    """One call against a server with these replies."""
    bounds = Bounds(first_delay=0.01, longest_delay=0.02)

    async def main(url: str) -> ModelReply:
        async with open_client(model, base_url=url, bounds=bounds, wire="responses") as client:
            return await client.complete(request or ModelRequest((HELLO,)))

    with wire.WireServer(*replies) as server:
        return asyncio.run(main(server.url)), server


def fails(kind: type[ProviderError], *replies: wire.Reply) -> str:
    """The message of the error that these replies end in."""
    with pytest.raises(kind) as caught:
        ask(*replies)
    assert type(caught.value) is kind or kind is ProviderRefused
    return str(caught.value)


def test_the_test_answers_are_what_the_sdk_reads():
    """The items that these tests answer with are those of the openai SDK's own types."""
    data = responses.answer(
        responses.reasoning(), responses.message("hi"), responses.function_call("look", "{}")
    )
    parsed = Response.model_validate(data)
    assert [item.type for item in parsed.output] == ["reasoning", "message", "function_call"]
    assert parsed.output_text == "hi"
    assert parsed.usage is not None
    assert parsed.usage.output_tokens_details.reasoning_tokens == 4


def test_a_request_carries_everything_and_a_reply_is_booked():
    """Messages, tools, effort, limit and schema go out in this wire's words; nothing is stored."""
    request = ModelRequest(
        ({"role": "system", "content": "rules"}, HELLO),
        (TOOL,),
        seed=7,
        max_output_tokens=50,
        response_schema=SCHEMA,
        tool_choice="look",
    )
    reply, server = ask(responses.text("hi", model="gpt-5-2025-08-07"), request=request)
    asked = server.requests[0]
    assert asked.path == "/v1/responses"
    assert asked.body == {
        "model": "gpt-5",
        "input": [
            {"type": "message", "role": "system", "content": "rules"},
            {"type": "message", "role": "user", "content": "hello"},
        ],
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "tools": [
            {
                "type": "function",
                "name": "look",
                "description": "Look.",
                "parameters": {"type": "object"},
                "strict": False,
            }
        ],
        "tool_choice": {"type": "function", "name": "look"},
        "reasoning": {"effort": "low"},
        "max_output_tokens": 50,
        "text": {
            "format": {
                "type": "json_schema",
                "name": "answer",
                "strict": True,
                "schema": SCHEMA,
            }
        },
    }
    TypeAdapter(ResponseCreateParamsNonStreaming).validate_python(asked.body)
    assert (reply.text, reply.finish_reason, reply.kept) == ("hi", "stop", ())
    assert reply.served_model == "gpt-5-2025-08-07"
    usage = reply.usage
    assert (usage.input_tokens, usage.output_tokens) == (100, 10)
    assert (usage.cached_tokens, usage.reasoning_tokens, usage.estimated) == (40, 4, False)
    assert reply.usd == pytest.approx((60 * 1.25 + 40 * 0.125 + 10 * 10) / 1e6)


def test_reasoning_is_sent_back_over_turns_without_a_store():
    """Reasoning and calls of the first turn stand word for word in the second, with the result."""
    thought, wanted = responses.reasoning(), responses.function_call("look", '{"x": 1}')
    bounds = Bounds(first_delay=0.01)

    async def main(url: str) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = [dict(HELLO)]
        async with open_client("openai/m", base_url=url, bounds=bounds, wire="responses") as client:
            reply = await client.complete(ModelRequest(messages, (TOOL,)))
            # Through a journal and back, as a resumed investigation has it.
            reply = ModelReply.from_plain(json.loads(json.dumps(reply.plain())))
            messages.append(reply.message())
            assert reply.tool_calls[0].arguments == '{"x": 1}'
            messages.append({"role": "tool", "tool_call_id": "call_a", "content": "seen"})
            await client.complete(ModelRequest(messages, (TOOL,)))
        return messages

    with wire.WireServer(responses.says(thought, wanted), responses.text("done")) as server:
        messages = asyncio.run(main(server.url))
    assert server.requests[1].body["input"] == [
        {"type": "message", "role": "user", "content": "hello"},
        {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAAA="},
        wanted,
        {"type": "function_call_output", "call_id": "call_a", "output": "seen"},
    ]
    assert [item["type"] for item in messages[1][KEPT]] == ["reasoning", "function_call"]
    shown = without_kept(messages[1])
    assert "gAAAA=" not in json.dumps(shown)
    assert shown["tool_calls"][0]["function"]["name"] == "look"


def test_chat_completions_never_sends_what_responses_keeps():
    """A conversation that goes on over the other wire carries no foreign key."""
    kept = ModelReply(text="a", kept=(responses.reasoning(),)).message()
    sent = json.loads(
        wire_named("chat").encode(open_client("sim/anchored").model, ModelRequest((HELLO, kept)))
    )
    assert sent["messages"] == [HELLO, {"role": "assistant", "content": "a"}]
    assert KEPT in kept


def test_reasoning_that_cannot_be_sent_back_is_dropped():
    """Without content, or with nothing after it, an item is only a name that the provider forgot."""
    bare = responses.reasoning(secret=None)
    wanted = responses.function_call("look", "{}")
    reply, _ = ask(responses.says(bare, wanted))
    assert reply.kept == ()
    reply, _ = ask(responses.says(responses.reasoning(1), wanted, responses.reasoning(2)))
    assert [item["type"] for item in reply.kept] == ["reasoning", "function_call"]
    assert "id" not in reply.kept[1]
    reply, _ = ask(responses.cut("max_output_tokens", responses.reasoning()))
    assert (reply.kept, reply.finish_reason, reply.text) == ((), "length", "")


def test_a_phase_is_kept():
    """A message that says which phase it belongs to is sent back as it came."""
    reply, _ = ask(responses.says(responses.message("looking", phase="commentary")))
    assert reply.kept[0]["phase"] == "commentary"
    sent = json.loads(
        wire_named("responses").encode(
            open_client("sim/anchored").model, ModelRequest((reply.message(),))
        )
    )
    assert sent["input"] == list(reply.kept)


def test_calls_that_the_harness_read_from_text_are_sent_as_calls():
    """A call that stands in no kept item is translated beside them; odd ids are made usable."""
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "t", "type": "function", "function": {"name": "n", "arguments": ""}}],
        KEPT: [responses.reasoning(), responses.message("call n")],
    }
    sent = json.loads(
        wire_named("responses").encode(open_client("sim/anchored").model, ModelRequest((message,)))
    )
    assert [item["type"] for item in sent["input"]] == ["reasoning", "message", "function_call"]
    assert sent["input"][2] == {
        "type": "function_call",
        "call_id": "t",
        "name": "n",
        "arguments": "",
    }
    twice = responses.function_call("look", "{}")
    odd = {**twice, "call_id": None, "arguments": {"x": 1}}
    reply, _ = ask(responses.says(responses.reasoning(), twice, twice, odd))
    ids = [call.id for call in reply.tool_calls]
    assert len(set(ids)) == 3
    assert json.loads(reply.tool_calls[2].arguments) == {"x": 1}
    assert [item["call_id"] for item in reply.kept[1:]] == ids


def test_a_model_without_reasoning_is_asked_without_it():
    """A refusal to encrypt reasoning is answered by asking without, from then on."""

    async def main(url: str) -> None:
        async with open_client("openai/plain", base_url=url, wire="responses") as client:
            for _ in range(2):
                assert (await client.complete(ModelRequest((HELLO,)))).text == "hi"

    no = wire.status(400, message="Encrypted content is not supported with this model.")
    with wire.WireServer(no, responses.text("hi")) as server:
        asyncio.run(main(server.url))
    assert ["include" in asked.body for asked in server.requests] == [True, False, False]
    assert "not supported" in fails(ProviderRefused, no)


def test_a_cut_answer_is_told_by_its_reason():
    """At the output limit what there is comes back; what a filter cut is no answer."""
    reply, _ = ask(responses.cut("max_output_tokens", responses.message("half a")))
    assert (reply.text, reply.finish_reason) == ("half a", "length")
    fails(ProviderFiltered, responses.cut("content_filter", responses.message("half a")))


def test_the_models_own_refusal_is_a_reply():
    """A refusal part is returned, to be judged."""
    reply, _ = ask(responses.says(responses.refusal("I will not.")))
    assert (reply.refusal, reply.text) == ("I will not.", "")
    assert reply.message()["content"] == "I will not."


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("rate_limit_exceeded", ProviderUnavailable),
        ("server_error", ProviderUnavailable),
        ("bio_policy", ProviderFiltered),
        ("invalid_prompt", ProviderFiltered),
        ("context_length_exceeded", ContextExceeded),
        ("invalid_image", ProviderRefused),
    ],
)
def test_a_failed_response_is_told_by_its_code(code: str, kind: type[ProviderError]):
    """A failure inside a 200 means what the same failure means as a status."""
    assert "sorry" in fails(kind, responses.failed(code, "sorry"))


def test_a_failed_response_may_pass():
    """A failure of the server is tried again."""
    reply, server = ask(responses.failed("server_error"), responses.text("hi"))
    assert (reply.text, reply.attempts, len(server.requests)) == ("hi", 2, 2)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"output": None},
        {"output": []},
        {"output": [None]},
        {"output": [{"type": "function_call", "call_id": "a"}]},
        responses.answer(responses.message("x"), status="in_progress"),
        wire.completion({"content": "the other wire"}),
    ],
)
def test_answers_off_the_wire_are_a_protocol_error(data: Any):
    """Bodies without usable output are told with the wire's name."""
    assert "speaks Responses" in fails(ProviderProtocol, wire.body(data))


def test_unknown_items_are_passed_over():
    """Items of a kind that nobody asked for harm nothing and are not sent back."""
    odd = {"type": "web_search_call", "id": "ws"}
    reply, _ = ask(responses.says(odd, responses.message("hi")))
    assert (reply.text, reply.kept) == ("hi", ())


def test_a_simulated_model_is_asked_over_chat_only():
    """The other wire for a model in this process is a mistake worth telling; so is an unknown one."""
    with pytest.raises(ConfigError, match="'chat' only"):
        open_client("sim/anchored", wire="responses")
    with pytest.raises(ConfigError, match="Did you mean 'responses'"):
        wire_named("response")
