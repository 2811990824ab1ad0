"""The cause landed days before the alert and slept until something woke it."""

from __future__ import annotations

from dataclasses import replace

from heldout.simulate.plot import Plot, office_moment
from heldout.simulate.rhythm import DAY, HOUR
from heldout.simulate.trap import Trap


def compose(plot: Plot) -> Plot:
    """Move the cause ``latency_days`` back (0.15 to 13), to working hours.

    Below a day that is the most: the cause lies between then and two hours before onset.
    """
    days = plot.knob("latency_days", 4.0)
    target = plot.onset - round(days * DAY)
    slack = min(12 * HOUR, round(days * DAY / 5))
    low, high = target - slack, target + slack
    if days < 1:
        low, high = target, plot.onset - 2 * HOUR
        target = (low + high) // 2
    ts = office_moment(plot, "cause", target, low, high)
    acts = tuple(replace(act, ts=ts) if act.role == "cause" else act for act in plot.acts)
    return replace(plot, acts=acts, latent=True)


TRAP = Trap("latent_cause", compose, turn=0)
