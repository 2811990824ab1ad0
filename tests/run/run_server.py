"""A loopback server that speaks Chat Completions and investigates like the scripted client."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LOOKS = 3


class Server:
    """Answers requests and counts them; ``on_request`` is told the number of each."""

    def __init__(self, delay: float = 0.005) -> None:
        self.requests: Counter[str] = Counter()
        self.asked: Counter[tuple[str, str]] = Counter()
        """Requests by incident and arm."""
        self.delay = delay
        self.on_request: Callable[[int], None] = lambda _: None
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                data = json.dumps(outer.answer(body)).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: Any) -> None:
                pass  # A client that was killed hangs up.

        self._http = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def total(self) -> int:
        """Requests answered so far."""
        return sum(self.requests.values())

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
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
        return {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }
