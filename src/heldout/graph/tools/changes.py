"""Changes: in a window, one in full, and the history of one field."""

from __future__ import annotations

from typing import Any

import numpy as np

from heldout.graph.ontology import near
from heldout.graph.tools.backend import Args
from heldout.graph.tools.entities import facts_at, steps
from heldout.graph.tools.page import Page, clip, iso
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
    clauses, params = _filters(reader, args, entities)
    hits = reader.columns(
        f"select rowid as place, ts from change_event where {' and '.join(clauses)}", params
    )
    inside = (hits["ts"] >= window.since) & (hits["ts"] <= window.until)
    newest_first = np.sort(hits["place"][inside])[::-1]
    offset, limit = args["offset"], args["limit"]
    gaps = reader.gaps("change", window, sorted(entities) if entities else ())
    return Page(
        _rows(reader, newest_first[offset : offset + limit].tolist()),
        total=len(newest_first),
        offset=offset,
        window=window,
        gaps=gaps,
        extra={"outside_window": int(len(inside) - inside.sum())},
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


def _filters(
    reader: Reader, args: Args, entities: set[str] | None
) -> tuple[list[str], dict[str, Any]]:
    clauses: list[str] = ["true"]
    params: dict[str, Any] = {}
    field = args.get("field", "").strip().casefold()
    if field and not any(field in known.casefold() for known in reader.world.fields()):
        raise Refusal(
            "bad_argument",
            f"no recorded field is called '{field[:80]}'",
            near(field, reader.world.fields()),
        )
    if entities is not None:
        params["entities"] = sorted(entities)
    if field:
        params["field"] = field
        among = " and entity_id in (select unnest($entities))" if entities is not None else ""
        clauses.append(
            f"id in (select event_id from change_diff where contains(lower(field), $field){among})"
        )
    elif entities is not None:
        clauses.append(
            "id in (select event_id from change_target where entity_id in "
            "(select unnest($entities)) union all select event_id from change_diff "
            "where entity_id in (select unnest($entities)))"
        )
    if args.get("types"):
        params["types"] = list(args["types"])
        clauses.append("type in (select unnest($types))")
    if args.get("actor"):
        params["actor"] = _actor(reader, args["actor"].strip())
        clauses.append("lower(actor) = lower($actor)")
    return clauses, params


def _actor(reader: Reader, actor: str) -> str:
    known = [row[0] for row in reader.rows("select distinct actor from change_event order by 1")]
    if actor.casefold() not in {one.casefold() for one in known}:
        raise Refusal("bad_argument", f"no actor is called '{actor[:60]}'", near(actor, known))
    return actor


def _rows(reader: Reader, places: list[int]) -> list[dict[str, Any]]:
    if not places:
        return []
    events = reader.rows(
        "select id, ts, type, actor, actor_kind, source, pr, summary from change_event "
        "where rowid in (select unnest($places)) order by rowid desc",
        {"places": places},
    )
    rows = []
    for one, ts, type_, actor, actor_kind, source, pr, summary in events:
        of, named, roles = reader.world.touched(one)
        row = {
            "id": one,
            "ts": iso(ts),
            "type": type_,
            "actor": actor,
            "actor_kind": actor_kind,
            "source": source,
            "pr": pr or None,
            "summary": clip(summary, 200),
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
    events = reader.rows(
        "select id, ts, type, actor, actor_kind, source, pr, repo, commit, summary "
        "from change_event where id = $id",
        {"id": given},
    )
    if not events:
        ids = [row[0] for row in reader.rows("select id from change_event order by id")]
        raise Refusal("unknown_id", f"no change has the id '{given[:60]}'", near(given, ids))
    one, ts, type_, actor, actor_kind, source, pr, repo, commit, summary = events[0]
    diffs = reader.rows(
        "select entity_id, field, old_json, new_json, redacted from change_diff "
        "where event_id = $id order by entity_id, field",
        {"id": one},
    )
    shown = [
        {
            "entity": entity,
            "entity_name": reader.name(entity),
            "field": field,
            "old": value(old),
            "new": value(new),
            **({"redacted": True} if redacted else {}),
        }
        for entity, field, old, new, redacted in diffs[args["offset"] :]
    ]
    targets = reader.rows(
        "select distinct entity_id from change_target where event_id = $id order by 1", {"id": one}
    )
    roles = reader.world.touched(one).roles
    row = {
        "id": one,
        "ts": iso(ts),
        "type": type_,
        "actor": actor,
        "actor_kind": actor_kind,
        "source": source,
        "pr": pr or None,
        "repo": repo or None,
        "commit": commit or None,
        "summary": clip(summary, 400),
        "entities": [reader.mentioned(e, roles.get(e, "")) for (e,) in targets[:_MOST_ENTITIES]],
        "diffs": shown,
    }
    return Page([row], total=max(len(diffs), 1), offset=args["offset"], part="diffs")


def get_field_history(reader: Reader, args: Args) -> Page:
    """Every recorded change of one field of one entity and of what it was before, newest first."""
    entity = reader.entity(args["entity"])
    ids = list(reader.world.incarnations.until(entity.id))
    facts = facts_at(reader, entity.id, reader.now)
    told = reader.rows(
        "select field from change_diff where list_contains($ids, entity_id) union all "
        "select field from fact where list_contains($ids, entity_id)",
        {"ids": ids},
    )
    known = sorted({str(row[0]) for row in told})
    field = _field(entity.name, args["field"].strip(), known)
    rows = reader.rows(
        "select e.ts, e.id, d.old_json, d.new_json, e.actor, e.pr, d.entity_id "
        "from change_diff d join change_event e on e.id = d.event_id "
        "where list_contains($ids, d.entity_id) and d.field = $field and e.ts >= $since "
        "order by e.ts desc, e.id desc",
        {
            "ids": ids,
            "field": field,
            "since": args.get("since", -(2**62)),
        },
    )
    offset = args["offset"]
    shown = [
        {
            "ts": iso(ts),
            "change_id": change,
            "old": value(old),
            "new": value(new),
            "actor": actor,
            "pr": pr or None,
            **_whose(reader, entity.id, one, change),
        }
        for ts, change, old, new, actor, pr, one in rows[offset : offset + args["limit"]]
    ]
    window = reader.window(args.get("since"), None)
    current = facts[field].shown() if field in facts else None
    return Page(
        shown,
        total=len(rows),
        offset=offset,
        window=window,
        gaps=reader.gaps("change", window, (entity.id,)),
        extra={"field": field, "current": current, **reader.lives(entity.id)},
    )


def _whose(reader: Reader, asked: str, one: str, change: str) -> dict[str, Any]:
    """What marks a row that is of an earlier incarnation, or of a deletion and re-application."""
    role = reader.world.touched(change).roles.get(one)
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
