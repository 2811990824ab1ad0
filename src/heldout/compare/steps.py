"""Two investigations of one incident, call by call."""

from __future__ import annotations

import json
from collections.abc import Sequence

from heldout.agent.trace import Step

SHOWN = 240
"""Characters of a call's arguments that are shown."""


def first_difference(one: Sequence[Step], two: Sequence[Step]) -> int:
    """The index of the first tool call that differs in tool or arguments.

    Where one goes on after the other has ended it is the length of the shorter; where nothing
    differs it is the length of both.
    """
    calls = [[(step.tool, step.args) for step in steps] for steps in (one, two)]
    return next(
        (i for i, (left, right) in enumerate(zip(*calls, strict=False)) if left != right),
        min(len(one), len(two)),
    )


def call_text(steps: Sequence[Step], index: int) -> str:
    """One call on one line, or that there was none any more."""
    if index >= len(steps):
        return "(ended here)"
    step = steps[index]
    return f"{step.tool}({json.dumps(step.args, ensure_ascii=False)[:SHOWN]})"
