"""Simulated models: programs behind the wire of Chat Completions, deterministic and offline.

They see only the messages of a request. ``anchored`` and ``scattered`` investigate by calling the
tools they are offered; ``proposer`` writes edits from the evidence in its prompt. What they do is a
test of mechanisms, never evidence about a real model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_PROPOSER = "proposer"


def handle(body: Mapping[str, Any]) -> dict[str, Any]:
    """Answer one Chat Completions request body; an unknown model answers with an ``error``."""
    from heldout.llm.simulated import agents

    name = agents.base_name(str(body.get("model") or ""))
    if name == _PROPOSER:
        from heldout.llm.simulated.proposer import reply

        return reply(dict(body))
    if not agents.knows(name):
        known = "anchored, scattered, proposer"
        message = f"the simulated model '{name}' does not exist; there are {known}"
        return {"error": {"message": message, "type": "invalid_request_error", "code": "model"}}
    return agents.reply(body)
