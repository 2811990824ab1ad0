"""Fake judging models over real loopback HTTP: what they answer is a function of what they see."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from typing import Any

from tests.loopback import JsonServer

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


class JudgeServer(JsonServer):
    """Speaks Chat Completions; ``think`` makes the answers of each model."""

    def __init__(self, think: Callable[[Seen], Said] = all_hold) -> None:
        self.think = think
        self.seen: list[Seen] = []
        self._lock = threading.Lock()
        super().__init__()

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
