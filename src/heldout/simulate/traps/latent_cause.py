"""The cause landed days before the alert and slept until something woke it."""

from __future__ import annotations

from dataclasses import replace

from heldout.simulate.plot import Plot
from heldout.simulate.rhythm import DAY, HOUR, moments, worked
from heldout.simulate.trap import Trap

ENOUGH = 3.0
"""Hours of the busiest kind that the window of a cause holds at least."""


def compose(plot: Plot) -> Plot:
    """Move the cause about ``latency_days`` back (0.15 to 13), to working hours.

    Below a day that is the most, unless nobody works so shortly before onset.
    """
    days = plot.knob("latency_days", 4.0)
    target = plot.onset - round(days * DAY)
    slack = min(12 * HOUR, round(days * DAY / 5))
    low, high = target - slack, target + slack
    if days < 1:
        low, high = target, plot.onset - 2 * HOUR
    ts = _worked_at(plot, low, high)
    acts = tuple(replace(act, ts=ts) if act.role == "cause" else act for act in plot.acts)
    return replace(plot, acts=acts, latent=True)


def _worked_at(plot: Plot, low: int, high: int) -> int:
    """A moment when people work; the window grows until it holds some hours of that kind.

    A cause at night or on a Sunday would stand out among changes that are nearly all made at work.
    """
    rhythm = plot.land.habits.rhythm
    first, last = plot.start + HOUR, plot.onset - 2 * HOUR
    while worked(low, high, rhythm) < ENOUGH and (low > first or high < last):
        low, high = max(first, low - 3 * HOUR), min(last, high + 3 * HOUR)
    return int(moments(plot.rng("moment", "cause"), 1, low, high, flat=False, rhythm=rhythm)[0])


TRAP = Trap("latent_cause", compose, turn=0)
