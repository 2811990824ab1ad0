"""What ``terraform apply -json`` printed: what was applied, and when.

A plan says what would be done; only this says that it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from heldout.ingest.moments import moment

MAX_STEPS = 20_000


@dataclass(frozen=True, slots=True)
class Applied:
    """One apply: when it ended (microseconds), and (address, verb, id) of what it did."""

    at: int
    steps: tuple[tuple[str, str, str], ...]
    failed: tuple[str, ...]


def is_apply_log(first: Any) -> bool:
    """Whether a line is of Terraform's machine-readable output."""
    return isinstance(first, Mapping) and "@level" in first and "@message" in first


def read_apply(lines: Iterable[str]) -> Applied | None:
    """The apply that a log tells of; ``None`` where nothing was applied or no time is told.

    Lines that do not parse are passed over: logs are cut and mixed with other output.
    """
    steps: list[tuple[str, str, str]] = []
    failed: list[str] = []
    last: int | None = None
    for line in lines:
        try:
            one = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if not is_apply_log(one) or len(steps) > MAX_STEPS:
            continue
        hook = one.get("hook")
        resource = hook.get("resource") if isinstance(hook, Mapping) else None
        address = resource.get("addr") if isinstance(resource, Mapping) else None
        if not isinstance(address, str) or not isinstance(hook, Mapping):
            continue
        if one.get("type") == "apply_complete":
            steps.append((address, str(hook.get("action")), str(hook.get("id_value") or "")))
            last = moment(one.get("@timestamp")) or last
        elif one.get("type") == "apply_errored":
            failed.append(address)
    return Applied(last, tuple(steps), tuple(failed)) if steps and last is not None else None
