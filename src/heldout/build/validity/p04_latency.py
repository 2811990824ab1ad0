"""A latent cause needs its trigger, and the trigger alone harms nobody."""

from __future__ import annotations

from collections.abc import Sequence

from heldout.build.validity import Point, Subject, View
from heldout.build.validity.p02_necessity import HEALTHY_BELOW


def check(subject: Subject) -> Sequence[str]:
    """The twin without the trigger is well; necessity already shows the trigger alone."""
    if "latent_cause" not in subject.spec.traps:
        return ()
    if View(subject.twin("no_trigger")).failing(subject.victim) > HEALTHY_BELOW:
        return ("it fails without its trigger",)
    return ()


POINT = Point("latency", check)
