"""Other changes that could have made the same trouble: the engine's own rules, asked backwards.

Healthy history holds suspicious values of the faults' own fields on purpose. Where such a value
would bite the alerted path and be awake at onset, an incident would have two right answers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from heldout.simulate.catalog import COUNTERS, VERSIONED
from heldout.simulate.fault import Fault, faults
from heldout.simulate.ground import Change, Edit, Ground
from heldout.simulate.plot import Plot
from heldout.simulate.rhythm import MINUTE
from heldout.simulate.scope import places
from heldout.simulate.spread import spread
from heldout.simulate.streams import share

AT_ONCE = 15 * MINUTE
"""A change this close to onset may bite as it lands, without a trigger of its own."""
BEFORE, AFTER = 10 * MINUTE, MINUTE
"""Around onset: what is reported then may wake a dormant value."""


class Suspect(NamedTuple):
    """A value that a change set."""

    ts: int
    entity: int
    field: str
    value: Any


class Event(NamedTuple):
    """What was reported around onset: type of event and the entity it is about."""

    type: str
    entity: int


class Reenactment:
    """Asks of any change whether it alone would make the plot's alerted service fail at onset.

    That takes a record with this kind of holder and field, the value among its biting ones, a seat
    from which trouble spreads to the victim, and a trigger: one of the ``events``, the plot's load,
    or the change's own moment. Records that lend their edits to decoys are innocent by declaration.
    """

    def __init__(self, plot: Plot, events: Collection[Event]) -> None:
        self._plot = plot
        self._ground = plot.land.ground
        self._events = frozenset(events)
        self._reached: dict[tuple[int, tuple[str, ...]], bool] = {}
        self._records: dict[tuple[str, str], list[Fault]] = {}
        for fault in faults().values():
            # Nothing in a version says that it is bad; each incident names its own.
            if fault.cause == "change" and not fault.lends and fault.field not in VERSIONED:
                key = fault.holder_kind, fault.field_in(plot.land.style)
                self._records.setdefault(key, []).append(fault)

    def concerns(self, entity: int, field: str) -> bool:
        """Whether any record is about this field of such an entity at all."""
        return (self._ground.entities[entity].kind, field) in self._records

    def explains(self, suspect: Suspect) -> Fault | None:
        """The record by which the change would do it, ``None`` where none says so."""
        kind = self._ground.entities[suspect.entity].kind
        for fault in self._records.get((kind, suspect.field), ()):
            if not _bites(self._ground, fault, suspect):
                continue
            for seat in seats_of(self._ground, fault, suspect.entity):
                if self._wakes(fault, seat, suspect) and self._spreads(fault, seat):
                    return fault
        return None

    def _wakes(self, fault: Fault, seat: int, suspect: Suspect) -> bool:
        plot = self._plot
        if plot.onset - AT_ONCE <= suspect.ts <= plot.onset:
            return True
        trigger, load = fault.trigger, plot.binding.fault.trigger.load
        if trigger.load > 1 and load > 1 and seat in plot.binding.path:
            return True
        woken = places(self._ground, trigger.on, seat, suspect.entity, plot.binding.victim)
        return any(Event(trigger.type, one) in self._events for one in woken)

    def _spreads(self, fault: Fault, seat: int) -> bool:
        key = seat, fault.carries
        if key not in self._reached:
            binding = self._plot.binding
            level = spread(self._ground, seat, binding.path, carries=fault.carries)
            self._reached[key] = binding.victim in level
        return self._reached[key]


def _bites(ground: Ground, fault: Fault, suspect: Suspect) -> bool:
    if fault.field in COUNTERS:
        return True
    healthy = [pair[0] for pair in fault.values]
    biting = [_resolved(ground, suspect.entity, pair[1]) for pair in fault.values]
    return suspect.value in biting and suspect.value not in healthy


def _resolved(ground: Ground, entity: int, value: Any) -> Any:
    if isinstance(value, str) and value.startswith("="):
        return ground.base.get((entity, value[1:]))
    return value


def seats_of(ground: Ground, fault: Fault, holder: int) -> list[int]:
    """Every entity from which the record's hops lead to ``holder``, in a stable order."""
    ends = [holder]
    for at in range(len(fault.holder) - 1, -1, -1):
        hop = fault.holder[at]
        kind = _kind(fault.holder[at - 1]) if at else fault.seat
        ends = list(dict.fromkeys(one for end in ends for one in _back(ground, end, hop, kind)))
    return [one for one in ends if ground.entities[one].kind == fault.seat]


def _kind(hop: str) -> str:
    return hop.split(">" if ">" in hop else "<")[1]


def _back(ground: Ground, end: int, hop: str, kind: str) -> Iterator[int]:
    """Entities of ``kind`` from which ``hop`` leads to ``end``."""
    outward = ">" in hop
    predicate = hop.split(">" if outward else "<")[0]
    edges: Sequence[tuple[str, int]] = ground.into(end) if outward else ground.out(end)
    for found, other in edges:
        if found == predicate and ground.entities[other].kind == kind:
            yield other


def tamed(plot: Plot, changes: Sequence[Change]) -> list[Change]:
    """The changes, with healthy values where another one would explain the alert as well.

    What the incident's own acts are about stays as it is; the result is the same in every variant.
    """
    acts = [act for act in plot.acts if act.role != "noise"]
    own = {(act.key, edit.entity, edit.field) for act in acts for edit in act.edits}
    told = {act.key for act in acts}
    events = {
        Event(one.type, at)
        for one in changes
        if plot.onset - BEFORE <= one.ts <= plot.onset + AFTER and one.key not in told
        for at in one.targets
    }
    events.add(Event(plot.binding.fault.trigger.type, plot.binding.woken))
    trial = Reenactment(plot, events)
    found = []
    for change in changes:
        if not any(trial.concerns(edit.entity, edit.field) for edit in change.edits):
            found.append(change)
            continue
        edits = tuple(
            edit
            if (change.key, edit.entity, edit.field) in own
            else _tamed(plot, trial, change, edit)
            for edit in change.edits
        )
        found.append(change if edits == change.edits else change._replace(edits=edits))
    return found


def _tamed(plot: Plot, trial: Reenactment, change: Change, edit: Edit) -> Edit:
    if change.ts > plot.onset:
        return edit
    for value in (edit.value, edit.other):
        if value is None:
            continue
        fault = trial.explains(Suspect(change.ts, edit.entity, edit.field, value))
        if fault is not None:
            return edit._replace(**_healthy(plot, fault, change.key))
    return edit


def _healthy(plot: Plot, fault: Fault, key: str) -> dict[str, Any]:
    """Two healthy values of the record's field; a counter is left where it is."""
    if fault.field in COUNTERS:
        return {"value": None, "other": None}
    values: list[Any] = []
    for healthy, _ in fault.values:
        if healthy not in values:
            values.append(healthy)
    at = int(share(plot.seed, "tamed", key) * len(values))
    return {"value": values[at], "other": values[(at + 1) % len(values)]}
