"""The same investigations, driven by others: ``python -m bench.drivers NAME URL FOLDER``.

Each driver plays ``INCIDENTS`` x ``REPEATS`` conversations of ``CALLS`` model calls with 1 KB tool
answers, so many in flight, keeps a transcript, and prints its figures as a line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

INCIDENTS, REPEATS, CALLS, CONCURRENCY = 100, 3, 8, 20
TOTAL = INCIDENTS * REPEATS
PAGE = "2026-08-01 change deploy service=mirlo by=ci field=size\n" * 18
SYSTEM = "You are an SRE. " * 60
QUERY = {
    "type": "function",
    "function": {
        "name": "query_graph",
        "description": "Query the infrastructure graph.",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string"}},
            "required": ["query"],
        },
    },
}


def alert(number: int) -> str:
    """The alert of one incident."""
    return f"ALERT #{number}: checkout p99 above 3s since 10:00. Find the root cause."


def heldout(url: str, folder: Path) -> dict[str, Any]:
    """A whole run: loop, limits, journal, landing, judge, ledger."""
    import heldout.llm.client  # noqa: F401 - as the others' imports, before the clock
    from bench.harness import Noop
    from bench.running import Clock, bench_cases, judge_by_word
    from heldout.brain import Brain
    from heldout.run import Arm, Limits, Plan, play
    from heldout.settings import Settings
    from heldout.store import Ledger

    settings = Settings(root=folder)
    plan = Plan(
        purpose="train",
        set="bench",
        model="openai/fake",
        cases=bench_cases(settings, INCIDENTS),
        arms=(Arm("brain", Brain({"method.md": SYSTEM + "\n"}, ("method.md",))),),
        repeats=REPEATS,
        concurrency=CONCURRENCY,
        base_url=url,
        limits=Limits(CALLS + 5),
    )
    clock = Clock()
    with Ledger.open(settings.ledger) as ledger:
        result = asyncio.run(play(plan, ledger, settings, interface=Noop(), judge=judge_by_word))
        assert {one.verdict.result for one in result.outcomes} == {"pass"}
        calls = sum(one.trace.calls for one in result.outcomes if one.trace)
    wall, cpu = clock.read()
    return {"calls": calls, "wall": wall, "cpu": cpu, "log": settings.ledger.stat().st_size}


Ask = Callable[[list[dict[str, Any]]], Awaitable[dict[str, Any]]]


def bare(kind: str, url: str, folder: Path) -> dict[str, Any]:
    """No harness: ``openai`` asks by the client's ``create``, ``post`` by its raw post."""
    import httpx2
    import openai
    from openai.types.chat import ChatCompletion

    from bench.running import Clock

    async def run() -> int:
        limits = httpx2.Limits(max_connections=CONCURRENCY, max_keepalive_connections=CONCURRENCY)
        http = httpx2.AsyncClient(limits=limits, timeout=60)
        sdk = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=3, http_client=http)

        async def ask(messages: list[dict[str, Any]]) -> dict[str, Any]:
            body: dict[str, Any] = {"model": "fake", "messages": messages, "tools": [QUERY]}
            if kind == "openai":
                reply = await sdk.chat.completions.create(**body)
            else:
                reply = await sdk.post("/chat/completions", body=body, cast_to=ChatCompletion)
            return reply.choices[0].message.model_dump(exclude_none=True)

        with (folder / "transcripts.jsonl").open("w", encoding="utf-8") as out:
            calls = await _converse(ask, out)
        await sdk.close()
        return calls

    clock = Clock()
    calls = asyncio.run(run())
    wall, cpu = clock.read()
    log = (folder / "transcripts.jsonl").stat().st_size
    return {"calls": calls, "wall": wall, "cpu": cpu, "log": log}


async def _converse(ask: Ask, out: Any) -> int:
    gate = asyncio.Semaphore(CONCURRENCY)

    async def one(number: int) -> int:
        async with gate:
            messages: list[dict[str, Any]] = [
                {"role": "system", "content": SYSTEM},
                {"role": "user", "content": alert(number % INCIDENTS)},
            ]
            for calls in range(1, CALLS + 5):
                message = await ask(messages)
                messages.append(message)
                for call in message.get("tool_calls") or ():
                    said = json.loads(call["function"]["arguments"])["query"]
                    content = f"{said}\n{PAGE}"
                    messages.append(
                        {"role": "tool", "tool_call_id": call["id"], "content": content}
                    )
                if not message.get("tool_calls"):
                    out.write(json.dumps({"number": number, "messages": messages}) + "\n")
                    return calls
            raise AssertionError("the server never ended the conversation")

    return sum(await asyncio.gather(*(one(number) for number in range(TOTAL))))


def react(url: str, folder: Path) -> dict[str, Any]:
    """dspy.ReAct over dspy's own client, with its cache off and a JSONL of trajectories."""
    import dspy

    from bench.running import Clock

    lm = dspy.LM("openai/fake", api_base=url, api_key="none", cache=False)

    def query_graph(query: str) -> str:
        """Query the infrastructure graph."""
        return f"{query}\n{PAGE}"

    signature = dspy.Signature("alert -> answer", SYSTEM)
    program = dspy.ReAct(signature, tools=[query_graph], max_iters=CALLS + 5)

    async def run() -> int:
        gate = asyncio.Semaphore(CONCURRENCY)
        calls = 0
        with (folder / "trajectories.jsonl").open("w", encoding="utf-8") as out:

            async def one(number: int) -> None:
                nonlocal calls
                async with gate:
                    done = await program.acall(alert=alert(number % INCIDENTS))
                out.write(json.dumps(done.trajectory) + "\n")
                steps = sum(name.startswith("thought_") for name in done.trajectory)
                calls += steps + 1  # One more call extracts the answer.

            with dspy.context(lm=lm):
                await asyncio.gather(*(one(number) for number in range(TOTAL)))
        return calls

    clock = Clock()
    calls = asyncio.run(run())
    wall, cpu = clock.read()
    log = (folder / "trajectories.jsonl").stat().st_size
    return {"calls": calls, "wall": wall, "cpu": cpu, "log": log, "version": version("dspy")}


def inspect(url: str, folder: Path) -> dict[str, Any]:
    """One eval of Inspect over its OpenAI-compatible provider."""
    import time

    from inspect_ai import Epochs, Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import get_model
    from inspect_ai.scorer import includes
    from inspect_ai.solver import generate, system_message, use_tools
    from inspect_ai.tool import tool

    @tool
    def query_graph() -> Any:
        async def execute(query: str) -> str:
            """Query the infrastructure graph.

            Args:
                query: what to look for
            """
            return f"{query}\n{PAGE}"

        return execute

    samples = [Sample(id=n, input=alert(n), target="ROOT CAUSE") for n in range(INCIDENTS)]
    task = Task(
        dataset=MemoryDataset(samples),
        solver=[system_message(SYSTEM), use_tools(query_graph()), generate()],
        scorer=includes(),
        epochs=Epochs(REPEATS, "mean"),
        name="bench",
    )
    model = get_model("openai-api/fake/fake", base_url=url, api_key="none")
    wall, cpu = time.perf_counter(), time.process_time()
    done = eval(
        task, model=model, max_connections=CONCURRENCY, max_samples=CONCURRENCY,
        display="none", log_dir=str(folder / "logs"),
    )  # fmt: skip
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert done[0].status == "success", done[0].error
    log = sum(path.stat().st_size for path in (folder / "logs").rglob("*") if path.is_file())
    return {
        "calls": TOTAL * CALLS, "wall": wall, "cpu": cpu, "log": log,
        "version": version("inspect-ai"),
    }  # fmt: skip


def main(name: str, url: str, folder: Path) -> None:
    """Run one driver and print its figures."""
    drivers: dict[str, Callable[[], dict[str, Any]]] = {
        "heldout": lambda: heldout(url, folder),
        "openai": lambda: bare("openai", url, folder),
        "post": lambda: bare("post", url, folder),
        "react": lambda: react(url, folder),
        "inspect": lambda: inspect(url, folder),
    }
    figures = drivers[name]()
    figures["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps(figures))


if __name__ == "__main__":
    os.environ.setdefault("DO_NOT_TRACK", "1")
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
