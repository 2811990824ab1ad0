"""``sim/anchored``: walks to the mechanism with skill, and then stops too early.

Left to itself it looks for changes on the day of the incident only, reads the first page, believes
the change nearest to the onset, and neither asks when the wrong value became what it is nor compares
with members of the fleet that are well. Each of these is a behaviour that a brain's text can move.
"""

from __future__ import annotations

from collections.abc import Sequence

from heldout.llm.simulated.desk import DAY, HOUR, Desk, Steps
from heldout.llm.simulated.evidence import Change, Thing, changes, text, things, words
from heldout.llm.simulated.mind import Temper
from heldout.llm.simulated.transcript import Transcript, iso, seconds

TEMPER = Temper(
    habit={
        "window": 0.21, "origin": 0.27, "proximity": 0.26, "fleet": 0.15, "narrow": 0.35,
        "downstream": 0.93, "diff": 0.35, "none": 0.20, "overcorrection": 0.0,
    },
    best=0.98,
    heeds=1.0,
    wavers=0.18,
    slip=0.03,
)  # fmt: skip


def investigate(desk: Desk, transcript: Transcript) -> Steps[None]:
    """The whole investigation; what it found stands on the desk when it ends."""
    yield from desk.read_skills(transcript)
    yield from desk.find_victim()
    if desk.victim is None:
        return
    yield from desk.follow(hops=5 if desk.mind.does("downstream") else 1)
    yield from desk.quote()
    yield from desk.locate(reads=3 if desk.mind.slips("impatient") else 9)
    yield from compare_fleet(desk)
    yield from find_culprit(desk)
    yield from desk.see_trigger()


def compare_fleet(desk: Desk) -> Steps[None]:
    """Hold the suspected setting against the same thing elsewhere in the fleet."""
    if desk.fact is None or not desk.mind.does("fleet"):
        return
    carrier = desk.fact.entity
    siblings = yield from find_siblings(desk, carrier)
    for sibling in siblings[:2]:
        answer = yield from desk.ask(
            "compare_state",
            f"I compare {carrier.name} with {sibling.name}.",
            entity=carrier.id,
            entity_b=sibling.id,
        )
        if any(text(row, "field") == desk.fact.field for row in answer.rows):
            desk.cite(sibling.id)
            return


def find_siblings(desk: Desk, thing: Thing) -> Steps[list[Thing]]:
    """Things of the same kind whose names differ in one part, or which live in another cluster."""
    parts = words(thing.name)
    query = "-".join(parts[:2]) if len(parts) > 2 else thing.name
    answer = yield from desk.ask(
        "search_entities",
        f"I look for siblings of {thing.name}.",
        query=query,
        kinds=[thing.kind],
    )
    return [
        other
        for other in things(answer.rows)
        if other.id != thing.id and len(set(words(other.name)) & set(parts)) >= len(parts) - 1
    ]


def find_culprit(desk: Desk) -> Steps[None]:
    """Look for the change behind the mechanism, as far as this mind looks."""
    today = yield from changes_of_the_day(desk)
    fresh = [change for change in today if desk.touches(change) and change.at <= desk.fired]
    suspects = desk.suspects(today)
    found: Change | None = max(fresh, key=lambda change: (change.at, change.id), default=None)
    if desk.mind.follows("overcorrection"):
        yield from blame_old(desk)
        return
    if found is None:
        found = yield from look_further_back(desk)
        if found is not None and suspects and believes_onset(desk):
            found = None
    if found is not None:
        yield from settle(desk, found)
        desk.ruled_out += [change.id for change in suspects[:3] if change.id != found.id]
        return
    yield from weigh_suspects(desk, suspects)


def believes_onset(desk: Desk) -> bool:
    """True when a change near the onset outshines an older one that fits."""
    return not desk.mind.does("proximity") and desk.mind.chance("pull") < 0.25


def changes_of_the_day(desk: Desk) -> Steps[list[Change]]:
    """The changes of the incident day: at the faulty spot, then around the victim; first pages."""
    spots = [desk.fact.entity.id] if desk.fact else []
    spots += [thing.id for thing in reversed(desk.path) if thing.id not in spots]
    since, until = iso(desk.day), iso(desk.fired)
    near = yield from desk.ask(
        "list_changes",
        "I look at what changed today on the way to the failure.",
        entity_ids=spots[:6],
        since=since,
        until=until,
    )
    assert desk.victim is not None
    wide = yield from desk.ask(
        "list_changes",
        f"I look at what changed today around {desk.victim.name}.",
        around={"id": desk.victim.id, "depth": 2},
        since=since,
        until=until,
    )
    found = {change.id: change for change in (*changes(near.rows), *changes(wide.rows))}
    return list(found.values())


def look_further_back(desk: Desk) -> Steps[Change | None]:
    """Earlier changes of the faulty setting, if this mind thinks of looking for them."""
    if desk.fact is None or desk.mind.slips("lost"):
        return None
    found: Change | None = None
    if desk.mind.does("window"):
        found = yield from search_window(desk)
    if found is None and desk.mind.does("origin"):
        found = yield from field_history(desk)
    return found


def search_window(desk: Desk) -> Steps[Change | None]:
    """List the changes of the faulty entity over the days that the brain names."""
    assert desk.fact is not None
    fact, narrow = desk.fact, desk.mind.does("narrow")
    days = desk.mind.guidance.days if desk.mind.guidance.asked.get("window") else 7.0
    cursor = ""
    for _ in range(3 if narrow else 1):
        answer = yield from desk.ask(
            "list_changes",
            f"I look at the changes of {fact.entity.name} over {days:g} days.",
            entity_ids=[fact.entity.id],
            since=iso(desk.fired - days * DAY),
            until=iso(desk.fired),
            field=fact.field if narrow and not cursor else None,
            cursor=cursor or None,
        )
        listed = changes(answer.rows)
        touching = [change for change in listed if desk.touches(change)]
        if touching:
            found = max(touching, key=lambda change: (change.at, change.id))
            return tempting_rollout(desk, listed, found) or found
        cursor = answer.cursor
        if not cursor:
            break
    return None


def tempting_rollout(desk: Desk, listed: Sequence[Change], found: Change) -> Change | None:
    """A later change that reached the whole fleet, taken for the cause by who never compares."""
    if desk.mind.does("fleet") or desk.mind.chance("rollout") >= 0.6:
        return None
    wide = [
        change
        for change in listed
        if change.at > found.at and len(change.entities) > 1 and len(set(change.names)) == 1
    ]
    return max(wide, key=lambda change: (change.at, change.id), default=None)


def field_history(desk: Desk) -> Steps[Change | None]:
    """Ask when the setting became what it is."""
    assert desk.fact is not None
    fact = desk.fact
    answer = yield from desk.ask(
        "get_field_history",
        f"When did {fact.field} of {fact.entity.name} become what it is?",
        entity=fact.entity.id,
        field=fact.field,
    )
    past = [
        row
        for row in answer.rows
        if text(row, "change_id") and (seconds(text(row, "ts")) or 9e99) <= desk.fired
    ]
    row = max(past, key=lambda one: seconds(text(one, "ts")) or 0.0, default=None)
    if row is None:
        return None
    desk.old_value = text(row, "old")
    return Change(
        text(row, "change_id"), seconds(text(row, "ts")) or 0.0, "", "", "",
        (fact.entity.id,), (fact.entity.name,), (fact.field,),
    )  # fmt: skip


def settle(desk: Desk, change: Change) -> Steps[None]:
    """Name a change, having read its diff where this mind reads diffs."""
    entity = desk.fact.entity.id if desk.fact and desk.touches(change) else ""
    if desk.mind.does("diff"):
        yield from open_change(desk, change)
    desk.culprit = change
    desk.culprit_entity = entity or next(iter(change.entities), "")
    desk.blamed = True
    desk.cite(change.id)


def open_change(desk: Desk, change: Change) -> Steps[Change]:
    """Read a change in full; where that fails it stays as it was listed."""
    if change.id not in desk.opened:
        answer = yield from desk.ask("get_change", "I read what this change altered.", id=change.id)
        full = changes(answer.rows)
        desk.opened[change.id] = full[0] if full else change
    return desk.opened[change.id]


def weigh_suspects(desk: Desk, suspects: Sequence[Change]) -> Steps[None]:
    """Without a change that fits: blame what stands near the onset, or look into it first."""
    checks = desk.mind.does("proximity")
    for suspect in suspects[:2] if checks else ():
        full = yield from open_change(desk, suspect)
        if desk.touches(full):
            yield from settle(desk, full)
            return
        desk.ruled_out.append(suspect.id)
    if suspects and not checks:
        yield from settle(desk, suspects[0])
    elif suspects and not desk.mind.does("none"):
        yield from settle(desk, suspects[0])
        desk.ruled_out = [one for one in desk.ruled_out if one != suspects[0].id]
    desk.blamed = True


def blame_old(desk: Desk) -> Steps[None]:
    """Over-corrected: the oldest change in sight is to blame, fitting or not."""
    spot = desk.fact.entity if desk.fact else desk.here
    if spot is None:
        return
    answer = yield from desk.ask(
        "list_changes",
        f"I look for the oldest change of {spot.name}.",
        entity_ids=[spot.id],
        since=iso(desk.fired - 30 * DAY),
        until=iso(desk.fired - 12 * HOUR),
    )
    old = sorted(changes(answer.rows), key=lambda change: (change.at, change.id))
    desk.blamed = True
    if old:
        yield from settle(desk, old[0])
