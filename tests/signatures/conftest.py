"""A client without a wire: scripted replies, or the simulated proposer; keeps every body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from heldout.errors import HeldoutError
from heldout.llm import ModelReply, ModelRequest, Usage
from heldout.llm.simulated.proposer import reply


class RecordingClient:
    """Answers from a script (texts or errors), then from the simulated proposer."""

    def __init__(self, script: list[str | HeldoutError] | None = None) -> None:
        self.script = list(script or [])
        self.bodies: list[dict[str, Any]] = []

    async def complete(self, request: ModelRequest) -> ModelReply:
        body = {
            "model": "proposer",
            "messages": [dict(message) for message in request.messages],
            "seed": request.seed,
        }
        self.bodies.append(body)
        if self.script:
            said = self.script.pop(0)
            if isinstance(said, HeldoutError):
                raise said
            return ModelReply(text=said, usage=Usage(10, 5), served_model="scripted", usd=0.01)
        answer = reply(body)
        return ModelReply(
            text=answer["choices"][0]["message"]["content"],
            usage=Usage(answer["usage"]["prompt_tokens"], answer["usage"]["completion_tokens"]),
            served_model="proposer",
            usd=0.0,
        )


@pytest.fixture
def client() -> Callable[..., RecordingClient]:
    """Makes recording clients."""
    return RecordingClient
