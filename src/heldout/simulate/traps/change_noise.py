"""Many ordinary changes on the very entities that an investigator looks at."""

from __future__ import annotations

from heldout.simulate.plot import Plot, edits_on, everyday_acts
from heldout.simulate.rhythm import HOUR, MINUTE
from heldout.simulate.trap import Trap


def compose(plot: Plot) -> Plot:
    """Add ``noise`` (1 to 3) times a week's changes of the holder and the path."""
    factor = plot.knob("noise", 1.0)
    cause = plot.act("cause")
    since = cause.ts if cause is not None and plot.latent else plot.start
    until = plot.onset - 20 * MINUTE
    plot = plot.having(*everyday_acts(plot, "busy", round(12 * factor), since, until))
    ground = plot.land.ground
    for service in plot.binding.path:
        for hops in (("runs_on>Deployment",), ("runs_on>Deployment", "mounts>ConfigMap")):
            walk = ground.walk(service, hops)
            if walk and walk[-1] != plot.binding.holder:
                low = min(since, until - 30 * HOUR)
                plot = plot.having(*edits_on(plot, "busy", walk[-1], round(7 * factor), low, until))
    return plot


TRAP = Trap("change_noise", compose)
