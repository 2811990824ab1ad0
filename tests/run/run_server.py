"""A loopback server that speaks Chat Completions and investigates like the scripted client."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.loopback import JsonServer

LOOKS = 3


class Server(JsonServer):
    """Answers requests and counts them; ``on_request`` is told the number of each."""

    def __init__(self, delay: float = 0.005) -> None:
        self.requests: Counter[str] = Counter()
        self.asked: Counter[tuple[str, str]] = Counter()
        """Requests by incident and arm."""
        self.delay = delay
        self.on_request: Callable[[int], object] = lambda _: None
        self._lock = threading.Lock()
        super().__init__()

    @property
    def total(self) -> int:
        """Requests answered so far."""
        return sum(self.requests.values())

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """One reply."""
        messages = body["messages"]
        done = sum(message["role"] == "tool" for message in messages)
        name = messages[1]["content"].split()[0].removeprefix("Incident=")
        with self._lock:
            arm = "after" if "Look twice" in messages[0]["content"] else "before"
            self.asked[name, arm] += 1
            self.requests[json.dumps([messages[0]["content"], name, body.get("seed"), done])] += 1
            count = self.total
        self.on_request(count)
        time.sleep(self.delay)
        tool, said = "look", {"at": str(done)}
        if done >= LOOKS:
            tool, said = "submit_diagnosis", {"entity": f"e-{name}", "mechanism": "m"}
        call = {"name": tool, "arguments": json.dumps(said)}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"call{done}", "type": "function", "function": call}],
        }
        return 200, {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }
