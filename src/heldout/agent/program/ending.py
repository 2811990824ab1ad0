"""From what a program did to a trace: why it ended, what it said, what it cost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from heldout.agent.program.workplace import Usage
from heldout.agent.trace import PROGRAM, Step, StopReason, Trace
from heldout.interface import Submission
from heldout.serve.process import Served


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended; ``code`` is ``None`` for one that was ended by us."""

    served: Served
    code: int | None
    timed_out: bool
    seconds: float
    output: str
    errors: str


def trace_of(ended: Ended, usage: Usage, prompt: str, alert: str) -> Trace:
    """The trace of an investigation; ``prompt`` and ``alert`` are what the program was given."""
    served = ended.served
    steps = tuple(Step(**{**step, "shown_ids": tuple(step["shown_ids"])}) for step in served.steps)
    reason = _reason(ended)
    submission = served.submission or Submission(complete=False)
    if reason != "submitted":
        submission = replace(submission, complete=False)
    return Trace(
        messages=tuple(_messages(steps, prompt, alert, ended.output)),
        steps=steps,
        submission=submission,
        stop_reason=reason,
        calls=usage.calls,
        input_tokens=usage.input_tokens,
        cached_tokens=usage.cached_tokens,
        output_tokens=usage.output_tokens,
        usd=usage.usd,
        seconds=ended.seconds,
        served_model=usage.model,
        detail=_detail(ended, usage),
        mode=PROGRAM,
    )


def _reason(ended: Ended) -> StopReason:
    served = ended.served
    if served.submission is not None:
        return _LIMITS.get(served.limit, "submitted")
    if ended.timed_out:
        return "max_seconds"
    if served.limit in _LIMITS:
        return _LIMITS[served.limit]
    return "no_submission" if ended.code == 0 else "crash"


_LIMITS: dict[str, StopReason] = {"max_steps": "max_steps", "max_seconds": "max_seconds"}


def _detail(ended: Ended, usage: Usage) -> str:
    parts = []
    if ended.code not in (0, None):
        parts.append(f"the program ended with code {ended.code}")
    if not usage.reported:
        parts.append("no usage was reported")
    if ended.errors.strip():
        parts.append(f"stderr: {ended.errors.strip()[-1_500:]}")
    return "; ".join(parts)[:2_000]


def _messages(steps: Sequence[Step], prompt: str, alert: str, output: str) -> list[dict[str, Any]]:
    """The investigation as a conversation: each call that was served, then what was printed."""
    found: list[dict[str, Any]] = [
        {"role": "system", "content": prompt},
        {"role": "user", "content": alert},
    ]
    for step in steps:
        function = {"name": step.tool, "arguments": json.dumps(step.args)}
        call = {"id": f"call_{step.index}", "type": "function", "function": function}
        found.append({"role": "assistant", "content": None, "tool_calls": [call]})
        answer = {"role": "tool", "tool_call_id": call["id"], "content": step.answer}
        found.append(answer)
    if output.strip():
        found.append({"role": "assistant", "content": output})
    return found
