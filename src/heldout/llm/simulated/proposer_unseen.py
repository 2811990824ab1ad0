"""What the simulated proposer writes without a look at any failure: general advice, shorter text."""

from __future__ import annotations

from typing import Any

import numpy as np

from heldout.llm.simulated.proposer_phrases import ADVICE, PADDING
from heldout.llm.simulated.proposer_writing import dated, files_of, known, leading_json, limit, says

DROPS = 0.15
"""How often a shortened text loses a piece of advice."""


def write_blindly(sections: dict[str, str], draw: np.random.Generator) -> list[dict[str, Any]]:
    """Candidates out of what one would tell anybody: some of it apt, some of it hollow."""
    said = "\n".join(files_of(sections.get("brain", "")).values())
    tried = leading_json(sections.get("tried", ""))
    before = "\n".join(str(text) for text in tried) if isinstance(tried, list) else ""
    target = sections.get("target_file", "method.md").split()[0]
    count = limit(sections.get("limits", ""), r"at most (\d+) candidates", 3)
    lines = limit(sections.get("limits", ""), r"most (\d+) added lines", 8)
    topics = [name for name in ADVICE if name != "other" and not known(name, said)]
    edits = []
    for _ in range(count):
        wanted = int(draw.integers(1, 4))
        picked = [topics[i] for i in draw.permutation(len(topics))[:wanted].tolist()]
        text = [_line(name, said, before, draw) for name in picked]
        if draw.random() < 0.5 or not text:
            text.append(PADDING[int(draw.integers(len(PADDING)))])
        body = "\n".join(f"- {line}" for line in text[:lines])
        edits.append(
            {
                "ops": [{"file": target, "action": "append", "anchor": "", "text": body}],
                "reason": "Good practice of the trade.",
                "expected_effect": "More careful investigations.",
                "feared_harm": "A longer prompt.",
            }
        )
    return edits


def _line(name: str, said: str, tried: str, draw: np.random.Generator) -> str:
    """One way to put a piece of advice, one that was not tried if there is any."""
    ways = ADVICE[name]
    fresh = [way for way in ways if not says(tried, way)] or list(ways)
    return dated(fresh[int(draw.integers(len(fresh)))], [], said, draw)


def shorten(sections: dict[str, str], draw: np.random.Generator) -> dict[str, Any]:
    """An edit that takes out doubles and hollow lines; now and then it loses one that counts."""
    grown = leading_json(sections.get("grown", ""))
    lines = [str(line) for line in grown] if isinstance(grown, list) else []
    target = sections.get("target_file", "method.md").split()[0]
    kept: list[str] = []
    gone: list[str] = []
    for line in lines:
        topic = next((name for name in ADVICE if known(name, line)), "")
        hollow = any(says(line, padding) for padding in PADDING)
        double = topic and topic != "short_history" and known(topic, "\n".join(kept))
        (gone if hollow or double else kept).append(line)
    if gone and kept and draw.random() < DROPS:
        gone.append(kept[int(draw.integers(len(kept)))])
    ops = [{"file": target, "action": "delete", "anchor": line.strip(), "text": ""}
           for line in gone if lines.count(line) == 1]  # fmt: skip
    reason = f"{len(ops)} of {len(lines)} lines repeat others or change nothing."
    return {
        "ops": ops,
        "reason": reason if ops else "",
        "expected_effect": "The same behaviour with a shorter prompt.",
        "feared_harm": "A line that mattered could be gone.",
    }
