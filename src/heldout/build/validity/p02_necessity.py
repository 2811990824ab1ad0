"""Without the cause there is no symptom."""

from __future__ import annotations

from collections.abc import Sequence

from heldout.build.validity.points import Point
from heldout.build.validity.subject import Subject

HEALTHY_BELOW = 3.0
"""Percent of failing calls that an ordinary day may show."""


def check(subject: Subject) -> Sequence[str]:
    """The alerted service fails in the world and is well in the twin without the cause.

    Where the alert is false it is well in the world too, and where the trouble is over it is well
    again.
    """
    cause = subject.plot.binding.fault.cause
    fails = subject.failing(subject.made) > HEALTHY_BELOW
    found = []
    if cause == "false_alarm" and fails:
        found.append("the alerted service fails although the alert is to be false")
    if cause != "false_alarm" and not fails:
        found.append("the alerted service shows no failure in the world itself")
    if cause == "recovered" and _now(subject) > HEALTHY_BELOW:
        found.append("the alerted service still fails although the trouble is to be over")
    if subject.failing(subject.twin("no_cause")) > HEALTHY_BELOW:
        found.append("the alerted service still fails in the twin without the cause")
    return found


def _now(subject: Subject) -> float:
    """The alerted service's error share in the world's last sample."""
    return subject.view.failing(subject.victim, window=1)


POINT = Point("necessity", check)
