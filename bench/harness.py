"""What the harness costs: CPU per model call and wall against the latency ceiling.

Four loops play the same conversation of 20 calls with no-op tools of 1 KB against ``bench.server``
in one run: the whole harness, the bare openai client, its raw post, and plain HTTP. Ratios between
them hold on any machine; seconds only on an idle one. CPU is that of the client process.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import openai
import orjson
from openai.types.chat import ChatCompletion

from heldout.agent import investigate
from heldout.brain import Brain
from heldout.incident import Incident
from heldout.interface import Submission, ToolAnswer, ToolSpec
from heldout.llm import open_client
from heldout.run.plan import Limits

STEPS = 20
PAGE = "2026-08-01 change deploy service=mirlo by=ci field=size\n" * 18
BRAIN = Brain({"method.md": "Look at what the service calls. " * 120 + "\n"}, ("method.md",))
LIMITS = Limits(max_steps=STEPS + 5, max_tokens=10**9, max_seconds=10**6)

Conversation = Callable[[int], Awaitable[int]]


@dataclass(frozen=True, slots=True)
class Cell:
    """One loop's figures."""

    name: str
    calls: int
    wall: float
    cpu: float

    @property
    def cpu_ms(self) -> float:
        """CPU milliseconds per model call."""
        return 1000 * self.cpu / self.calls


class NoopSession:
    """Answers at once, with the same page."""

    made: Submission | None = None

    def call(self, tool: str, args: Mapping[str, Any]) -> ToolAnswer:
        """A page, or the end."""
        if tool == "submit_diagnosis":
            self.made = Submission(mechanism=str(args.get("mechanism", "")))
            return ToolAnswer("{}", final=True)
        return ToolAnswer(PAGE)

    def finish(self) -> Submission | None:
        """What was submitted."""
        return self.made

    def close(self) -> None:
        """Nothing is held."""


class Noop:
    """Fourteen tools that do nothing, with schemas as long as real ones."""

    name = "noop"

    def tool_specs(self) -> tuple[ToolSpec, ...]:
        """The tools."""
        properties = {
            f"argument_{i}": {"type": "string", "description": "x" * 40} for i in range(5)
        }
        schema = {"type": "object", "properties": properties}
        names = ["query_graph", *(f"query_{i}" for i in range(12)), "submit_diagnosis"]
        return tuple(ToolSpec(name, "Query the graph. " * 12, schema) for name in names)

    def open(self, task_ref: str, seed: int) -> NoopSession:
        """A session."""
        return NoopSession()


def harness(url: str, concurrency: int) -> tuple[Conversation, Callable[[], Awaitable[None]]]:
    """Ours: client, loop, limits, journal hook, trace."""
    client = open_client("openai/fake@low", base_url=url, concurrency=concurrency)
    environment = Noop()

    async def play(number: int) -> int:
        incident = Incident(f"i-{number}", "bench", f"# Alert {number}", Path(), "")
        trace = await investigate(
            incident,
            BRAIN,
            client,
            environment,
            model="openai/fake@low",
            limits=LIMITS,
            seed=number,
        )
        assert trace.stop_reason == "submitted", trace
        return trace.calls

    return play, client.aclose


def bare(
    kind: str, url: str, concurrency: int
) -> tuple[Conversation, Callable[[], Awaitable[None]]]:
    """The same conversation without a harness: ``create``, raw ``post``, or plain ``http``."""
    limits = httpx2.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
    http = httpx2.AsyncClient(limits=limits, timeout=60)
    sdk = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0, http_client=http)
    tools = [spec.wire() for spec in Noop().tool_specs()]
    headers = {"Content-Type": "application/json", "Authorization": "Bearer none"}

    async def ask(messages: list[dict[str, Any]]) -> dict[str, Any]:
        body: dict[str, Any] = {"model": "fake", "messages": messages, "tools": tools}
        if kind == "create":
            reply = await sdk.chat.completions.create(**body)
            return reply.choices[0].message.model_dump(exclude_none=True)
        if kind == "post":
            reply = await sdk.post("/chat/completions", body=body, cast_to=ChatCompletion)
            return reply.choices[0].message.model_dump(exclude_none=True)
        answer = await http.post(
            f"{url}/chat/completions", content=orjson.dumps(body), headers=headers
        )
        message: dict[str, Any] = orjson.loads(answer.content)["choices"][0]["message"]
        return message

    async def play(number: int) -> int:
        system = BRAIN.prompt()
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": system},
            {"role": "user", "content": f"# Alert {number}"},
        ]
        for calls in range(1, STEPS + 5):
            message = await ask(messages)
            messages.append(message)
            for call in message.get("tool_calls") or ():
                if call["function"]["name"] == "submit_diagnosis":
                    return calls
                json.loads(call["function"]["arguments"])
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": PAGE})
        raise AssertionError("the server never ended the conversation")

    return play, http.aclose


async def measure(name: str, url: str, conversations: int, concurrency: int) -> Cell:
    """Play many conversations, so many at once, and count."""
    play, close = harness(url, concurrency) if name == "heldout" else bare(name, url, concurrency)
    gate = asyncio.Semaphore(concurrency)

    async def one(number: int) -> int:
        async with gate:
            return await play(number)

    await one(-1)
    wall, cpu = time.perf_counter(), time.process_time()
    calls = sum(await asyncio.gather(*(one(number) for number in range(conversations))))
    cell = Cell(name, calls, time.perf_counter() - wall, time.process_time() - cpu)
    await close()
    return cell


class Server:
    """``bench.server`` as a child process on a free port."""

    def __init__(self, latency_ms: int, turns: int = STEPS - 1, final: str = "tool") -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/v1"
        environment = {
            **os.environ,
            "PORT": str(port),
            "LATENCY_MS": str(latency_ms),
            "TOOL_TURNS": str(turns),
            "FINAL": final,
        }
        script = Path(__file__).with_name("server.py")
        self._process = subprocess.Popen([sys.executable, str(script)], env=environment)

    def __enter__(self) -> Server:
        for _ in range(200):
            try:
                with urllib.request.urlopen(self.url.replace("/v1", "/stats"), timeout=1):
                    return self
            except OSError:
                time.sleep(0.05)
        self._process.kill()
        raise RuntimeError("bench.server did not start")

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()


CONVERSATIONS = 60
CONCURRENCY = 20


def main() -> None:
    """Print the figures; each cell twice, interleaved, the better one counts."""
    names = ("heldout", "create", "post", "http")
    print(f"{STEPS} calls a conversation, 14 tools, 1 KB tool answers")
    with Server(0) as server:
        cells = [
            asyncio.run(measure(name, server.url, CONVERSATIONS // 4, 8))
            for _ in range(2)
            for name in names
        ]
    best = {
        name: min((c for c in cells if c.name == name), key=lambda c: c.cpu_ms) for name in names
    }
    base = best["create"].cpu_ms
    print("CPU per model call, HTTP included, 0 ms server (budget 2 ms, bound 3 ms)")
    for name in names:
        ms = best[name].cpu_ms
        print(f"  {name:<8} {ms:6.2f} ms   {ms / base:5.2f} x bare openai client")
    print(f"wall against the ceiling, 100 ms server, {CONCURRENCY} in flight (budget >= 90 %)")
    with Server(100) as server:
        for name in names[:3]:
            cell = asyncio.run(measure(name, server.url, CONVERSATIONS, CONCURRENCY))
            ideal = cell.calls * 0.1 / CONCURRENCY
            print(
                f"  {name:<8} {cell.wall:6.2f} s   {100 * ideal / cell.wall:5.1f} %"
                f"   {cell.cpu_ms:5.2f} ms CPU per call"
            )


if __name__ == "__main__":
    main()
