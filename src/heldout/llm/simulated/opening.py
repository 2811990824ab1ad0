"""How an investigation begins: what the alert suggests, what else is firing, is it still true.

Each of these leads an unwary investigator astray, and each caution is a line that a brain may hold.
"""

from __future__ import annotations

from collections.abc import Sequence

from heldout.llm.simulated.desk import HOUR, Desk, Steps
from heldout.llm.simulated.evidence import Thing, mentions, points, text
from heldout.llm.simulated.transcript import Answer, iso, seconds

_LOUD = frozenset({"page", "critical", "emergency"})
_RISE, _FLOOR = 3.0, 1.5
"""How many times its usual level, and percent points above it, an error share is high."""
_LAST = 90.0
"""The last so many seconds before the alert say whether trouble goes on."""


def take_hint(desk: Desk) -> Steps[None]:
    """Begin at what the alert suggests, unless hints are taken for what they are."""
    victim = desk.victim
    if victim is None or desk.mind.does("hint"):
        return
    around = yield from desk.neighbours(victim)
    hinted = _hinted(desk, around)
    if hinted is None and _has_note(desk.alert.text):
        around = yield from desk.neighbours(victim, 2)
        hinted = _hinted(desk, around)
    if hinted is None:
        return
    found = yield from desk.trouble_at(hinted)
    if any(sign.fresh for sign in found) or desk.mind.chance("insist") < 0.7:
        desk.path.append(hinted)
        desk.cite(hinted.id)


def _hinted(desk: Desk, around: Sequence[Thing]) -> Thing | None:
    """Something near the victim that the alert's text names beside it."""
    said = desk.alert.text
    assert desk.victim is not None
    named = [
        thing
        for thing in around
        if thing.name not in (desk.victim.name, desk.victim.cluster)
        and mentions(said, thing.name)
        and not mentions(desk.victim.name, thing.name)
    ]
    return min(named, key=lambda one: (one.kind != "Service", one.depth, one.id), default=None)


def _has_note(alert: str) -> bool:
    """True when something is written below the alert's own sentence."""
    body = alert.partition("Severity:")[2].partition("\n")[2]
    return len([part for part in body.split("\n\n") if part.strip()]) > 1 or (
        len([line for line in body.splitlines() if line.strip()]) > 1
    )


def see_alerts(desk: Desk) -> Steps[None]:
    """Look at what else fires; who chases every loud alert begins at the latest of them."""
    victim = desk.victim
    if victim is None or desk.mind.does("alerts"):
        return
    answer = yield from desk.ask(
        "list_alerts",
        "I look at which other alerts fire.",
        since=iso(desk.fired - HOUR / 2),
        until=iso(desk.fired),
    )
    loud = [
        row
        for row in answer.rows
        if text(row, "severity") in _LOUD
        and text(row, "state") == "firing"
        and text(row, "entity") not in ("", victim.id)
    ]
    if loud:
        row = loud[0]
        other = Thing(text(row, "entity"), "Service", text(row, "entity_name"), victim.cluster)
        desk.path[:] = [other]
        desk.cite(text(row, "id"))


def check_symptom(desk: Desk) -> Steps[str]:
    """See in the metrics whether the trouble is there, and still there.

    ``recovered`` or ``quiet`` when it is not; empty when it is, or nobody asked.
    """
    if desk.victim is None or not desk.mind.does("symptom"):
        return ""
    answer = yield from desk.moves(desk.victim)
    state = _state(answer, desk.fired)
    if state == "recovered":
        desk.over = (
            f"It has recovered: the errors of {desk.victim.name} are back to normal, the trouble "
            "has passed and nothing is broken now"
        )
    elif state == "quiet":
        desk.over = (
            f"A false alarm: {desk.victim.name} is healthy, its errors never rose and there is no "
            "user impact"
        )
    return state if desk.over else ""


def _state(answer: Answer, fired: float) -> str:
    """``failing``, ``recovered`` or ``quiet`` by the error series; empty when there is none."""
    for row in answer.rows:
        if "error" not in text(row, "name"):
            continue
        drawn = [(at, value) for at, value in points(row) if at is not None]
        if len(drawn) < 6:
            return ""
        values = sorted(value for _, value in drawn)
        usual = values[len(values) // 3]
        high = max(_RISE * usual, usual + _FLOOR)
        late = [value for at, value in drawn if at > fired - _LAST] or [drawn[-1][1]]
        if values[-1] <= high:
            return "quiet"
        return "failing" if late[-1] > high else "recovered"
    return ""


def see_onset(desk: Desk) -> Steps[None]:
    """Ask the victim's metrics since when it fails, once."""
    if desk.onset is None and desk.victim is not None:
        answer = yield from desk.moves(desk.victim)
        moved = [
            seconds(text(row, "first_change"))
            for row in answer.rows
            if "error" in text(row, "name")
        ]
        desk.onset = min((one for one in moved if one is not None), default=None)
