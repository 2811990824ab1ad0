"""What controllers report and write while a fault bites."""

from __future__ import annotations

from heldout.simulate.fault import Effect
from heldout.simulate.ground import Change, Edit
from heldout.simulate.plot import Plot
from heldout.simulate.rhythm import SECOND
from heldout.simulate.scope import members, places
from heldout.simulate.streams import share
from heldout.simulate.symptoms import Active, filled, spoken

MOST_PLACES = 6
"""Reports of one effect at most; controllers repeat themselves, pages are finite."""
_ACTORS = {
    "pod": "kubelet", "node": "node-controller", "scale": "horizontal-pod-autoscaler",
}  # fmt: skip


def effect_changes(plot: Plot, active: Active) -> list[Change]:
    """Events of the active fault's effects, from just before onset to a minute after it.

    An announced one comes as many days earlier as its record says.
    """
    found: list[Change] = []
    for number, effect in enumerate(active.fault.effects):
        for entity in _ends(plot, active, effect)[:MOST_PLACES]:
            found.append(_event(plot, active, effect, number, entity))
    return found


def _ends(plot: Plot, active: Active, effect: Effect) -> list[int]:
    scope = active.fault.scope
    if scope is not None and effect.on == scope.over and active.seat == plot.binding.seat:
        return members(plot)[0]
    return places(plot.land.ground, effect.on, active.seat, active.holder, victim=active.path[0])


def _event(plot: Plot, active: Active, effect: Effect, number: int, entity: int) -> Change:
    ground = plot.land.ground
    own = ground.id(entity)
    delay = int(share(plot.seed, "effect", number, own) * 80)
    edits: tuple[Edit, ...] = ()
    if effect.field:
        edits = (Edit(entity, effect.field, effect.value, None),)
    words = {**spoken(plot, active), "name": ground.name(entity)}
    # A key of its own beside every other change of the day.
    key = f"effect/{number}/{own}"
    ts = plot.onset - 20 * SECOND + (delay - round(effect.days * 86_400)) * SECOND
    return Change(
        ts, key, effect.type, "k8s",
        _ACTORS.get(effect.type, "platform-events"), "controller", "", "", "",
        filled(effect.summary, words), (entity,), edits,
    )  # fmt: skip
