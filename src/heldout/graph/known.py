"""What could be known at a moment: nothing that was observed later may show, nor leave a trace.

A change is seen some time after it happens. Until then what it replaced is still believed to hold,
what it deleted is believed to exist, and what it made is not there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import duckdb

from heldout.graph.schema import OPEN_END

_TIMES = {
    "entity": "first_seen", "fact": "observed_at", "edge": "observed_at",
    "change_event": "observed_at",
}  # fmt: skip
"""The column of each table that says from when a row can be known."""

ENTANGLED = (*_TIMES, "change_target", "change_diff")
"""Tables in which an unseen row alters others. Of ``log`` and ``alert`` rows are just left out."""


def later_than(
    con: duckdb.DuckDBPyConnection, now: int, sources: Mapping[str, str]
) -> tuple[str, ...]:
    """The entangled tables, each read by its SQL in ``sources``, with rows not known at ``now``."""
    latest = [f"(select max({column}) from ({sources[name]}))" for name, column in _TIMES.items()]
    found = con.execute(f"select {', '.join(latest)}").fetchone() or ()
    return tuple(
        name
        for name, moment in zip(_TIMES, found, strict=True)
        if moment is not None and moment > now
    )


def forget_unknown(con: duckdb.DuckDBPyConnection, now: int, later: Collection[str]) -> None:
    """Take out of the entangled tables what could not be known at ``now``.

    ``later`` names those with such rows, as :func:`later_than` does.
    """
    if "change_event" in later:
        _undo_changes(con, now)
    if "fact" in later:
        _reopen_facts(con, now)
    for table in later:
        con.execute(f"delete from {table} where {_TIMES[table]} > $now", {"now": now})
    if "entity" in later or "change_event" in later:
        _drop_dangling(con)


def _undo_changes(con: duckdb.DuckDBPyConnection, now: int) -> None:
    """What changes not yet observed deleted, made anew or took away."""
    for table in ("change_target", "change_diff"):
        con.execute(
            f"create temp table unseen_{table} as select r.*, e.ts from {table} r "
            "join change_event e on e.id = r.event_id where e.observed_at > $now",
            {"now": now},
        )
        con.execute(f"delete from {table} where event_id in (select event_id from unseen_{table})")
    gone = "from unseen_change_target t where t.role = 'deleted' and t.ts = "
    for table, of in (("fact", "t.entity_id = entity_id"), ("edge", "t.entity_id in (src, dst)")):
        con.execute(
            f"update {table} set valid_to = $end where exists (select 1 {gone} valid_to and {of})",
            {"end": OPEN_END},
        )
    con.execute(
        f"update entity set last_seen = $now where exists "
        f"(select 1 {gone} last_seen and t.entity_id = id)",
        {"now": now},
    )
    con.execute(
        "update fact set valid_to = $end where exists (select 1 from unseen_change_diff d "
        "where d.new_json = 'null' and d.ts = valid_to and d.entity_id = fact.entity_id "
        "and d.field = fact.field)",
        {"end": OPEN_END},
    )
    con.execute(
        "delete from entity where id in "
        "(select entity_id from unseen_change_target where role = 'applied')"
    )
    for table in ("change_target", "change_diff"):
        con.execute(f"drop table unseen_{table}")


def _reopen_facts(con: duckdb.DuckDBPyConnection, now: int) -> None:
    """What a fact not yet observed replaced goes on until the next one that was."""
    hidden = con.execute(
        "select entity_id, field, valid_from, valid_to from fact where observed_at > $now "
        "order by valid_from desc, valid_to desc",
        {"now": now},
    ).fetchall()
    ends: dict[tuple[str, str, int], int] = {}
    for entity, field, since, until in hidden:
        ends[(entity, field, since)] = ends.get((entity, field, until), until)
    for (entity, field, since), until in ends.items():
        con.execute(
            "update fact set valid_to = $until where entity_id = $entity and field = $field "
            "and valid_to = $since and valid_from < $since and observed_at <= $now",
            {"until": until, "entity": entity, "field": field, "since": since, "now": now},
        )


def _drop_dangling(con: duckdb.DuckDBPyConnection) -> None:
    """Facts and edges of entities that are not there."""
    for table, column in (("fact", "entity_id"), ("edge", "src"), ("edge", "dst")):
        con.execute(f"delete from {table} where {column} not in (select id from entity)")
