"""Without its decoys an incident looks the same where it fails."""

from __future__ import annotations

from collections.abc import Sequence

from heldout.build.validity.points import Point
from heldout.build.validity.subject import Subject

SAME_WITHIN = 2.0
"""Percentage points; the twin's everyday noise is drawn anew."""


def check(subject: Subject) -> Sequence[str]:
    """The twin without the decoys fails as much, at the same places, under the same alert."""
    twin = subject.twin("no_decoy")
    found = []
    if abs(subject.failing(twin) - subject.failing(subject.made)) > SAME_WITHIN:
        found.append("the failure changes when the decoys are left out")
    if twin.truth.affected != subject.truth.affected:
        found.append("other entities fail when the decoys are left out")
    if twin.alert != subject.made.alert:
        found.append("the alert changes when the decoys are left out")
    return found


POINT = Point("innocence", check)
