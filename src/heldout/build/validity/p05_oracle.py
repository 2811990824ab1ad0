"""The truth can be found: a scripted walk through the tools is shown each of its links."""

from __future__ import annotations

from collections.abc import Sequence

from heldout.build.validity.points import Point
from heldout.build.validity.subject import Subject
from heldout.build.validity.walk import MOST_CALLS, Spent, Walk, named_field


def check(subject: Subject) -> Sequence[str]:
    """Walk from the alert to the change, in at most 25 calls and the real limits of output.

    Where the proof was not kept the walk must come to a halt, at a gap that the tools admit.
    """
    if subject.refused is not None:
        return ()
    walk = Walk(subject)
    try:
        if subject.spec.kind == "unanswerable":
            return _unprovable(walk)
        return _walked(walk)
    except Spent:
        return (f"its links are not shown within {MOST_CALLS} calls",)
    finally:
        walk.close()


def _walked(walk: Walk) -> list[str]:
    cause, truth = walk.plot.binding.fault.cause, walk.subject.truth
    missing = walk.symptom()
    if missing or cause == "false_alarm":
        return missing or walk.quiet()
    missing = walk.path()
    if missing:
        return missing
    missing, said = walk.mechanism()
    missing += walk.scope()
    if cause == "recovered":
        missing += walk.quiet()
    if not truth.culprit_change:
        return missing or walk.unproved()
    if not named_field(walk.plot, truth.culprit_field, said):
        missing.append("nothing at the seat leads to the field")
    return [*missing, *walk.holder(), *walk.change()] or walk.unproved()


def _unprovable(walk: Walk) -> list[str]:
    missing = walk.symptom() or walk.path()
    if missing:
        return missing
    if not walk.change():
        return ["the cause can be proven although its proof is to be missing"]
    walk.look_around()
    if not walk.withheld:
        return ["no answer admits that the proof was not kept"]
    return []


POINT = Point("oracle", check)
