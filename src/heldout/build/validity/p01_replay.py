"""A world keeps to the ontology, and base state plus replayed diffs are its facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.build.validity.points import Point
from heldout.build.validity.subject import Subject, View
from heldout.graph.schema import OPEN_END

Key = tuple[str, str]
Span = tuple[int, int, str, str]
"""Of a fact: from, to, value as JSON, change that set it."""


def check(subject: Subject) -> Sequence[str]:
    """The world can be written, each diff starts from what the one before left, and every fact
    holds exactly from its change to the next: so the state at any time is base and diffs.
    """
    if subject.refused is not None:
        return (str(subject.refused.what),)
    view = subject.view
    applied, deleted = _roles(view)
    spans: dict[Key, list[Span]] = {}
    for row in view.rows("fact"):
        event = "" if row["event_id"] == applied.get(row["entity_id"]) else row["event_id"]
        span = (row["valid_from"], row["valid_to"], row["value_json"], event)
        spans.setdefault((row["entity_id"], row["field"]), []).append(span)
    steps = _steps(view, applied)
    for key, held in spans.items():
        end = deleted.get(key[0], OPEN_END)
        if sorted(held) != _expected(held, steps.get(key, []), end):
            return (f"{key[1]} of {key[0]} does not hold what its changes lead to",)
    for (entity, field), taken in steps.items():
        if (entity, field) not in spans:
            return (f"{taken[0]['event_id']} changes {field} of {entity}, which has no such fact",)
    return ()


def _roles(view: View) -> tuple[dict[str, str], dict[str, int]]:
    """The change that applied each new incarnation, and when each deleted one ended.

    The base state of the first is what that change applied; the second holds nothing later.
    """
    when = {row["id"]: row["ts"] for row in view.rows("change_event")}
    applied, deleted = {}, {}
    for row in view.rows("change_target"):
        if row["role"] == "applied":
            applied[row["entity_id"]] = row["event_id"]
        elif row["role"] == "deleted":
            deleted[row["entity_id"]] = when[row["event_id"]]
    return applied, deleted


def _steps(view: View, applied: Mapping[str, str]) -> dict[Key, list[dict[str, Any]]]:
    """The diffs of each field in the order in which they happened."""
    when = {row["id"]: row["ts"] for row in view.rows("change_event")}
    found: dict[Key, list[dict[str, Any]]] = {}
    for row in view.rows("change_diff"):
        if row["event_id"] == applied.get(row["entity_id"]):
            continue
        found.setdefault((row["entity_id"], row["field"]), []).append(
            {**row, "ts": when[row["event_id"]]}
        )
    for taken in found.values():
        taken.sort(key=lambda row: (row["ts"], row["event_id"]))
    return found


def _expected(held: Sequence[Span], taken: Sequence[dict[str, Any]], last: int) -> list[Span]:
    """The facts that base state and diffs lead to; empty where the diffs do not join."""
    base = [span for span in held if not span[3]]
    value = base[0][2] if base else "null"
    spans: list[Span] = []
    for at, row in enumerate(taken):
        if row["old_json"] != value:
            return []
        value = row["new_json"]
        end = taken[at + 1]["ts"] if at + 1 < len(taken) else last
        spans.append((row["ts"], end, value, row["event_id"]))
    first = taken[0]["ts"] if taken else last
    return sorted([(span[0], first, span[2], span[3]) for span in base[:1]] + spans)


POINT = Point("replay", check)
