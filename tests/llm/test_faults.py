"""What providers do wrong, over both wires: each fault ends in its own error, bounded, or passes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Literal

import pytest
from tests.llm import responses, wire

from heldout.errors import (
    ProviderError,
    ProviderFiltered,
    ProviderProtocol,
    ProviderRefused,
    ProviderUnavailable,
)
from heldout.llm import Bounds, ModelReply, ModelRequest, open_client

HELLO = ModelRequest(({"role": "user", "content": "hello"},))
WireName = Literal["chat", "responses"]
WIRES: tuple[WireName, ...] = ("chat", "responses")
GOOD = {"chat": wire.text("hi"), "responses": responses.text("hi")}
EMPTY = {
    "chat": wire.body({"choices": [], "model": "fake"}),
    "responses": responses.says(),
}
FILTERED = {
    "chat": wire.text("", finish="content_filter"),
    "responses": responses.cut("content_filter"),
}
HALF_JSON = {
    "chat": wire.body(b'{"choices":[{"message":{"content":"cut o'),
    "responses": wire.body(b'{"output":[{"type":"message","content":[{"te'),
}


def ask(name: WireName, *replies: wire.Reply, **bounds: Any) -> tuple[ModelReply, int]:
    """One call; the reply and how many requests it took."""
    settings = {"first_delay": 0.01, "longest_delay": 0.02, "attempts": 3, **bounds}

    async def main(url: str) -> ModelReply:
        async with open_client(
            "openai/m", base_url=url, bounds=Bounds(**settings), wire=name
        ) as client:
            return await client.complete(HELLO)

    with wire.WireServer(*replies) as server:
        try:
            return asyncio.run(main(server.url)), len(server.requests)
        except ProviderError as error:
            error.add_note(str(len(server.requests)))
            raise


@pytest.mark.parametrize("name", WIRES)
@pytest.mark.parametrize(
    ("fault", "kind", "tries"),
    [
        (wire.status(401), ProviderRefused, 1),
        (wire.status(302, {"Location": "http://192.0.2.1/"}), ProviderRefused, 1),
        (wire.reset, ProviderUnavailable, 3),
        (wire.half, ProviderUnavailable, 3),
        (wire.status(429), ProviderUnavailable, 3),
        (wire.status(429, {"Retry-After": "0.01"}), ProviderUnavailable, 3),
        (wire.status(429, {"Retry-After": "3600"}), ProviderUnavailable, 1),
        (wire.status(500), ProviderUnavailable, 3),
        (wire.status(503, {"Retry-After": "0.01"}), ProviderUnavailable, 3),
        (HALF_JSON, ProviderProtocol, 2),
        (EMPTY, ProviderProtocol, 2),
        (FILTERED, ProviderFiltered, 1),
        (wire.body({"error": {"code": "server_error", "message": "x"}}), ProviderUnavailable, 3),
        (wire.body({"error": {"code": 429, "message": "x"}}), ProviderUnavailable, 3),
        (wire.body({"error": "no such model"}), ProviderUnavailable, 3),
    ],
)
def test_a_fault_for_ever_is_its_own_error(
    name: WireName, fault: Any, kind: type[ProviderError], tries: int
):
    """Refusals at once, transient ones after bounded tries, never as an answer."""
    reply = fault[name] if isinstance(fault, dict) else fault
    with pytest.raises(kind) as caught:
        ask(name, reply)
    assert caught.value.__notes__ == [str(tries)]
    assert caught.value.mend


@pytest.mark.parametrize("name", WIRES)
@pytest.mark.parametrize(
    "fault", [wire.reset, wire.half, wire.status(429), wire.status(502), HALF_JSON, EMPTY]
)
def test_a_fault_that_passes_costs_one_more_request(name: WireName, fault: Any):
    """The answer after the fault is the answer."""
    reply, requests = ask(name, fault[name] if isinstance(fault, dict) else fault, GOOD[name])
    assert (reply.text, reply.attempts, requests) == ("hi", 2, 2)


@pytest.mark.parametrize("name", WIRES)
@pytest.mark.parametrize(
    "endless",
    [wire.drip(0.05), wire.drip(0.0, b"x" * 4096), wire.silence],
    ids=("drip", "flood", "silence"),
)
def test_what_never_ends_is_ended(name: WireName, endless: Callable[[wire.Handler], None]):
    """A byte at a time, a flood and silence all end within the bounds of one attempt."""
    began = time.monotonic()
    with pytest.raises((ProviderUnavailable, ProviderProtocol)):
        ask(name, endless, attempts=1, total=0.4, max_bytes=1_000_000)
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("name", WIRES)
def test_another_models_name_is_told_not_hidden(name: WireName):
    """The name that was served stands in the reply, whatever was asked for."""
    other = {
        "chat": wire.text("hi", model="smaller-1"),
        "responses": responses.text("hi", model="smaller-1"),
    }
    reply, _ = ask(name, other[name])
    assert reply.served_model == "smaller-1"


@pytest.mark.parametrize("name", WIRES)
def test_a_storm_of_429_is_ridden_out_by_many(name: WireName):
    """Twenty calls against a server that refuses every request at first all get their answer."""
    storm = [wire.status(429, {"Retry-After": "0.05"})] * 10

    async def main(url: str) -> tuple[list[ModelReply], float]:
        bounds = Bounds(first_delay=0.02, longest_delay=0.1, attempts=12)
        async with open_client(
            "openai/storm", base_url=url, concurrency=10, bounds=bounds, wire=name
        ) as client:
            replies = await asyncio.gather(*(client.complete(HELLO) for _ in range(20)))
            assert client.limiter.throttled == 10
            assert client.limiter.in_flight == 0
            return replies, client.limiter.limit

    with wire.WireServer(*storm, GOOD[name]) as server:
        replies, limit = asyncio.run(main(server.url))
        assert len(server.requests) == 30
    assert [reply.text for reply in replies] == ["hi"] * 20
    assert limit < 10
