"""No other change explains the symptom as well as the cause does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from heldout.build.validity.points import Point
from heldout.build.validity.probes import PEOPLE
from heldout.build.validity.subject import Subject, View
from heldout.simulate.suspects import AFTER, BEFORE, Event, Reenactment, Suspect


def check(subject: Subject) -> Sequence[str]:
    """Put every change that was in force at onset through the engine's own rules, in the twin
    without the cause.

    There is no need to choose some suspects: most are dismissed by their field or value.
    """
    twin = View(subject.twin("no_cause"))
    index = {one.id: at for at, one in enumerate(subject.plot.land.ground.entities)}
    trial = Reenactment(subject.plot, _events(twin, index, subject.onset))
    found = []
    for held in _in_force(twin, subject.onset):
        suspect = Suspect(held.ts, index[held.entity], held.field, json.loads(held.value))
        fault = trial.explains(suspect)
        if fault is not None:
            found.append(
                f"{held.change} alone would do it: {held.field} {held.value} as in {fault.name}"
            )
    return found[:3]


class _Held(NamedTuple):
    """A value (JSON text) that somebody set and that still held at onset."""

    change: str
    ts: int
    entity: str
    field: str
    value: str


def _in_force(twin: View, onset: int) -> list[_Held]:
    made = {row["id"]: row["ts"] for row in twin.rows("change_event")
            if row["actor_kind"] in PEOPLE}  # fmt: skip
    return [
        _Held(row["event_id"], made[row["event_id"]], row["entity_id"], row["field"],
              row["value_json"])
        for row in twin.rows("fact")
        if row["event_id"] in made and row["valid_from"] <= onset < row["valid_to"]
    ]  # fmt: skip


def _events(twin: View, index: dict[str, int], onset: int) -> set[Event]:
    """What was reported around onset, and of what."""
    near = {
        row["id"]: row["type"]
        for row in twin.rows("change_event")
        if onset - BEFORE <= row["ts"] <= onset + AFTER
    }
    return {
        Event(near[row["event_id"]], index[row["entity_id"]])
        for row in twin.rows("change_target")
        if row["event_id"] in near
    }


POINT = Point("uniqueness", check)
