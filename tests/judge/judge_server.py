"""Fake judging models over real loopback HTTP: what they answer is a function of what they see."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from heldout.judge import JudgeChoice, Panel, open_judge

HOLDS = {"mechanism": "same", "causes": "one", "near_miss": "no", "honest": "admits"}
FAILS = {"mechanism": "different", "causes": "several", "near_miss": "yes", "honest": "blames"}

Said = dict[str, Any] | str | int
"""Answers by question; or the reply's text as it is; or an HTTP status."""


class Seen:
    """One request as the model sees it."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.body = body
        self.model = str(body["model"])
        self.system = body["messages"][0]["content"]
        self.prompt = body["messages"][1]["content"]
        self.turns = len(body["messages"])

    @property
    def mechanism(self) -> str:
        """The quoted mechanism, without its marks."""
        inside = re.search(r"<<<MECHANISM (\w+)\n(.*?)\nMECHANISM \1>>>", self.prompt, re.DOTALL)
        assert inside is not None
        return "\n".join(line.removeprefix("| ") for line in inside[2].split("\n"))

    @property
    def questions(self) -> list[str]:
        """The names of the questions, in the order in which they are asked."""
        return re.findall(r"^### (\w+)$", self.prompt, re.MULTILINE)


def all_hold(seen: Seen, yes: bool = True) -> dict[str, Any]:
    """Every question answered so that it holds, or so that none does."""
    chosen = HOLDS if yes else FAILS
    other = "yes" if yes else "no"
    return {
        name: {"reason": "because", "answer": chosen.get(name, other)} for name in seen.questions
    }


class JudgeServer:
    """Speaks Chat Completions; ``think`` makes the answers of each model."""

    def __init__(self, think: Callable[[Seen], Said] = all_hold) -> None:
        self.think = think
        self.seen: list[Seen] = []
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                status, data = outer.answer(body)
                payload = json.dumps(data).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, *_: Any) -> None:
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: Any) -> None:
                pass

        self._http = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> JudgeServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """One reply, or an error."""
        seen = Seen(body)
        with self._lock:
            self.seen.append(seen)
            said = self.think(seen)
        if isinstance(said, int):
            return said, {"error": {"message": "refused by the fake judge", "type": "x"}}
        text = said if isinstance(said, str) else json.dumps(said)
        return 200, {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text},
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 900, "completion_tokens": 100, "total_tokens": 1000},
        }

    def choice(self, *models: str) -> JudgeChoice:
        """A judge of these models at this server."""
        return JudgeChoice("llm", models or ("lab/judge",), self.url)

    def panel(self, *models: str) -> Panel:
        """The same, opened."""
        return open_judge(self.choice(*models))
