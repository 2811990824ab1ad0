"""Loud alerts around onset about things that are unrelated or themselves only suffer."""

from __future__ import annotations

from dataclasses import replace

from heldout.simulate.alerts import elsewhere, rule_for
from heldout.simulate.plot import Plot, Ring, upstream
from heldout.simulate.rhythm import MINUTE, SECOND
from heldout.simulate.trap import Trap

_DOWNSTREAM = (
    "users of {name} report failed pages", "{name} gives up on many of its calls",
    "the outside check of {name} fails from three regions", "{name} is down for some users",
    "support counts many complaints about {name}", "{name} misses its promise to callers",
)  # fmt: skip
_LOUD = ("page", "critical")


def compose(plot: Plot) -> Plot:
    """Add four to nine alerts between a quarter of an hour before onset and now."""
    rng = plot.rng("herrings")
    count = int(rng.integers(4, 10))
    above = [one for one in upstream(plot.land.ground, plot.binding.seat)
             if one not in plot.binding.path]  # fmt: skip
    firing = round(count * float(rng.uniform(0.3, 0.7)))
    rings = []
    for number, draw in enumerate(rng.permutation(count).tolist()):
        ts = int(rng.integers(plot.onset - 15 * MINUTE, plot.now - 10 * SECOND))
        state = "firing" if draw < firing else "resolved"
        severity = _LOUD[int(rng.integers(2))]
        if above and rng.random() < 0.5:
            entity = above[int(rng.integers(len(above)))]
            # Trouble that an alert reports has begun.
            ts = max(ts, plot.onset + MINUTE)
            rule = rule_for(plot.seed, "herring", number)
            text = _DOWNSTREAM[int(rng.integers(len(_DOWNSTREAM)))]
        else:
            entity, rule, text = elsewhere(plot, rng)
        said = text.replace("{name}", plot.land.ground.name(entity))
        rings.append(Ring(entity, ts // SECOND * SECOND, rule, severity, said, state))
    return replace(plot, rings=(*plot.rings, *rings))


TRAP = Trap("red_herring_alerts", compose)
