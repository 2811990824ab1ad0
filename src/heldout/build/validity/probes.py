"""Shortcuts: rules that pick a change by its surface, from the alert and the world alone.

A hard incident is not solved by any of them. Sources: graph_simulator research (section 9, point
9), leak_gate research (section 9).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from heldout.build.validity.subject import Subject
from heldout.floors.bm25 import rank
from heldout.simulate.rhythm import DAY, HOUR, weekday

PEOPLE = ("person", "bot")


@dataclass(frozen=True, slots=True)
class Made:
    """A change that a person or bot made, with everything on its surface.

    ``diffs`` are (entity, field, old, new) with values as JSON text.
    """

    id: str
    place: float
    ts: int
    lag: int
    type: str
    source: str
    actor: str
    bot: bool
    pr: str
    repo: str
    commit: str
    summary: str
    entities: tuple[str, ...]
    diffs: tuple[tuple[str, str, str, str], ...]

    @property
    def size(self) -> int:
        """Characters of its old and new values."""
        return sum(len(old) + len(new) for _, _, old, new in self.diffs)


class Scene:
    """What a shortcut may look at: the alert, its service, and the changes before onset."""

    def __init__(self, subject: Subject) -> None:
        self.view = subject.view
        self.alert = subject.made.alert
        self.victim = subject.victim
        self.onset = subject.onset
        self.affected = subject.truth.affected

    @cached_property
    def changes(self) -> list[Made]:
        """Changes by people and bots before onset, oldest first."""
        view = self.view
        entities: dict[str, dict[str, None]] = {}
        diffs: dict[str, list[tuple[str, str, str, str]]] = {}
        for row in view.rows("change_target"):
            entities.setdefault(row["event_id"], {})[row["entity_id"]] = None
        for row in view.rows("change_diff"):
            diffs.setdefault(row["event_id"], []).append(
                (row["entity_id"], row["field"], row["old_json"], row["new_json"])
            )
        rows = sorted(view.rows("change_event"), key=lambda row: (row["ts"], row["id"]))
        return [
            Made(
                id=row["id"], place=at / len(rows), ts=row["ts"],
                lag=row["observed_at"] - row["ts"], type=row["type"], source=row["source"],
                actor=row["actor"], bot=row["actor_kind"] == "bot", pr=row["pr"], repo=row["repo"],
                commit=row["commit"], summary=row["summary"],
                entities=tuple(entities.get(row["id"], ())), diffs=tuple(diffs.get(row["id"], ())),
            )
            for at, row in enumerate(rows)
            if row["actor_kind"] in PEOPLE and row["ts"] < self.onset
        ]  # fmt: skip

    @cached_property
    def nearby(self) -> list[Made]:
        """Changes within three hops of the alerted service."""
        return self.around([self.victim], 3)

    def around(self, entities: Iterable[str], hops: int) -> list[Made]:
        """Changes of what lies within ``hops`` of any of the entities."""
        near: set[str] = set()
        for entity in entities:
            near |= self.view.within(entity, hops)
        return [one for one in self.changes if not near.isdisjoint(one.entities)]


def last_by_a_person(scene: Scene) -> str:
    """The last change before onset that a person made, anywhere."""
    return _last([one for one in scene.changes if not one.bot])


def nearest_to_onset(scene: Scene) -> str:
    """The newest change within two hops of anything that fails."""
    return _last(scene.around(scene.affected, 2))


def latest_on_alerted(scene: Scene) -> str:
    """The latest change of the alerted service or of what it directly stands on."""
    return _last(scene.around([scene.victim], 1))


def first_change(scene: Scene) -> str:
    """The first change of the history."""
    return scene.changes[0].id if scene.changes else ""


def newest_change(scene: Scene) -> str:
    """The first row of one generic search, newest first."""
    return _last(scene.changes)


def rarest_field(scene: Scene) -> str:
    """The latest change of the field that changes least often."""
    return _rarest(scene, scene.changes)


def rarest_nearby(scene: Scene) -> str:
    """The same among the changes within three hops of the alerted service."""
    return _rarest(scene, scene.nearby)


def most_fields(scene: Scene) -> str:
    """The latest change with the most fields."""
    return _extreme(scene.changes, lambda one: len(one.diffs))


def longest_values(scene: Scene) -> str:
    """The latest change with the longest old and new values."""
    return _extreme(scene.changes, lambda one: one.size)


def largest_step(scene: Scene) -> str:
    """The latest change by the largest factor of a number."""
    return _extreme(scene.changes, lambda one: max(map(_factor, one.diffs), default=0.0))


def largest_step_nearby(scene: Scene) -> str:
    """The same among the changes within three hops of the alerted service."""
    return _extreme(scene.nearby, lambda one: max(map(_factor, one.diffs), default=0.0))


def oldest_unique_value(scene: Scene) -> str:
    """The oldest change to a value that no other entity got in that field."""
    return _unique(scene, scene.changes)


def unique_nearby(scene: Scene) -> str:
    """The same among the changes within three hops of the alerted service."""
    return _unique(scene, scene.nearby)


def words_of_alert(scene: Scene) -> str:
    """The change whose words are nearest to the alert's (BM25)."""
    changes = [one for one in scene.changes if one.diffs]
    if not changes:
        return ""
    name = scene.view.name
    texts = [
        " ".join([one.summary, *(name[e] for e in one.entities), *(f for _, f, _, _ in one.diffs)])
        for one in changes
    ]
    scores = rank(scene.alert, texts)
    return changes[max(range(len(changes)), key=lambda at: (scores[at], at))].id


def rarest_author(scene: Scene) -> str:
    """The latest change by whoever makes the fewest."""
    counts = Counter(one.actor for one in scene.changes)
    return _extreme(scene.changes, lambda one: -counts[one.actor])


def outside_hours(scene: Scene) -> str:
    """The latest change by a person at night or at a weekend."""
    return _last([one for one in scene.changes if not one.bot and _odd_hour(one.ts)])


def without_review(scene: Scene) -> str:
    """The latest change near the alerted service that names no pull request."""
    return _last([one for one in scene.around([scene.victim], 2) if not one.pr])


PROBES: Mapping[str, Callable[[Scene], str]] = {
    "last change by a person": last_by_a_person,
    "nearest to onset": nearest_to_onset,
    "latest on the alerted service": latest_on_alerted,
    "first change": first_change,
    "one search, first row": newest_change,
    "rarest field": rarest_field,
    "rarest field nearby": rarest_nearby,
    "most fields": most_fields,
    "longest values": longest_values,
    "largest step of a number": largest_step,
    "largest step nearby": largest_step_nearby,
    "oldest unique value": oldest_unique_value,
    "oldest unique value nearby": unique_nearby,
    "words of the alert (BM25)": words_of_alert,
    "rarest author": rarest_author,
    "only change outside hours": outside_hours,
    "no pull request": without_review,
}
"""Every shortcut by the name it has in the summary."""


def hits(subject: Subject) -> dict[str, bool]:
    """Which shortcuts pick the change that is the cause."""
    scene = Scene(subject)
    right = subject.truth.culprit_change
    return {name: bool(right) and probe(scene) == right for name, probe in PROBES.items()}


def _rarest(scene: Scene, among: Sequence[Made]) -> str:
    counts = Counter(field for one in scene.changes for _, field, _, _ in one.diffs)
    return _extreme(
        among, lambda one: -min((counts[field] for _, field, _, _ in one.diffs), default=1 << 30)
    )


def _unique(scene: Scene, among: Sequence[Made]) -> str:
    owners: dict[tuple[str, str], set[str]] = {}
    for one in scene.changes:
        for entity, field, _, new in one.diffs:
            owners.setdefault((field, new), set()).add(entity)
    for one in among:
        if any(len(owners[field, new]) == 1 for _, field, _, new in one.diffs):
            return one.id
    return ""


def _last(changes: Sequence[Made]) -> str:
    return changes[-1].id if changes else ""


def _extreme(changes: Sequence[Made], measure: Callable[[Made], float]) -> str:
    """The latest of the changes with the highest measure."""
    best = max(enumerate(changes), key=lambda one: (measure(one[1]), one[0]), default=None)
    return best[1].id if best else ""


def _factor(diff: tuple[str, str, str, str]) -> float:
    old, new = _number(json.loads(diff[2])), _number(json.loads(diff[3]))
    return max(old / new, new / old) if old and new and old > 0 < new else 0.0


def _number(value: Any) -> float:
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if numeric else 0.0


def _odd_hour(ts: int) -> bool:
    return weekday(ts) > 4 or not 7 <= ts % DAY // HOUR < 19
