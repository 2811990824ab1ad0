"""The alert names the symptom, never the cause."""

from __future__ import annotations

import re
from collections.abc import Sequence

from heldout.build.validity.points import Point
from heldout.build.validity.subject import Subject

_COMMON = frozenset({"data", "spec", "service", "labels", "name", "main", "settings"})


def tokens(text: str) -> set[str]:
    """Words of three letters or more, split at case changes and separators, lower case."""
    split = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text)
    return {word.lower() for word in re.findall(r"[A-Za-z0-9]{3,}", split)} - _COMMON


def check(subject: Subject) -> Sequence[str]:
    """No token of the cause's name, field, actor or pull request stands in the alert.

    The alerted service may be named, also where it is itself the seat, and so may its cluster.
    """
    truth, view, plot = subject.truth, subject.view, subject.plot
    if not truth.culprit_change:
        return ()
    hidden = tokens(truth.culprit_field)
    for entity in (truth.culprit_entity, *truth.accepted_entities):
        hidden |= tokens(view.name.get(entity, ""))
    for row in view.rows("change_event"):
        if row["id"] == truth.culprit_change:
            hidden |= tokens(row["pr"]) | {row["id"].removeprefix("c-")} | tokens(row["actor"])
    victim = plot.land.ground.entities[plot.binding.victim]
    hidden -= tokens(f"{victim.name} {victim.cluster}")
    shared = sorted(hidden & tokens(subject.made.alert))
    return [f"the alert shares '{word}' with the cause" for word in shared]


POINT = Point("alert", check)
