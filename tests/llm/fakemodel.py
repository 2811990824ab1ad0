"""A model on loopback that speaks both wires and can or cannot do what a test says.

::

    with WireServer(FakeModel(tools=False)) as server:
        ...
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.llm import responses, wire

WIRES = {"/v1/chat/completions": "chat", "/v1/responses": "responses"}


@dataclass
class FakeModel:
    """Each field is something that an endpoint does or not."""

    name: str = "m"
    served: str = "m"
    wires: tuple[str, ...] = ("chat", "responses")
    listed: tuple[dict[str, Any], ...] | None = ({"id": "m", "max_model_len": 128_000},)
    tools: bool = True
    uses_results: bool = True
    choice: bool = True
    schema: bool = True
    fenced: bool = True
    effort: bool = True
    usage: bool = True
    seed: bool = True
    cap: bool = True
    cached: bool = True
    slots: int = 8
    seconds: float = 0.0
    throttled_after: int = 10**9
    """429 for every second request from this one on."""
    headers: Mapping[str, str] = field(
        default_factory=lambda: {"x-ratelimit-limit-requests": "500"}
    )
    asked: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._slots = threading.Semaphore(self.slots)

    def __call__(self, handler: wire.Handler) -> None:
        """Answer one request."""
        if handler.asked.path == "/v1/models":
            self._list(handler)
            return
        spoken = WIRES.get(handler.asked.path, "")
        if spoken not in self.wires:
            wire.status(404, message="no such path")(handler)
            return
        with self.lock:
            self.asked += 1
            late = self.asked - self.throttled_after
        if late >= 0 and late % 2 == 0:
            wire.status(429, {"Retry-After": "0.05"})(handler)
            return
        self._answer(handler, Request(spoken, handler.asked.body))

    def _list(self, handler: wire.Handler) -> None:
        if self.listed is None:
            wire.status(404)(handler)
        else:
            wire.body({"object": "list", "data": list(self.listed)})(handler)

    def _answer(self, handler: wire.Handler, request: Request) -> None:
        for able, sent, what in (
            (self.effort, request.effort, "reasoning_effort"),
            (self.seed, request.seed, "seed"),
        ):
            if not able and sent is not None:
                wire.status(400, message=f"Unsupported parameter: {what}")(handler)
                return
        if "ready" in request.text:
            with self._slots:
                time.sleep(self.seconds)
        said, calls, finish = self._thought(request)
        data = request.reply(said, calls, finish, self.served)
        if not self.usage:
            data.pop("usage")
        elif not self.cached:
            for name in ("prompt_tokens_details", "input_tokens_details"):
                if name in data["usage"]:
                    data["usage"][name] = {"cached_tokens": 0}
        handler.send_bytes(json.dumps(data).encode(), headers=self.headers)

    def _thought(self, request: Request) -> tuple[str, list[tuple[str, str]], str]:
        """Text, calls and why it ended."""
        answer = '{"colour": "blue", "certain": true}'
        if request.tools and self.tools and (request.choice != "required" or self.choice):
            if "Good morning" in request.text and request.choice != "required":
                return "Hello", [], "stop"
            if request.results and self.uses_results:
                owner = json.loads(request.results[-1])["rows"][0]["owner"]
                return "", [("submit_diagnosis", json.dumps({"mechanism": owner}))], "tool_calls"
            if request.results:
                return "Something is wrong.", [], "stop"
            return "", [("search_entities", '{"query": "checkout"}')], "tool_calls"
        if request.schema and self.schema:
            return answer, [], "stop"
        if "JSON object" in request.text and self.fenced:
            return f"```json\n{answer}\n```", [], "stop"
        if "from 1 to 300" in request.text:
            numbers = ", ".join(str(number) for number in range(1, 301))
            return (numbers[:90], [], "length") if self.cap else (numbers, [], "stop")
        return "It is blue.", [], "stop"


class Request:
    """What was asked, whatever the wire."""

    def __init__(self, spoken: str, body: dict[str, Any]) -> None:
        self.spoken = spoken
        chat = spoken == "chat"
        items = body["messages" if chat else "input"]
        self.text = "\n".join(str(one.get("content")) for one in items if one.get("role") == "user")
        key = "content" if chat else "output"
        kinds = {"tool", "function_call_output"}
        self.results = [one[key] for one in items if one.get("role", one.get("type")) in kinds]
        self.tools = body.get("tools", [])
        self.choice = body.get("tool_choice")
        self.seed = body.get("seed")
        self.effort = body.get("reasoning_effort") if chat else body.get("reasoning")
        self.schema = body.get("response_format") or body.get("text")

    def reply(
        self, text: str, calls: list[tuple[str, str]], finish: str, served: str
    ) -> dict[str, Any]:
        """The answer in the format of the wire."""
        if self.spoken == "chat":
            message: dict[str, Any] = {"content": text or None}
            if calls:
                message["tool_calls"] = [
                    {"id": "c1", "function": {"name": name, "arguments": arguments}}
                    for name, arguments in calls
                ]
            data = wire.completion(message, finish=finish, model=served)
            data["usage"] = json.loads(json.dumps(data["usage"]))
            return data
        output = [responses.reasoning()]
        output += [responses.message(text)] if text else []
        output += [responses.function_call(name, arguments) for name, arguments in calls]
        more: dict[str, Any] = {"model": served}
        if finish == "length":
            more |= {"status": "incomplete"}
            more |= {"incomplete_details": {"reason": "max_output_tokens"}}
        data = responses.answer(*output, **more)
        data["usage"] = json.loads(json.dumps(data["usage"]))
        return data
