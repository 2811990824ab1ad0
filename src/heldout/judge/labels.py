"""Labelled answers: what judges are measured by.

Those that come with the package are of our own making, incidents and labels alike, and belong to no
set. A team's file has the same form: one JSON object per line with ``entity``, ``change``,
``mechanism``, the ``result`` that a person gave (pass or fail), and an ``incident`` of the built-in
ones or a ``truth`` of its own. ``id`` and ``class`` are optional.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from heldout.errors import UsageError
from heldout.interface import Submission
from heldout.truth import Decoy, NearMiss, Truth

FOLDER = Path(__file__).with_name("labelled")
BUILT_IN = "built-in"

CLASSES: Mapping[str, str] = {
    "right": "right",
    "rightly_open": "rightly: it cannot be proven",
    "near_miss": "near miss",
    "symptom_only": "symptom only",
    "hedged": "hedged list",
    "honest_miss": "honest miss",
    "wrong_entity": "wrong entity",
    "wrong_change": "right entity, wrong change",
    "confident_wrong": "long, confident and wrong",
    "injection": "words to the judge",
}
"""The classes of the built-in answers; only the first two pass."""

_LISTS = ("accepted_entities", "accepted_changes", "affected", "unaffected", "chain")
_TRUTH = tuple(field.name for field in fields(Truth))


@dataclass(frozen=True, slots=True)
class Labelled:
    """One answer with the result that it deserves; ``kind`` is its class."""

    id: str
    kind: str
    truth: Truth
    submission: Submission
    result: Literal["pass", "fail"]


@dataclass(frozen=True, slots=True)
class Labels:
    """Labelled answers, where they come from, and a hash over all of it."""

    name: str
    hash: str
    answers: tuple[Labelled, ...]


def built_in() -> Labels:
    """The labelled answers of this package."""
    return _read(FOLDER / "answers.jsonl", BUILT_IN)


def labels_from(path: Path) -> Labels:
    """A team's labelled answers; a file that does not fit is a :class:`UsageError`."""
    return _read(path, path.name)


def _read(path: Path, name: str) -> Labels:
    known = {truth.incident: truth for truth in map(_truth, _lines(FOLDER / "incidents.jsonl"))}
    answers = []
    for number, row in enumerate(_lines(path), 1):
        try:
            answers.append(_labelled(row, number, known))
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(
                f"a labelled answer does not fit ({type(error).__name__}: {error})",
                where=f"{path}, answer {number}",
                mend="Each line needs entity, change, mechanism, result (pass or fail), and an "
                "incident or a truth; see docs/how-to/judge.md",
            ) from error
    if not answers:
        raise UsageError("there is no labelled answer", where=str(path), mend="Add some")
    digest = hashlib.sha256(path.read_bytes())
    digest.update((FOLDER / "incidents.jsonl").read_bytes())
    return Labels(name, digest.hexdigest(), tuple(answers))


def _lines(path: Path) -> list[dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
        rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise UsageError(
            f"labelled answers cannot be read ({type(error).__name__})",
            where=str(path),
            mend="Name a file with one JSON object per line",
        ) from error
    if not all(isinstance(row, dict) for row in rows):
        raise UsageError("a line is no JSON object", where=str(path), mend="Correct the line")
    return rows


def _labelled(row: Mapping[str, Any], number: int, known: Mapping[str, Truth]) -> Labelled:
    result = row["result"]
    if result not in ("pass", "fail"):
        raise ValueError("result is neither pass nor fail")
    truth = _truth(row["truth"]) if "truth" in row else known[str(row["incident"])]
    submission = Submission(
        root_cause_entity=_text(row["entity"]),
        root_cause_change=_text(row["change"]),
        mechanism=str(row["mechanism"]),
        trigger=str(row.get("trigger", "")),
        affected=tuple(str(one) for one in row.get("affected", ())),
    )
    kind = str(row.get("class", "unclassed"))
    return Labelled(str(row.get("id", number)), kind, truth, submission, result)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _truth(raw: Mapping[str, Any]) -> Truth:
    """A truth in plain data; what it leaves out is empty."""
    empty: dict[str, Any] = dict.fromkeys(_TRUTH, "")
    unknown = set(raw) - set(_TRUTH)
    if unknown:
        raise ValueError(f"a truth has no '{min(unknown)}'")
    plain = empty | dict(raw)
    return Truth(
        **{
            **plain,
            **{name: tuple(str(one) for one in plain[name]) for name in _LISTS},
            "mechanism_terms": tuple(tuple(group) for group in plain["mechanism_terms"]),
            "decoys": tuple(Decoy(**one) for one in plain["decoys"]),
            "near_misses": tuple(NearMiss(**one) for one in plain["near_misses"]),
        }
    )
