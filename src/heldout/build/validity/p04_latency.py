"""A latent cause needs its trigger, and the trigger alone harms nobody."""

from __future__ import annotations

from collections.abc import Sequence

from heldout.build.validity.p02_necessity import HEALTHY_BELOW
from heldout.build.validity.points import Point
from heldout.build.validity.subject import Subject


def check(subject: Subject) -> Sequence[str]:
    """The twin without the trigger is well; necessity already shows the trigger alone."""
    if not subject.plot.latent:
        return ()
    if subject.failing(subject.twin("no_trigger")) > HEALTHY_BELOW:
        return ("it fails without its trigger",)
    return ()


POINT = Point("latency", check)
