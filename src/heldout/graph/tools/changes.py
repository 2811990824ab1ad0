"""Changes: in a window, one in full, and the history of one field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from heldout.graph.events import Diff, Event
from heldout.graph.ontology import near
from heldout.graph.tools.backend import Args
from heldout.graph.tools.entities import facts_at, steps
from heldout.graph.tools.page import Page, clip, ids_in, iso
from heldout.graph.tools.reader import Reader, value
from heldout.graph.tools.refusals import Refusal

_MOST_ENTITIES = 6
_MOST_FIELDS = 12


def list_changes(reader: Reader, args: Args) -> Page:
    """Changes that match, newest first; those outside the window are counted.

    Events are stored by time and id, so that a row's place is its rank.
    """
    window = reader.window(args["since"], args["until"])
    entities = _entities(reader, args)
    places = _matching(reader, args, entities)
    times = reader.world.changes.times[places]
    inside = places[(times >= window.since) & (times <= window.until)]
    newest_first = inside[::-1]
    offset, limit = args["offset"], args["limit"]
    gaps = reader.gaps("change", window, sorted(entities) if entities else ())
    return Page(
        _rows(reader, newest_first[offset : offset + limit].tolist()),
        total=len(newest_first),
        offset=offset,
        window=window,
        gaps=gaps,
        extra={"outside_window": len(places) - len(inside)},
    )


def _entities(reader: Reader, args: Args) -> set[str] | None:
    """The entities asked for by id or around one; ``None`` means all.

    What an entity was before it was made anew belongs to it.
    """
    wanted: set[str] | None = None
    if "entity_ids" in args:
        wanted = {reader.entity(one).id for one in args["entity_ids"]}
    if "around" in args:
        start, depth = args["around"]
        reached = {reader.entity(start).id}
        layer = set(reached)
        for _ in range(depth):
            layer = {
                other
                for one in layer
                for _, _, other in steps(reader, one, "both", reader.now)
            } - reached  # fmt: skip
            reached |= layer
        wanted = reached if wanted is None else wanted | reached
    if wanted is None:
        return None
    return {each for one in wanted for each in reader.world.incarnations.until(one)}


def _matching(
    reader: Reader, args: Args, entities: set[str] | None
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The places of all changes that match every argument but the window, oldest first."""
    changes = reader.world.changes
    fields = _fields(reader, args.get("field", "").strip().casefold())
    if fields is not None:
        places: Sequence[int] = changes.altering(fields, entities)
    elif entities is not None:
        places = changes.touching(entities)
    else:
        places = range(len(changes.times))
    if args.get("types"):
        types = frozenset(args["types"])
        places = [at for at in places if changes.types[at] in types]
    if args.get("actor"):
        actor = _actor(reader, args["actor"].strip()).casefold()
        places = [at for at in places if changes.actors[at].casefold() == actor]
    return np.asarray(places, dtype=np.int64)


def _fields(reader: Reader, part: str) -> frozenset[str] | None:
    """The fields whose name contains ``part``; ``None`` where it is empty and all are meant."""
    if not part:
        return None
    found = frozenset(one for one in reader.world.fields if part in one.casefold())
    if not found:
        raise Refusal(
            "bad_argument",
            f"no recorded field is called '{part[:80]}'",
            near(part, reader.world.fields),
        )
    return found


def _actor(reader: Reader, actor: str) -> str:
    known = sorted(set(reader.world.changes.actors))
    if actor.casefold() not in {one.casefold() for one in known}:
        raise Refusal("bad_argument", f"no actor is called '{actor[:60]}'", near(actor, known))
    return actor


def _rows(reader: Reader, places: Sequence[int]) -> list[dict[str, Any]]:
    rows = []
    for one in reader.world.changes.at(places):
        of, named, roles = reader.world.changes.touched(one.id)
        row: dict[str, Any] = {
            "id": one.id,
            "ts": iso(one.ts),
            "type": one.type,
            "actor": one.actor,
            "actor_kind": one.actor_kind,
            "source": one.source,
            "pr": one.pr or None,
            "summary": clip(one.summary, 200),
            "entities": [reader.mentioned(e, roles.get(e, "")) for e in of[:_MOST_ENTITIES]],
            "fields": list(named[:_MOST_FIELDS]),
        }
        if len(of) > _MOST_ENTITIES:
            row["more_entities"] = len(of) - _MOST_ENTITIES
        if len(named) > _MOST_FIELDS:
            row["more_fields"] = len(named) - _MOST_FIELDS
        rows.append(row)
    return rows


def get_change(reader: Reader, args: Args) -> Page:
    """One change with every diff."""
    given = args["id"].strip()
    changes = reader.world.changes
    inside = ids_in(given)
    given = inside[0] if len(inside) == 1 else given
    place = changes.place(given)
    if place is None:
        known = sorted(changes.ids)
        raise Refusal("unknown_id", f"no change has the id '{given[:60]}'", near(given, known))
    one = changes.at([place])[0]
    diffs = changes.diffs(given)
    shown = [
        {
            "entity": diff.entity_id,
            "entity_name": reader.name(diff.entity_id),
            "field": diff.field,
            "old": value(diff.old_json),
            "new": value(diff.new_json),
            **({"redacted": True} if diff.redacted else {}),
        }
        for diff in diffs[args["offset"] :]
    ]
    roles = changes.touched(given).roles
    targets = changes.targets(given)[:_MOST_ENTITIES]
    row = {
        "id": one.id,
        "ts": iso(one.ts),
        "type": one.type,
        "actor": one.actor,
        "actor_kind": one.actor_kind,
        "source": one.source,
        "pr": one.pr or None,
        "repo": one.repo or None,
        "commit": one.commit or None,
        "summary": clip(one.summary, 400),
        "entities": [reader.mentioned(e, roles.get(e, "")) for e in targets],
        "diffs": shown,
    }
    return Page([row], total=max(len(diffs), 1), offset=args["offset"], part="diffs")


def get_field_history(reader: Reader, args: Args) -> Page:
    """Every recorded change of one field of one entity and of what it was before, newest first."""
    entity = reader.entity(args["entity"])
    ids = reader.world.incarnations.until(entity.id)
    facts = facts_at(reader, entity.id, reader.now)
    diffs = reader.world.changes.diffs_of(ids)
    told = {one.field for each in ids for one in reader.world.facts.of(each)}
    field = _field(entity.name, args["field"].strip(), sorted(told | {one.field for one in diffs}))
    altering = [one for one in diffs if one.field == field]
    steps = _steps(reader, altering, args.get("since", -(2**62)))
    offset = args["offset"]
    shown = [
        {
            "ts": iso(event.ts),
            "change_id": event.id,
            "old": value(diff.old_json),
            "new": value(diff.new_json),
            "actor": event.actor,
            "pr": event.pr or None,
            **_whose(reader, entity.id, diff.entity_id, event.id),
        }
        for event, diff in steps[offset : offset + args["limit"]]
    ]
    window = reader.window(args.get("since"), None)
    current = facts[field].shown() if field in facts else None
    return Page(
        shown,
        total=len(steps),
        offset=offset,
        window=window,
        gaps=reader.gaps("change", window, (entity.id,)),
        extra={"field": field, "current": current, **reader.lives(entity.id)},
    )


def _steps(reader: Reader, diffs: Sequence[Diff], since: int) -> list[tuple[Event, Diff]]:
    """Diffs with their events, newest first."""
    changes = reader.world.changes
    known = [(place, one) for one in diffs if (place := changes.place(one.event_id)) is not None]
    events = changes.at([place for place, _ in known])
    steps = [(event, one) for event, (_, one) in zip(events, known, strict=True)]
    return sorted(
        (step for step in steps if step[0].ts >= since),
        key=lambda step: (step[0].ts, step[0].id),
        reverse=True,
    )


def _whose(reader: Reader, asked: str, one: str, change: str) -> dict[str, Any]:
    """What marks a row that is of an earlier incarnation, or of a deletion and re-application."""
    role = reader.world.changes.touched(change).roles.get(one)
    return {
        **({"incarnation": one} if one != asked else {}),
        **({"role": role} if role else {}),
    }


def _field(name: str, given: str, known: list[str]) -> str:
    """The field that was meant: exactly, but for case, or by its unambiguous last part."""
    folded = given.casefold()
    for choice in (
        [one for one in known if one == given],
        [one for one in known if one.casefold() == folded],
        [one for one in known if one.casefold().endswith((f".{folded}", f"/{folded}"))],
    ):
        if len(choice) == 1:
            return choice[0]
        if choice:
            raise Refusal("bad_argument", f"'{given[:80]}' names several fields", choice[:8])
    raise Refusal(
        "bad_argument",
        f"nothing is recorded of a field '{given[:80]}' of {name}",
        near(given, known, limit=5) or known[:8],
    )
