"""Without the cause there is no symptom."""

from __future__ import annotations

from collections.abc import Sequence

from heldout.build.validity import Point, Subject, View

HEALTHY_BELOW = 3.0
"""Percent of failing calls that an ordinary day may show."""


def check(subject: Subject) -> Sequence[str]:
    """The alerted service fails in the world and is well in the twin without the cause."""
    victim = subject.victim
    found = []
    if subject.view.failing(victim) <= HEALTHY_BELOW:
        found.append("the alerted service shows no failure in the world itself")
    if View(subject.twin("no_cause")).failing(victim) > HEALTHY_BELOW:
        found.append("the alerted service still fails in the twin without the cause")
    return found


POINT = Point("necessity", check)
