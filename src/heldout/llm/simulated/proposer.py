"""The simulated proposer, ``sim/proposer``: reads failures and writes edits, as a model would.

It sees only the messages of one request. What it answers follows from the evidence in them: it
reads the digest of an investigation, the diagnoses of a cluster, the brain's lines and the memory
of rejected edits; without a failure to read it writes what one would tell anybody. Now and then (by a hash of the request and its seed) it leaks a phrase that it
saw, over-corrects or pads, as real proposers do.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import numpy as np

from heldout.llm.simulated.proposer_reading import read_digest
from heldout.llm.simulated.proposer_unseen import shorten, write_blindly
from heldout.llm.simulated.proposer_writing import revise_edit, write_edits, write_rules

_SECTION = re.compile(r"^\[\[ ## (\w+) ## \]\]\s*$", re.MULTILINE)


def reply(body: dict[str, Any]) -> dict[str, Any]:
    """Answer one Chat Completions request body with a Chat Completions response.

    A prompt that holds none of the known sections gets a sentence in prose, as a model would give.
    """
    messages = [m for m in body.get("messages", []) if isinstance(m, dict)]
    texts = [str(m.get("content") or "") for m in messages]
    asked = next((t for m, t in zip(messages[::-1], texts[::-1], strict=True) if _asks(m)), "")
    sections = _sections(asked)
    draw = _generator(texts, body.get("seed"))
    answer: dict[str, Any] | None = None
    if "digest" in sections:
        answer = read_digest(sections["digest"], draw)
    elif "diagnoses" in sections:
        answer = {"edits": write_edits(sections, draw)}
    elif "behaviour" in sections:
        answer = {"rules": write_rules(sections, draw)}
    elif "tried" in sections:
        answer = {"edits": write_blindly(sections, draw)}
    elif "grown" in sections:
        answer = {"edit": shorten(sections, draw)}
    elif "findings" in sections:
        answer = {"edit": revise_edit(sections, draw)}
    text = json.dumps(answer, indent=1) if answer is not None else "I need a failure to read."
    sent = sum(len(t) for t in texts)
    return {
        "id": "chatcmpl-" + hashlib.sha256(text.encode()).hexdigest()[:16],
        "object": "chat.completion",
        "created": 0,
        "model": str(body.get("model", "proposer")),
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": sent // 4,
            "completion_tokens": len(text) // 4,
            "total_tokens": sent // 4 + len(text) // 4,
        },
    }


def _asks(message: dict[str, Any]) -> bool:
    return message.get("role") == "user"


def _sections(text: str) -> dict[str, str]:
    """The ``[[ ## name ## ]]`` sections of a prompt; the first of a name counts."""
    parts = _SECTION.split(text.rpartition("\n\nRespond with a JSON object")[0] or text)
    found: dict[str, str] = {}
    for name, content in zip(parts[1::2], parts[2::2], strict=False):
        found.setdefault(name, content.strip())
    return found


def _generator(texts: list[str], seed: Any) -> np.random.Generator:
    digest = hashlib.sha256(json.dumps([texts, seed], sort_keys=True).encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "big")))
