"""Verdicts of production, a JSON line each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from heldout.errors import IngestError

Word = Literal["pass", "fail"]
_PASS = frozenset({"pass", "passed", "right", "correct", "true"})
_FAIL = frozenset({"fail", "failed", "wrong", "incorrect", "false"})


@dataclass(frozen=True, slots=True)
class Line:
    """One investigation of production."""

    number: int
    incident: str
    answer: Any
    verdict: Word


def read_lines(path: Path) -> tuple[list[Line], list[tuple[int, str, str]]]:
    """The usable lines of a file, and (line, incident, why) of the others."""
    lines: list[Line] = []
    bad: list[tuple[int, str, str]] = []
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            for number, text in enumerate(file, 1):
                if text.strip():
                    one = _line(number, text)
                    if isinstance(one, Line):
                        lines.append(one)
                    else:
                        bad.append(one)
    except OSError as error:
        raise IngestError(
            f"it cannot be read ({error.strerror or type(error).__name__})",
            where=str(path), mend="Name a file of JSON lines",
        ) from error  # fmt: skip
    return lines, bad


def _line(number: int, text: str) -> Line | tuple[int, str, str]:
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError):
        return number, "", "the line is not JSON"
    if not isinstance(raw, dict) or not isinstance(raw.get("incident"), str):
        return number, "", "it names no incident"
    verdict = str(raw.get("verdict", "")).strip().lower()
    if verdict not in _PASS | _FAIL:
        return number, raw["incident"], "its verdict is neither pass nor fail"
    word: Word = "pass" if verdict in _PASS else "fail"
    return Line(number, raw["incident"].strip(), raw.get("answer"), word)
