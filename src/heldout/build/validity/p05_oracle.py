"""The cause can be found: each link of the chain is where an investigator would look."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from heldout.build.validity import Point, Subject, View
from heldout.truth import Truth

MINUTE = 60_000_000
MAX_HOPS = 5


def check(subject: Subject) -> Sequence[str]:
    """Walk from the alert along failing calls to the mechanism, its field and its change."""
    view, truth = subject.view, subject.truth
    seat = walk(view, truth, subject.victim)
    if seat is None:
        return ("the failing calls do not lead from the alert to the seat of the fault",)
    if not truth.culprit_change:
        return ()
    found = []
    if truth.culprit_entity not in view.within(seat, 2):
        found.append("the entity with the field is more than two hops from the seat")
    leaf = letters(truth.culprit_field.rsplit(".", 1)[-1])
    said = [letters(text) for _, text in view.fresh_lines(seat, view.tables.now - 30 * MINUTE)]
    if not any(leaf in text or _parent(truth) in text for text in said):
        found.append("no new log pattern of the seat names the field")
    return [*found, *_change(view, truth)]


def walk(view: View, truth: Truth, victim: str) -> str | None:
    """Follow lines that name a failing neighbour; the accepted entity's seat, or ``None``."""
    at, seen = victim, {victim}
    goal = set(truth.accepted_entities)
    for _ in range(MAX_HOPS):
        if at in goal or (goal & view.within(at, 1) and at in truth.affected[:1]):
            return at
        texts = [text for level, text in view.fresh_lines(at, view.tables.now - 30 * MINUTE)
                 if level == "ERROR"]  # fmt: skip
        named = [
            other
            for other in view.near.get(at, ())
            if other not in seen and other in truth.affected and _named(view.name[other], texts)
        ]
        if not named:
            return at if at == truth.affected[0] else None
        at = truth.affected[0] if truth.affected[0] in named else named[0]
        seen.add(at)
    return at if at == truth.affected[0] else None


def _named(name: str, texts: Sequence[str]) -> bool:
    """Whether a text holds the whole name, not a longer one that contains it."""
    return any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) for text in texts)


def _change(view: View, truth: Truth) -> list[str]:
    rows = [
        row
        for row in view.rows("change_diff")
        if row["entity_id"] == truth.culprit_entity and row["field"] == truth.culprit_field
    ]
    if not rows:
        return ["no change touches the field"]
    when = {row["id"]: row["ts"] for row in view.rows("change_event")}
    last = max(rows, key=lambda row: when[row["event_id"]])
    if last["event_id"] != truth.culprit_change:
        return ["another change of the field is newer than the cause"]
    now = [
        row["value_json"]
        for row in view.rows("fact")
        if row["entity_id"] == truth.culprit_entity and row["field"] == truth.culprit_field
        and row["valid_to"] > view.tables.now
    ]  # fmt: skip
    if [json.loads(value) for value in now] != [json.loads(last["new_json"])]:
        return ["the field no longer holds the value that the cause set"]
    return []


def letters(text: str) -> str:
    """A text without case and separators, so that any spelling of a name is found."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _parent(truth: Truth) -> str:
    parts = truth.culprit_field.split(".")
    return letters(".".join(parts[-2:-1])) if len(parts) > 2 else letters(truth.culprit_field)


POINT = Point("oracle", check)
