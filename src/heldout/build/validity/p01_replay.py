"""A world's tables agree with each other: replayed diffs lead to the facts."""

from __future__ import annotations

from collections.abc import Sequence

from heldout.build.validity import Point, Subject


def check(subject: Subject) -> Sequence[str]:
    """Each diff starts from what the one before left, and the last one is the present fact."""
    view = subject.view
    when = {row["id"]: row["ts"] for row in view.rows("change_event")}
    state: dict[tuple[str, str], str] = {}
    now: dict[tuple[str, str], str] = {}
    for row in view.rows("fact"):
        key = (row["entity_id"], row["field"])
        if not row["event_id"]:
            state[key] = row["value_json"]
        if row["valid_to"] > view.tables.now:
            now[key] = row["value_json"]
    diffs = view.rows("change_diff")
    for row in sorted(diffs, key=lambda one: (when[one["event_id"]], one["event_id"])):
        key = (row["entity_id"], row["field"])
        if state.get(key, "null") != row["old_json"]:
            return (f"{row['event_id']} changes {row['field']} from what it was not",)
        state[key] = row["new_json"]
    odd = [key for key, value in state.items() if now.get(key) != value]
    return (f"{odd[0][1]} of {odd[0][0]} does not hold what the changes lead to",) if odd else ()


POINT = Point("replay", check)
