"""Nearest to onset is wrong on traps and right where the onset change is the cause."""

from __future__ import annotations

from collections.abc import Sequence

from heldout.build.validity import Point, Subject

PEOPLE = ("person", "bot")


def nearest_to_onset(subject: Subject) -> str:
    """The newest change by people or bots within two hops of anything affected; empty if none."""
    view = subject.view
    around: set[str] = set()
    for entity in subject.truth.affected:
        around |= view.within(entity, 2)
    hit: dict[str, None] = {}
    for row in view.rows("change_target"):
        if row["entity_id"] in around:
            hit[row["event_id"]] = None
    newest = max(
        (
            (row["ts"], row["id"])
            for row in view.rows("change_event")
            if row["id"] in hit and row["actor_kind"] in PEOPLE and row["ts"] < subject.onset
        ),
        default=(0, ""),
    )
    return str(newest[1])


def check(subject: Subject) -> Sequence[str]:
    """One probe per incident; the others are measured over a whole set."""
    kind, right = subject.spec.kind, nearest_to_onset(subject) == subject.truth.culprit_change
    if kind == "trap" and right:
        return ("the change nearest to onset is the cause",)
    if kind == "onset_control" and not right:
        return ("the change nearest to onset is not the cause",)
    return ()


POINT = Point("shortcuts", check)
