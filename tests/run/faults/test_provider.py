"""A provider that misbehaves: what it does is invalid, what the model does is judged."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import run_stubs as stubs
from run_server import LOOKS, Server

from heldout.compare import compare_stored
from heldout.errors import ProviderError
from heldout.llm import ModelReply, ModelRequest, open_client
from heldout.llm.transports import Bounds
from heldout.run import Plan, outcomes, play
from heldout.run.slots import MAX_ATTEMPTS
from heldout.store import Ledger
from heldout.store import queries as q

BOUNDS = Bounds(attempts=2, retry_seconds=60.0, first_delay=0.01, longest_delay=0.02)
IMPATIENT = replace(BOUNDS, read=0.5, total=0.7)
"""For what never ends; elsewhere a loaded machine must not be taken for a silent provider."""
Fault = Callable[[Any, dict[str, Any]], None]
"""Answers one request of a handler in its own way, given what a sound server would answer."""


def send(handler: Any, code: int, body: bytes, length: int | None = None, **more: str) -> None:
    """One response, of a length that may be a lie."""
    handler.send_response(code)
    handler.send_header("content-length", str(len(body) if length is None else length))
    for name, value in more.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)
    handler.wfile.flush()


def reset(handler: Any, _: dict[str, Any]) -> None:
    """The connection is torn down."""
    linger = struct.pack("ii", 1, 0)
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    handler.close_connection = True
    handler.connection.close()
    handler.wfile = handler.rfile


def storm(handler: Any, _: dict[str, Any]) -> None:
    """429."""
    send(handler, 429, b'{"error": {"message": "slow down"}}', retry_after="0.01")


def unavailable(handler: Any, _: dict[str, Any]) -> None:
    """503."""
    send(handler, 503, b"upstream is gone")


def half(handler: Any, answer: dict[str, Any]) -> None:
    """Half a body, then nothing more."""
    data = json.dumps(answer).encode()
    send(handler, 200, data[: len(data) // 2], length=len(data))
    handler.close_connection = True


def cut(handler: Any, answer: dict[str, Any]) -> None:
    """Half a JSON text, sent as if it were whole."""
    data = json.dumps(answer).encode()
    send(handler, 200, data[: len(data) // 2])


def endless(handler: Any, _: dict[str, Any]) -> None:
    """A body that does not end."""
    drip(handler, b" " * 1000, 0.0)


def one_byte(handler: Any, _: dict[str, Any]) -> None:
    """One byte now and then, each in time, never all of them."""
    drip(handler, b" ", 0.1)


def drip(handler: Any, piece: bytes, pause: float) -> None:
    """Send pieces until the client hangs up."""
    handler.close_connection = True
    try:
        send(handler, 200, b"", length=10**9)
        while True:
            handler.wfile.write(piece)
            handler.wfile.flush()
            time.sleep(pause)
    except OSError:
        return


def changed(**message: Any) -> Fault:
    """A sound answer with another message."""

    def fault(handler: Any, answer: dict[str, Any]) -> None:
        answer["choices"][0]["message"] |= message
        send(handler, 200, json.dumps(answer).encode())

    return fault


def calling(name: str, arguments: str) -> Fault:
    """A sound answer that calls another tool, or in another way."""
    function = {"name": name, "arguments": arguments}
    return changed(tool_calls=[{"id": "c", "type": "function", "function": function}])


def no_choices(handler: Any, answer: dict[str, Any]) -> None:
    """An answer with nothing in it."""
    send(handler, 200, json.dumps({**answer, "choices": []}).encode())


def filtered(handler: Any, answer: dict[str, Any]) -> None:
    """The provider's filter withholds the answer."""
    message = {"role": "assistant", "content": None}
    choice = {"index": 0, "message": message, "finish_reason": "content_filter"}
    send(handler, 200, json.dumps({**answer, "choices": [choice]}).encode())


def renamed(handler: Any, answer: dict[str, Any]) -> None:
    """Another model answers than was asked for."""
    send(handler, 200, json.dumps({**answer, "model": "another-model"}).encode())


PROVIDER: dict[str, tuple[Fault, str]] = {
    "reset": (reset, "provider_unavailable"),
    "429 storm": (storm, "provider_unavailable"),
    "5xx": (unavailable, "provider_unavailable"),
    "half a body": (half, "provider_unavailable"),
    "half JSON": (cut, "provider_protocol"),
    "endless stream": (endless, "provider_unavailable"),
    "one byte at a time": (one_byte, "provider_unavailable"),
    "no choices": (no_choices, "provider_protocol"),
    "content filter": (filtered, "provider_filtered"),
}
ENDLESS = {"endless stream", "one byte at a time"}
MODEL: dict[str, Fault] = {
    "unknown tool": calling("fly", "{}"),
    "arguments not JSON": calling("look", '{"at": '),
    "arguments not an object": calling("look", "[1]"),
    "an answer without a call": changed(tool_calls=None, content="I do not know."),
}


class FaultyServer(Server):
    """Misbehaves from the second request of one incident's investigations on, ``times`` times."""

    def __init__(self, fault: Fault, times: int = 10**9) -> None:
        super().__init__(delay=0)
        self.fault, self.left = fault, times
        handler: Any = self._http.RequestHandlerClass
        sound = self.answer

        def post(request: Any) -> None:
            body = json.loads(request.rfile.read(int(request.headers["content-length"])))
            answer = sound(body)
            done = sum(message["role"] == "tool" for message in body["messages"])
            hit = "Incident=i-0" in body["messages"][1]["content"] and done >= 1
            if hit and self.left > 0:
                self.left -= 1
                self.fault(request, answer)
            else:
                send(request, 200, json.dumps(answer).encode())

        handler.do_POST = post


def run(
    root: Path, url: str, wrap: Any = lambda client: client, bounds: Bounds = BOUNDS
) -> tuple[str, list[Any]]:
    """Play three incidents, two arms, against an endpoint; the run and its attempts."""
    settings = stubs.settings_of(root)
    cases = [stubs.case(root, f"i-{n}") for n in range(3)]
    plan = stubs.plan_of(cases, repeats=1, model="openai/fake", base_url=url)

    def client(plan: Plan) -> Any:
        return wrap(open_client(plan.model, base_url=url, concurrency=3, bounds=bounds))

    with Ledger.open(settings.ledger) as ledger:
        result = asyncio.run(
            play(
                plan,
                ledger,
                settings,
                interface=stubs.StubInterface(),
                client_factory=client,
                judge=stubs.judge,
            )
        )
        return result.run, [(one, one.trace and one.trace.steps) for one in result.outcomes]


def split(found: list[Any]) -> tuple[list[Any], list[Any]]:
    """Attempts of the incident that was hit, and of the others."""
    ours = [one for one, _ in found if one.incident == "i-0"]
    return ours, [one for one, _ in found if one.incident != "i-0"]


@pytest.mark.parametrize("name", PROVIDER)
def test_what_the_provider_does_is_never_a_wrong_answer(tmp_path: Path, name: str):
    """Hit each time: invalid with its reason, attempts bounded, all others played and passed."""
    fault, reason = PROVIDER[name]
    bounds = IMPATIENT if name in ENDLESS else BOUNDS
    with FaultyServer(fault) as server:
        _, found = run(tmp_path, server.url, bounds=bounds)
    hit, others = split(found)
    assert {(one.verdict.result, one.reason) for one in hit} == {("invalid", reason)}
    assert len(hit) == 2 * MAX_ATTEMPTS
    assert [one.verdict.result for one in others] == ["pass"] * 4


@pytest.mark.parametrize("name", PROVIDER)
def test_a_fault_that_passes_leaves_no_mark(tmp_path: Path, name: str):
    """Hit once: the slot ends with the verdict it would have had, and nothing finished is re-paid."""
    bounds = IMPATIENT if name in ENDLESS else BOUNDS
    with FaultyServer(PROVIDER[name][0], times=1) as server:
        _, found = run(tmp_path, server.url, bounds=bounds)
        whole = 6 * (LOOKS + 1)
        # Asked again within the call, or in a second attempt at that one investigation.
        assert whole < server.total <= whole + 1 + LOOKS
    final = [one for one, _ in found if one.verdict.result != "invalid"]
    assert [one.verdict.result for one in final] == ["pass"] * 6


class Blind:
    """A client that takes a failing provider for a silent model: the guard taken away."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def complete(self, request: ModelRequest) -> ModelReply:
        try:
            reply: ModelReply = await self._inner.complete(request)
            return reply
        except ProviderError:
            return ModelReply("")

    async def aclose(self) -> None:
        await self._inner.aclose()


def test_without_the_guard_a_fault_would_count_as_wrong(tmp_path: Path):
    """The negative control: the same fault through a client that hides it is a fail."""
    with FaultyServer(unavailable) as server:
        _, found = run(tmp_path, server.url, Blind)
    hit, others = split(found)
    assert {one.verdict.result for one in hit} == {"fail"}
    assert {one.verdict.result for one in others} == {"pass"}


@pytest.mark.parametrize("name", MODEL)
def test_what_the_model_does_is_judged(tmp_path: Path, name: str):
    """A model that goes on like that fails, once and for all; it is never excused as invalid."""
    with FaultyServer(MODEL[name]) as server:
        _, found = run(tmp_path, server.url)
    hit, others = split(found)
    assert [(one.verdict.result, one.reason, one.attempt) for one in hit] == [("fail", "", 0)] * 2
    assert [one.verdict.result for one in others] == ["pass"] * 4


@pytest.mark.parametrize("name", MODEL)
def test_a_model_may_recover_from_one_slip(tmp_path: Path, name: str):
    """It is told what was wrong, goes on, and passes."""
    with FaultyServer(MODEL[name], times=1) as server:
        _, found = run(tmp_path, server.url)
    assert [one.verdict.result for one, _ in found] == ["pass"] * 6


def test_nobody_listening_is_invalid(tmp_path: Path):
    """A refused connection is the provider's; the run ends as an error and keeps its rows."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}/v1"
    name, found = run(tmp_path, url)
    assert {one.reason for one, _ in found} == {"provider_unavailable"}
    assert {one.verdict.result for one, _ in found} == {"invalid"}
    with Ledger.open(stubs.settings_of(tmp_path).ledger) as ledger:
        assert q.run(ledger, name).status == "error"


@pytest.mark.parametrize("times", [0, 1])
def test_another_models_name_midway_decides_nothing(tmp_path: Path, times: int):
    """One reply under another name makes the comparison indecisive; without it there is a word."""
    with FaultyServer(renamed, times=times) as server:
        name, found = run(tmp_path, server.url)
    assert [one.verdict.result for one, _ in found] == ["pass"] * 6
    with Ledger.open(stubs.settings_of(tmp_path).ledger) as ledger:
        pairs = compare_stored(ledger, f"{name}:before", f"{name}:after", outcomes)
    served = {*pairs.before.served_models, *pairs.after.served_models}
    assert pairs.same_model is not bool(times)
    assert pairs.outcome() == ("indecisive" if times else "no gain shown")
    assert any("another-model" in one for one in served) is bool(times)
