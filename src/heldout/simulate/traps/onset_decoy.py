"""A change minutes before onset, on the alerted path, that has nothing to do with it."""

from __future__ import annotations

from heldout.simulate.catalog import VERSIONED
from heldout.simulate.dressing import image_at
from heldout.simulate.fault import Fault, faults
from heldout.simulate.ground import Edit
from heldout.simulate.plot import Act, Plot
from heldout.simulate.rhythm import DAY, SECOND
from heldout.simulate.streams import share
from heldout.simulate.trap import Trap


def _places(plot: Plot) -> list[tuple[Fault, int, int]]:
    """(record, service, holder) that may be edited: services of the path, the victim first."""
    ground, binding = plot.land.ground, plot.binding
    taken = plot.protected()
    places = []
    for service in binding.path:
        if ground.entities[service].kind != "Service":
            continue
        for fault in faults().values():
            if not fault.lends or fault.seat != "Service" or fault.name == binding.fault.name:
                continue
            walk = ground.walk(service, fault.holder)
            if walk and (walk[-1], fault.field_in(plot.land.style)) not in taken:
                places.append((fault, service, walk[-1]))
    return places


def compose(plot: Plot) -> Plot:
    """Add ``decoys`` (0 to 3) innocent changes, 1 to 15 minutes before onset."""
    used: set[int] = set()
    for number in range(int(plot.knob("decoys", 1))):
        places = [place for place in _places(plot) if place[2] not in used]
        if not places:
            break
        rng = plot.rng("decoy", number)
        near = [p for p in places if p[1] in plot.binding.path[:2]] or places
        fault, service, holder = near[int(rng.random() * len(near))]
        used.add(holder)
        ts = plot.onset - int(rng.integers(60, 15 * 60)) * SECOND
        plot = plot.having(_act(plot, number, ts, fault, service, holder))
    return plot


def _act(plot: Plot, number: int, ts: int, fault: Fault, service: int, holder: int) -> Act:
    pick = int(share(plot.seed, "decoy-values", number) * len(fault.values))
    old, new = fault.values[pick]
    if fault.field in VERSIONED:
        ground = plot.land.ground
        new = image_at(ground, holder, ts, plot.start)
        old = image_at(ground, holder, ts - 2 * DAY, plot.start)
    edit = Edit(holder, fault.field_in(plot.land.style), new, old)
    return Act(f"late/{number}", "decoy", ts, edit, fault, service, why=fault.harmless)


TRAP = Trap("onset_decoy", compose)
