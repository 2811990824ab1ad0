"""The client against a real server on loopback: what it sends, and what becomes of each answer."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from typing import Any

import pytest
from tests.llm import wire

from heldout.errors import (
    ProviderError,
    ProviderFiltered,
    ProviderProtocol,
    ProviderRefused,
    ProviderUnavailable,
)
from heldout.llm import Bounds, ContextExceeded, ModelReply, ModelRequest, open_client
from heldout.llm.limiter import limiter_for

FAST = {"first_delay": 0.01, "longest_delay": 0.02}
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
HELLO = ModelRequest(({"role": "user", "content": "hello"},))
SECRET = "sk-test-0123456789abcdef"


def ask(
    *replies: wire.Reply,
    request: ModelRequest = HELLO,
    model: str = "openai/gpt-5@low",
    **bounds: Any,
) -> tuple[ModelReply, wire.WireServer]:
    """One call against a server with these replies."""

    async def main(url: str) -> ModelReply:
        async with open_client(model, base_url=url, bounds=Bounds(**{**FAST, **bounds})) as client:
            return await client.complete(request)

    with wire.WireServer(*replies) as server:
        try:
            return asyncio.run(main(server.url)), server
        except ProviderError as error:
            error.add_note(str(len(server.requests)))
            raise


def fails(kind: type[ProviderError], *replies: wire.Reply, tries: int, **bounds: Any) -> str:
    """The message of the error that these replies end in, after ``tries`` requests."""
    with pytest.raises(kind) as caught:
        ask(*replies, **bounds)
    assert caught.value.__notes__ == [str(tries)]
    return str(caught.value)


def test_a_request_carries_everything_and_a_reply_is_booked():
    """Messages, tools, seed, effort, limit and schema go out; text, usage, price and name return."""
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    request = ModelRequest(
        HELLO.messages,
        (tool,),
        seed=7,
        max_output_tokens=50,
        response_schema=SCHEMA,
        tool_choice="look",
    )
    reply, server = ask(wire.text("hi", model="gpt-5-2025-08-07"), request=request)
    asked = server.requests[0]
    assert asked.path == "/v1/chat/completions"
    assert asked.body == {
        "model": "gpt-5",
        "messages": [{"role": "user", "content": "hello"}],
        "tools": [tool],
        "tool_choice": {"type": "function", "function": {"name": "look"}},
        "seed": 7,
        "reasoning_effort": "low",
        "max_completion_tokens": 50,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
        },
    }
    assert asked.headers["authorization"] == "Bearer none"
    assert (reply.text, reply.finish_reason, reply.attempts) == ("hi", "stop", 1)
    assert reply.served_model == "gpt-5-2025-08-07"
    usage = reply.usage
    assert (usage.input_tokens, usage.output_tokens) == (100, 10)
    assert (usage.cached_tokens, usage.reasoning_tokens, usage.estimated) == (40, 4, False)
    assert reply.usd == pytest.approx((60 * 1.25 + 40 * 0.125 + 10 * 10) / 1e6)
    assert reply.seconds > 0


def test_a_name_without_effort_sends_none():
    """No effort in the name, no ``reasoning_effort`` in the request."""
    _, server = ask(wire.text("hi"), model="openai/gpt-5")
    assert set(server.requests[0].body) == {"model", "messages"}


def test_tool_calls_come_back_as_the_model_wrote_them():
    """Several calls in one reply, arguments that are not JSON included, keep order and text."""
    reply, _ = ask(wire.calls(("look", '{"x": 1}'), ("look", "{oops")))
    assert [(call.id, call.arguments) for call in reply.tool_calls] == [
        ("call_0", '{"x": 1}'),
        ("call_1", "{oops"),
    ]
    assert reply.message()["tool_calls"][1]["function"]["arguments"] == "{oops"


def test_odd_but_usable_answers_are_used():
    """Argument objects, missing or double ids, content parts and lone surrogates are no failure."""
    function = {"name": "look", "arguments": {"x": 1}}
    message = {
        "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        "tool_calls": [{"function": function}, {"id": "call_0", "function": function}],
    }
    reply, _ = ask(wire.body(wire.completion(message)))
    assert reply.text == "ab"
    assert [call.id for call in reply.tool_calls] == ["call_0", "call_1"]
    assert json.loads(reply.tool_calls[0].arguments) == {"x": 1}
    reply, _ = ask(wire.body(b'{"choices":[{"message":{"content":"x\\ud800y"}}]}'))
    assert reply.text == "x?y"


def test_hostile_text_goes_out_as_utf8():
    """A lone surrogate in a tool's answer does not stop a request."""
    _, server = ask(
        wire.text("x"), request=ModelRequest(({"role": "user", "content": "a\ud800b"},))
    )
    assert server.requests[0].body["messages"][0]["content"] == "a?b"


def test_missing_usage_is_an_estimate_without_price():
    """Without usage the counts are marked as estimates and the cost is unknown, not 0."""
    reply, _ = ask(wire.text("hi", usage=None))
    assert reply.usage.estimated
    assert reply.usage.input_tokens > 0
    assert reply.usd is None
    reply, _ = ask(wire.text("hi", usage={"prompt_tokens": "many"}))
    assert reply.usage.estimated


def test_an_unknown_model_has_no_price():
    """The price of a model that is not in the table is unknown, not 0."""
    reply, _ = ask(wire.text("hi"), model="openai/unheard-of")
    assert reply.usd is None


@pytest.mark.parametrize("code", [400, 401, 403, 404, 422, 302])
def test_refusals_are_not_retried(code: int):
    """A refusal for good is told after one request, with what the server said."""
    headers = {"Location": "http://192.0.2.1/"} if code == 302 else None
    message = fails(ProviderRefused, wire.status(code, headers, message="go away"), tries=1)
    assert f"answered {code}: go away" in message


def test_an_empty_quota_is_not_retried():
    """429 for want of money is a refusal."""
    fails(ProviderRefused, wire.status(429, kind="insufficient_quota"), tries=1)


def test_a_full_context_is_an_error_of_its_own():
    """The agent overran the model's window: told apart, since it is no failure of the provider."""
    fails(ContextExceeded, wire.status(400, kind="context_length_exceeded"), tries=1)


@pytest.mark.parametrize("code", [408, 429, 500, 502, 503, 529])
def test_transient_errors_are_retried_and_bounded(code: int):
    """One failure and then an answer is an answer; failing for ever is unavailable after 3 tries."""
    reply, server = ask(wire.status(code), wire.text("hi"))
    assert (reply.attempts, len(server.requests)) == (2, 2)
    message = fails(ProviderUnavailable, wire.status(code), tries=3, attempts=3)
    assert "tried 3 times" in message


@pytest.mark.parametrize("headers", [{"Retry-After": "0.3"}, {"retry-after-ms": "300"}])
def test_retry_after_is_honoured(headers: dict[str, str]):
    """The next request comes no sooner than the server asked."""
    reply, server = ask(wire.status(429, headers), wire.text("hi"))
    assert reply.attempts == 2
    assert server.requests[1].at - server.requests[0].at >= 0.29


def test_a_retry_after_beyond_the_budget_ends_at_once():
    """An hour of waiting is not begun: the call fails now and says why."""
    message = fails(ProviderUnavailable, wire.status(429, {"Retry-After": "3600"}), tries=1)
    assert "3600 s" in message


@pytest.mark.parametrize("value", ["soon", "-5", "nan", "inf", "Wed, 21 Oct 2015 07:28:00 GMT", ""])
def test_useless_retry_after_values_fall_back_to_backoff(value: str):
    """Nonsense in the header neither crashes nor waits."""
    reply, _ = ask(wire.status(503, {"Retry-After": value}), wire.text("hi"))
    assert reply.attempts == 2


def test_the_retry_budget_in_seconds_holds():
    """No retry begins after the budget, however many tries are left."""
    fails(
        ProviderUnavailable,
        wire.status(500),
        tries=1,
        attempts=50,
        first_delay=5,
        longest_delay=5,
        retry_seconds=0.1,
    )


@pytest.mark.parametrize("reply", [wire.reset, wire.half])
def test_broken_connections_are_retried(reply: wire.Reply):
    """A reset, or a body that ends half-way, is tried again and then unavailable."""
    answer, _ = ask(reply, wire.text("hi"))
    assert answer.text == "hi"
    fails(ProviderUnavailable, reply, tries=2, attempts=2)


def test_nobody_listening_is_unavailable():
    """A closed port is told as unreachable."""
    with wire.WireServer(wire.text("x")) as server:
        url = server.url

    async def main() -> None:
        async with open_client(
            "openai/m", base_url=url, bounds=Bounds(attempts=2, **FAST)
        ) as client:
            await client.complete(HELLO)

    with pytest.raises(ProviderUnavailable, match="cannot be reached"):
        asyncio.run(main())


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b'{"choices":[{"message":{"content":"cut o',
        b"<html>gateway</html>",
        b"[]",
        b"null",
        b'{"choices":[]}',
        b'{"choices":null}',
        b'{"choices":[null]}',
        b'{"choices":[{"text":"completions wire"}]}',
        b'{"choices":[{"message":{"tool_calls":[{}]}}]}',
        b'{"choices":[{"message":{"tool_calls":{}}}]}',
        b"[" * 100_000,
        b'{"choices":NaN}',
        b"\xff\xfe\x00",
    ],
)
def test_answers_off_the_wire_are_a_protocol_error(raw: bytes):
    """Half or invalid JSON and bodies without a usable choice are asked for twice, then told."""
    fails(ProviderProtocol, wire.body(raw), tries=2)


def test_a_protocol_error_may_pass():
    """A garbled answer followed by a good one is a good one."""
    reply, _ = ask(wire.body(b"{"), wire.text("hi"))
    assert reply.text == "hi"


@pytest.mark.parametrize(
    "reply",
    [wire.text("", finish="content_filter"), wire.status(400, kind="content_filter")],
)
def test_a_filter_is_told_apart_from_a_refusal(reply: wire.Reply):
    """What a provider's filter withheld is not the model's answer and not retried."""
    fails(ProviderFiltered, reply, tries=1)


def test_the_models_own_refusal_is_a_reply():
    """A refusal in the message is returned, to be judged."""
    reply, _ = ask(wire.body(wire.completion({"content": None, "refusal": "I will not."})))
    assert reply.refusal == "I will not."


@pytest.mark.parametrize("reply", [wire.drip(0.01), wire.drip(0.0, b"x" * 4096)])
def test_an_endless_body_ends(reply: wire.Reply):
    """A byte now and then for ever meets the total time-out, a flood the cap."""
    with pytest.raises((ProviderUnavailable, ProviderProtocol)):
        ask(reply, total=0.4, attempts=1, max_bytes=1_000_000)


def test_silence_ends():
    """A server that accepts and never answers meets the read time-out."""
    fails(ProviderUnavailable, wire.silence, tries=1, read=0.2, attempts=1)


def test_a_body_beyond_the_cap_is_refused():
    """A huge answer is cut off, not read into memory, and not asked for again."""
    message = fails(ProviderProtocol, wire.body(b" " * 300_000), tries=1, max_bytes=100_000)
    assert "100000 bytes" in message


def test_the_body_of_an_error_is_read_only_so_far():
    """An endless error body is cut silently and the status still tells."""
    fails(ProviderRefused, wire.body(b"x" * 1_000_000, 400), tries=1)


def test_429_lowers_the_limit_and_answers_raise_it():
    """The shared limiter is cut by a 429 and holds fewer in flight."""

    async def main(url: str) -> None:
        async with open_client(
            "openai/cut", base_url=url, concurrency=10, bounds=Bounds(**FAST)
        ) as client:
            await client.complete(HELLO)
            assert client.limiter is limiter_for("openai", "cut", url)
            assert client.limiter.limit == pytest.approx(7.0)
            assert client.limiter.throttled == 1

    with wire.WireServer(wire.status(429), wire.text("hi")) as server:
        asyncio.run(main(server.url))


def test_concurrency_bounds_what_the_server_sees():
    """Twelve calls at a concurrency of 3 never put more than 3 on the wire."""

    async def main(url: str) -> None:
        async with open_client("openai/three", base_url=url, concurrency=3) as client:
            await asyncio.gather(*(client.complete(HELLO) for _ in range(12)))

    with wire.WireServer(wire.slow(0.01, wire.text("hi"))) as server:
        asyncio.run(main(server.url))
        assert server.peak <= 3
        assert len(server.requests) == 12


def test_one_client_serves_several_event_loops():
    """The same client works in one loop after another and closes cleanly in each."""
    with wire.WireServer(wire.text("hi")) as server:
        client = open_client("openai/loops", base_url=server.url)

        async def once(close: bool) -> str:
            reply = await client.complete(HELLO)
            if close:
                await client.aclose()
            return reply.text

        assert [asyncio.run(once(close)) for close in (True, False, False, True)] == ["hi"] * 4


def test_a_cancelled_call_frees_its_slot():
    """Cancelling a call in flight gives its slot back and closes its connection."""

    async def main(url: str) -> None:
        async with open_client("openai/cancel", base_url=url, concurrency=1) as client:
            task = asyncio.create_task(client.complete(HELLO))
            await asyncio.sleep(0.1)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert client.limiter.in_flight == 0
            assert (await client.complete(HELLO)).text == "hi"

    with wire.WireServer(wire.silence, wire.text("hi")) as server:
        asyncio.run(main(server.url))


def test_the_key_is_sent_and_never_shown(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    """The key is in the header; not in repr, error, cause or any log line, even if echoed."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    caplog.set_level(logging.DEBUG)
    shown: list[str] = []

    async def main(url: str) -> None:
        async with open_client("openai/gpt-5", base_url=url) as client:
            shown.append(repr(client) + repr(vars(client)))
            try:
                await client.complete(HELLO)
            except ProviderRefused as error:
                shown.extend(
                    (repr(error), str(error), repr(error.__cause__), repr(error.__context__))
                )

    with wire.WireServer(
        wire.status(401, message=f"Incorrect API key provided: {SECRET}")
    ) as server:
        asyncio.run(main(server.url))
        assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"
    text = "\n".join([*shown, caplog.text])
    assert "Incorrect API key provided: [key]" in text
    assert SECRET not in text


def test_openais_own_headers_go_to_openai_only(monkeypatch: pytest.MonkeyPatch):
    """Organisation and project from the environment are not sent to another host."""
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    _, server = ask(wire.text("hi"))
    assert not {"openai-organization", "openai-project"} & {
        h.lower() for h in server.requests[0].headers
    }


def test_simulated_models_run_in_process(monkeypatch: pytest.MonkeyPatch):
    """``sim/`` goes through the same client to a function, with no socket and no cost."""
    seen: list[dict[str, Any]] = []

    def handle(body: dict[str, Any]) -> dict[str, Any]:
        seen.append(body)
        return wire.completion({"content": "from here"}, model="anchored")

    monkeypatch.setattr("heldout.llm.simulated.handle", handle, raising=False)
    monkeypatch.setattr("socket.socket.connect", _no_socket)

    async def main() -> ModelReply:
        async with open_client("sim/anchored@low") as client:
            return await client.complete(ModelRequest(HELLO.messages, seed=3))

    reply = asyncio.run(main())
    assert (reply.text, reply.usd, reply.served_model) == ("from here", 0.0, "anchored")
    assert (seen[0]["model"], seen[0]["reasoning_effort"], seen[0]["seed"]) == (
        "anchored",
        "low",
        3,
    )


def _no_socket(*_: Any) -> None:
    raise AssertionError("a simulated model opened a socket")


def test_litellm_and_the_sdk_stay_out():
    """Importing the room loads no SDK, and a client loads no litellm."""
    code = (
        "import sys, heldout.llm\n"
        "assert 'openai' not in sys.modules\n"
        "heldout.llm.open_client('openai/m', base_url='http://127.0.0.1:9/v1')\n"
        "assert 'openai' in sys.modules and 'litellm' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


THOUGHT = {"reasoning_content": "The pool is full.", "reasoning_details": [{"text": "secret"}]}


def thinking(**fields: Any) -> wire.Reply:
    """A reply with one tool call and reasoning beside it."""
    function = {"name": "look", "arguments": "{}"}
    calls = [{"id": "c1", "type": "function", "function": function}]
    return wire.body(wire.completion({"content": None, "tool_calls": calls, **fields}))


def two_turns(*replies: wire.Reply) -> list[dict[str, Any]]:
    """The assistant's message as each request after the first sent it back."""

    async def main(url: str) -> None:
        async with open_client("local/thinker", base_url=url, bounds=Bounds(**FAST)) as client:
            reply = await client.complete(HELLO)
            reply = ModelReply.from_plain(json.loads(json.dumps(reply.plain())))
            answer = {"role": "tool", "tool_call_id": "c1", "content": "seen"}
            await client.complete(ModelRequest((*HELLO.messages, reply.message(), answer)))

    with wire.WireServer(*replies) as server:
        asyncio.run(main(server.url))
        return [asked.body["messages"][1] for asked in server.requests[1:]]


def test_reasoning_beside_an_answer_goes_back_in_the_next_turn():
    """Servers that demand it get it word for word; one that sent none gets none."""
    assert two_turns(thinking(**THOUGHT), wire.text("done"))[0].items() >= THOUGHT.items()
    assert two_turns(thinking(), wire.text("done"))[0].keys() == {"role", "content", "tool_calls"}


def test_reasoning_that_is_refused_is_not_sent_again():
    """An endpoint that sends reasoning and refuses it is asked without."""
    no = wire.status(400, message="property 'reasoning_content' is unsupported")
    sent = two_turns(thinking(**THOUGHT), no, wire.text("done"))
    assert ["reasoning_content" in message for message in sent] == [True, False]


def test_a_judge_that_waits_holds_no_agent_up():
    """With every slot of the judge taken by a silent answer, the agents' calls go through."""

    def answer(handler: wire.Handler) -> None:
        silent = "judge this" in str(handler.asked.body)
        (wire.silence if silent else wire.text("hi"))(handler)

    async def main(url: str) -> list[ModelReply]:
        question = ModelRequest(({"role": "user", "content": "judge this"},))
        async with (
            open_client("openai/roles", base_url=url, concurrency=2, role="judge") as judge,
            open_client("openai/roles", base_url=url, concurrency=2) as agent,
        ):
            waiting = [asyncio.create_task(judge.complete(question)) for _ in range(4)]
            while judge.limiter.in_flight < 2:
                await asyncio.sleep(0.01)
            replies = await asyncio.gather(*(agent.complete(HELLO) for _ in range(5)))
            assert judge.limiter.in_flight == 2
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
            return replies

    with wire.WireServer(answer) as server:
        assert [reply.text for reply in asyncio.run(main(server.url))] == ["hi"] * 5
