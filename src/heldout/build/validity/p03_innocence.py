"""Without its decoys an incident looks the same where it fails."""

from __future__ import annotations

from collections.abc import Sequence

from heldout.build.validity import Point, Subject, View


def check(subject: Subject) -> Sequence[str]:
    """The twin without the decoys fails as much, and the alert is the same text."""
    twin = subject.twin("no_decoy")
    found = []
    if abs(View(twin).failing(subject.victim) - subject.view.failing(subject.victim)) > 0.5:
        found.append("the failure changes when the decoys are left out")
    if twin.alert != subject.made.alert:
        found.append("the alert changes when the decoys are left out")
    return found


POINT = Point("innocence", check)
