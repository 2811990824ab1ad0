"""From the setting to the change behind it, as far as a mind looks, and what it believes instead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from heldout.llm.simulated.desk import DAY, HOUR, Desk, Steps
from heldout.llm.simulated.evidence import Change, alike, changes, joined, leaf, text
from heldout.llm.simulated.locating import SURE
from heldout.llm.simulated.opening import see_onset
from heldout.llm.simulated.transcript import iso, seconds

_SLACK = 30.0
"""Seconds by which a series may show an onset too early."""
_LATE = 480.0
"""A suspect this close to the alert looks like what everybody was waiting for."""
_TRIED = 3
_BIG, _PAGES = 3, 5
"""How many big changes of a list are opened, and how many pages of each are read."""


def find_culprit(desk: Desk) -> Steps[None]:
    """Look for the change behind the mechanism, as far as this mind looks."""
    if desk.mind.follows("overcorrection"):
        yield from blame_old(desk)
        return
    today = yield from changes_of_the_day(desk)
    today = yield from before_onset(desk, today)
    suspects = desk.suspects(today)
    found = newest([change for change in today if desk.touches(change)])
    if not (yield from settle_on_one(desk, found)):
        yield from look_elsewhere(desk, suspects)
    if desk.culprit is not None:
        own = desk.culprit.id
        desk.ruled_out += [change.id for change in suspects[:3] if change.id != own]
        return
    yield from weigh_suspects(desk, suspects)
    if desk.culprit is None:
        own_up(desk)


def look_elsewhere(desk: Desk, suspects: Sequence[Change]) -> Steps[None]:
    """Without a culprit of the day: namesakes, then earlier days, then the field's history."""
    other = yield from namesake(desk)
    if other is not None and (yield from settle(desk, other)):
        return
    if desk.fact is None or desk.mind.slips("lost"):
        return
    ways = [search_window] if desk.mind.does("window") else []
    ways += [field_history] if desk.mind.does("origin") else []
    for way in ways:
        found = yield from way(desk)
        if found and suspects and believes_onset(desk, suspects[0]):
            return
        if (yield from settle_on_one(desk, found)):
            return


def newest(found: Iterable[Change]) -> tuple[Change, ...]:
    """Changes, the latest first."""
    return tuple(sorted(found, key=lambda change: (-change.at, change.id)))


def settle_on_one(desk: Desk, found: Sequence[Change]) -> Steps[bool]:
    """Name the first change that stands up to being read."""
    for change in found[:_TRIED]:
        if (yield from settle(desk, change)):
            return True
    return False


def before_onset(desk: Desk, found: Sequence[Change]) -> Steps[list[Change]]:
    """The changes that came before the first errors, where this mind asks when those began."""
    if not desk.mind.does("reaction"):
        return list(found)
    yield from see_onset(desk)
    if desk.onset is None:
        return list(found)
    late = [change for change in desk.suspects(found) if change.at > desk.onset + _SLACK]
    desk.ruled_out += [change.id for change in late[:2]]
    return [change for change in found if change.at <= desk.onset + _SLACK]


def believes_onset(desk: Desk, suspect: Change) -> bool:
    """True when a change near the onset outshines an older one that fits; help does so easily."""
    pull = 0.25 if desk.onset is not None or suspect.at < desk.fired - _LATE else 0.5
    return not desk.mind.does("proximity") and desk.mind.chance("pull") < pull


def own_up(desk: Desk) -> None:
    """Say what is known without a culprit: nothing changed, or the proof is missing."""
    here = desk.here.id if desk.here else ""
    lost = any("change" in source for source, _ in desk.holes)
    dark = any(entity == here and not desk.trouble.get(here) for _, entity in desk.holes)
    if (lost or dark) and desk.mind.does("unproven"):
        missing = "the records of changes have gaps" if lost else "its telemetry was not kept"
        desk.notes.append(f"the cause cannot be proven, because {missing}")
    elif desk.mind.does("none"):
        desk.notes.append("nothing of ours changed to explain it: no change caused this")


def blame_nothing(desk: Desk) -> None:
    """End without a culprit, whatever was found."""
    desk.blamed = True
    desk.culprit = None


def namesake(desk: Desk) -> Steps[Change | None]:
    """A change of the same setting today, on something that merely bears the same or a like name.

    Who tells things apart by id, and asks whether a change still holds, does not fall for it.
    """
    by_name, by_field = not desk.mind.does("identity"), not desk.mind.does("undone")
    if desk.fact is None or desk.sure < SURE or not (by_name or by_field):
        return None
    answer = yield from desk.ask(
        "list_changes",
        f"I look for anyone who changed {leaf(desk.fact.field)} today.",
        field=leaf(desk.fact.field),
        since=iso(desk.day),
        until=iso(desk.fired),
    )
    own = desk.fact.entity
    for change in changes(answer.rows):
        if own.id in change.entities or not desk.same_field(change):
            continue
        like = any(alike(name, own.name) for name in change.names)
        if by_name if like else by_field and desk.on_path(change):
            return change
    return None


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
    return (yield from unfold(desk, list(found.values())))


def unfold(desk: Desk, listed: Sequence[Change]) -> Steps[list[Change]]:
    """Open changes of which a list shows only a part, where this mind reads big ones to the end."""
    result = []
    opened = 0
    for change in listed:
        full = change
        if change.cut and not desk.touches(change) and opened < _BIG and desk.mind.does("bigdiff"):
            opened += 1
            full = yield from open_change(desk, change)
        result.append(full)
    return result


def search_window(desk: Desk) -> Steps[tuple[Change, ...]]:
    """Changes of the faulty setting over the days that the brain names, the latest first."""
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
        listed = yield from unfold(desk, changes(answer.rows))
        touching = newest([change for change in listed if desk.touches(change)])
        if touching:
            tempting = tempting_rollout(desk, listed, touching[0])
            return (tempting,) if tempting else touching
        cursor = answer.cursor
        if not cursor:
            break
    return ()


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


def field_history(desk: Desk) -> Steps[tuple[Change, ...]]:
    """Ask when the setting became what it is; the latest change of it first."""
    assert desk.fact is not None
    fact = desk.fact
    answer = yield from desk.ask(
        "get_field_history",
        f"When did {fact.field} of {fact.entity.name} become what it is?",
        entity=fact.entity.id,
        field=fact.field,
    )
    past = []
    for row in answer.rows:
        moment = seconds(text(row, "ts"))
        if text(row, "change_id") and moment is not None and moment <= desk.fired:
            past.append((moment, text(row, "change_id"), text(row, "old")))
    if not past:
        return ()
    moment, own, desk.old_value = max(past)
    pair = (fact.entity.id, fact.field)
    return (
        Change(
            own, moment, "", "", "", (fact.entity.id,), (fact.entity.name,), (fact.field,),
            pairs=frozenset({pair}),
        ),
    )  # fmt: skip


def settle(desk: Desk, change: Change) -> Steps[bool]:
    """Name a change, having read its diff where this mind reads diffs; False when it is let go.

    Where the diff turns out to touch the setting of something else, it is another's. Where it is
    long and the setting is not on its first page, who reads no further gives it up.
    """
    entity = desk.fact.entity.id if desk.fact and desk.touches(change) else ""
    if desk.mind.does("diff"):
        full = yield from open_change(desk, change)
        if entity and not desk.touches(full):
            desk.ruled_out.append(change.id)
            return False
    desk.culprit = change
    desk.culprit_entity = entity or next(iter(change.entities), "")
    desk.blamed = True
    desk.cite(change.id)
    return True


def open_change(desk: Desk, change: Change) -> Steps[Change]:
    """Read a change; a big one to its end where this mind does. Unread it stays as listed."""
    if change.id not in desk.opened:
        full: Change | None = None
        cursor = ""
        for _ in range(_PAGES if desk.mind.does("bigdiff") else 1):
            answer = yield from desk.ask(
                "get_change", "I read what this change altered.", id=change.id,
                cursor=cursor or None,
            )  # fmt: skip
            for page in changes(answer.rows)[:1]:
                page = replace(page, cut=answer.truncated)
                full = joined(full, page) if full else page
            cursor = answer.cursor
            if not cursor:
                break
        desk.opened[change.id] = full or change
    return desk.opened[change.id]


def weigh_suspects(desk: Desk, suspects: Sequence[Change]) -> Steps[None]:
    """Without a change that fits: blame what stands near the onset, or look into it first."""
    checks = desk.mind.does("proximity")
    for suspect in suspects[:2] if checks else ():
        full = yield from open_change(desk, suspect)
        if desk.touches(full) and (yield from settle(desk, full)):
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
