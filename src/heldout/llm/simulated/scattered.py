"""``sim/scattered``: looks here and there, repeats itself, stops early, and hears little advice.

Its failures are not those of the anchored model, so a brain tuned on that one does little for it.
"""

from __future__ import annotations

from heldout.llm.simulated.blaming import field_history, open_change, search_window, settle
from heldout.llm.simulated.desk import DAY, Call, Desk, Steps
from heldout.llm.simulated.evidence import Change, changes
from heldout.llm.simulated.locating import locate
from heldout.llm.simulated.mind import Temper
from heldout.llm.simulated.transcript import Transcript, iso

TEMPER = Temper(
    habit={
        "window": 0.40, "origin": 0.35, "proximity": 0.30, "fleet": 0.10, "narrow": 0.15,
        "downstream": 0.75, "diff": 0.20, "none": 0.20, "focus": 0.62, "overcorrection": 0.0,
    },
    best=0.85,
    heeds=0.25,
    wavers=0.40,
    slip=0.15,
)  # fmt: skip


def investigate(desk: Desk, transcript: Transcript) -> Steps[None]:
    """A few steps along the errors, a jump elsewhere, a wide search, a guess."""
    yield from desk.find_victim()
    if desk.victim is None:
        return
    yield from wander(desk)
    yield from desk.follow(hops=5 if desk.mind.does("downstream") else 3)
    yield from locate(desk, reads=5 if desk.mind.does("focus") else 3)
    if desk.mind.slips("tired"):
        return
    if desk.fact is not None and desk.mind.does("focus"):
        found: tuple[Change, ...] = ()
        if desk.mind.does("window"):
            found = yield from search_window(desk)
        elif desk.mind.does("origin"):
            found = yield from field_history(desk)
        if found and (yield from settle(desk, found[0])):
            return
    yield from guess(desk)


def wander(desk: Desk) -> Steps[None]:
    """Look at a connected entity that nothing points to, sometimes twice."""
    assert desk.victim is not None
    around = yield from desk.neighbours(desk.victim)
    if not around:
        return
    other = around[desk.mind.pick("wander", len(around))]
    yield from desk.ask("get_entity", f"Let me look at {other.name}.", id=other.id)
    if desk.mind.slips("again"):
        yield Call("get_entity", {"id": other.id}, f"Let me look at {other.name} once more.")


def guess(desk: Desk) -> Steps[None]:
    """Search widely over a month, and blame what catches the eye on the first page."""
    spot = desk.here or desk.victim
    if spot is None:
        return
    answer = yield from desk.ask(
        "list_changes",
        "I look at everything that changed around here.",
        around={"id": spot.id, "depth": 2},
        since=iso(desk.fired - 30 * DAY),
        until=iso(desk.fired),
    )
    found = [change for change in changes(answer.rows) if change.at <= desk.fired]
    desk.blamed = True
    if not found:
        return
    fitting = [change for change in found if desk.touches(change)]
    if fitting:
        yield from settle(desk, fitting[0])
        return
    choice = found[desk.mind.pick("blame", min(4, len(found)))]
    if desk.mind.does("proximity"):
        full = yield from open_change(desk, choice)
        if not desk.touches(full) and desk.mind.does("none"):
            desk.ruled_out.append(choice.id)
            return
    yield from settle(desk, choice)
