"""A fake OpenAI-compatible server: fixed latency, stateless, deterministic.

It answers with a tool call until the request holds ``TOOL_TURNS`` tool messages, then with a final
call of ``submit_diagnosis`` (or a text, with ``FINAL=text``). dspy.ReAct, which asks for fields of
text instead of tool calls, gets them in DSPy's own form. Environment: ``LATENCY_MS`` (100),
``TOOL_TURNS`` (19, so 20 calls), ``PORT`` (8911), ``FAIL_EVERY`` (every n-th request is a 429; 0 =
never), ``FINAL``. ``GET /stats`` tells requests, peak in flight and CPU seconds.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

LATENCY = float(os.environ.get("LATENCY_MS", "100")) / 1000
TURNS = int(os.environ.get("TOOL_TURNS", "19"))
FAIL_EVERY = int(os.environ.get("FAIL_EVERY", "0"))
FINAL = os.environ.get("FINAL", "tool")

_counter = itertools.count(1)
_stats = {"requests": 0, "in_flight": 0, "peak": 0, "rejected": 0}
_SLOW_DOWN = b'{"error":{"message":"slow down","type":"rate_limit","code":"rate_limit_exceeded"}}'


def _call(number: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}],
    }


def _fields(**fields: str) -> dict[str, Any]:
    parts = [f"[[ ## {name} ## ]]\n{value}" for name, value in fields.items()]
    return {"role": "assistant", "content": "\n\n".join([*parts, "[[ ## completed ## ]]"])}


def _react(body: bytes) -> dict[str, Any]:
    done = body.count(b"[[ ## observation_")
    if b"next_tool_name" not in body:
        return _fields(reasoning="It was lowered.", answer="ROOT CAUSE: the pool was lowered.")
    if done < TURNS:
        told = json.dumps({"query": f"changes before onset page {done}"})
        return _fields(next_thought="Look.", next_tool_name="query_graph", next_tool_args=told)
    return _fields(next_thought="Enough.", next_tool_name="finish", next_tool_args="{}")


def _answer(number: int, body: bytes) -> bytes:
    turns = body.count(b'"role":"tool"') + body.count(b'"role": "tool"')
    finish = "tool_calls"
    if b"[[ ## " in body:
        message, finish = _react(body), "stop"
    elif turns < TURNS:
        message = _call(number, "query_graph", {"query": f"changes before onset page {turns}"})
    elif FINAL == "tool":
        message = _call(number, "submit_diagnosis", {"mechanism": "pool lowered days before"})
    else:
        message = {"role": "assistant", "content": "ROOT CAUSE: the pool was lowered."}
        finish = "stop"
    tokens = len(body) // 4
    return json.dumps(
        {
            "id": f"c{number}",
            "object": "chat.completion",
            "created": 0,
            "model": "fake",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {
                "prompt_tokens": tokens,
                "completion_tokens": 40,
                "total_tokens": tokens + 40,
            },
        }
    ).encode()


async def chat(request: Request) -> Response:
    """One completion after the latency."""
    body = await request.body()
    _stats["requests"] += 1
    _stats["in_flight"] += 1
    _stats["peak"] = max(_stats["peak"], _stats["in_flight"])
    try:
        if LATENCY:
            await asyncio.sleep(LATENCY)
        number = next(_counter)
        if FAIL_EVERY and number % FAIL_EVERY == 0:
            _stats["rejected"] += 1
            return Response(_SLOW_DOWN, 429, media_type="application/json")
        return Response(_answer(number, body), media_type="application/json")
    finally:
        _stats["in_flight"] -= 1


async def stats(request: Request) -> Response:
    """What was served so far."""
    times = os.times()
    return JSONResponse({**_stats, "cpu_seconds": times.user + times.system})


app = Starlette(
    routes=[
        Route("/v1/chat/completions", chat, methods=["POST"]),
        Route("/stats", stats),
    ]
)

if __name__ == "__main__":
    import uvicorn

    uvicorn.run(
        app,
        host="127.0.0.1",
        port=int(os.environ.get("PORT", "8911")),
        log_level="error",
        access_log=False,
        timeout_keep_alive=120,
    )
