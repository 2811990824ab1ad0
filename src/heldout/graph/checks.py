"""What every world must satisfy before it is written, found with a few anti-joins."""

from __future__ import annotations

import re
from collections.abc import Iterable

import duckdb

from heldout.errors import WorldError
from heldout.graph import ontology
from heldout.graph.schema import ACTOR_KINDS, CHANGE_TYPES, LEVELS

_IDS = (("entity", "e"), ("change_event", "c"), ("alert", "a"), ("metric_series", "m"))
_REFERENCES = (
    ("fact", "entity_id", "entity", False),
    ("edge", "src", "entity", False),
    ("edge", "dst", "entity", False),
    ("change_target", "event_id", "change_event", False),
    ("change_target", "entity_id", "entity", False),
    ("change_diff", "event_id", "change_event", False),
    ("change_diff", "entity_id", "entity", False),
    ("log_template", "entity_id", "entity", False),
    ("metric_series", "entity_id", "entity", False),
    ("metric_chunk", "series_id", "metric_series", False),
    ("alert", "entity_id", "entity", True),
    ("data_gap", "entity_id", "entity", True),
    ("fact", "event_id", "change_event", True),
    ("edge", "event_id", "change_event", True),
)
"""(table, column, referred table, may be empty)."""

_CLOSED = (
    ("change_event", "type", CHANGE_TYPES),
    ("change_event", "actor_kind", ACTOR_KINDS),
    ("log", "level", LEVELS),
)


def check_rows(con: duckdb.DuckDBPyConnection, *, now: int) -> None:
    """Raise :class:`WorldError` at the first row that breaks the ontology or dangles."""
    for table, prefix in _IDS:
        _check_ids(con, table, prefix)
    for table, column, other, optional in _REFERENCES:
        _check_reference(con, table, column, other, optional=optional)
    for table, column, words in _CLOSED:
        for word in _distinct(con, f"select distinct {column} from {table}"):
            if word[0] not in words:
                raise WorldError(
                    f"'{word[0]}' is not a {column}",
                    where=table,
                    mend=f"Use one of: {', '.join(words)}",
                )
    _check_ontology(con)
    late = con.execute("select count(*) from alert where ts > $1", [now]).fetchone()
    if late and late[0]:
        raise WorldError(
            f"{late[0]} alerts fire after the world's now", where="alert", mend="Move now or them"
        )


def _distinct(con: duckdb.DuckDBPyConnection, query: str) -> Iterable[tuple[str, ...]]:
    return con.execute(f"{query} order by all").fetchall()


def _check_ids(con: duckdb.DuckDBPyConnection, table: str, prefix: str) -> None:
    row = con.execute(
        f"select id from {table} where not regexp_full_match(id, '{prefix}-[0-9a-f]{{8}}') limit 1"
    ).fetchone()
    if row:
        raise WorldError(
            f"id '{row[0]}' is malformed",
            where=table,
            mend=f"Ids read '{prefix}-' and eight hex digits",
        )
    row = con.execute(f"select id from {table} group by id having count(*) > 1 limit 1").fetchone()
    if row:
        raise WorldError(f"id '{row[0]}' is given twice", where=table, mend="Make ids unique")


def _check_reference(
    con: duckdb.DuckDBPyConnection, table: str, column: str, other: str, *, optional: bool
) -> None:
    empty = f"and {column} <> ''" if optional else ""
    row = con.execute(
        f"select {column} from {table} "
        f"where {column} not in (select id from {other}) {empty} limit 1"
    ).fetchone()
    if row:
        raise WorldError(
            f"'{row[0]}' is not the id of any {other}",
            where=f"{table}.{column}",
            mend=f"Add the {other} or drop the row",
        )


def _check_ontology(con: duckdb.DuckDBPyConnection) -> None:
    for (kind,) in _distinct(con, "select distinct kind from entity"):
        ontology.check_kind(kind)
    triples = _distinct(
        con,
        "select distinct s.kind, e.pred, d.kind from edge e "
        "join entity s on s.id = e.src join entity d on d.id = e.dst",
    )
    for src, predicate, dst in triples:
        ontology.check_edge(src, predicate, dst, where=f"edge {src} {predicate} {dst}")
    for table in ("edge", "fact"):
        for provenance, source, low, high in _distinct(
            con,
            "select provenance, source, min(confidence), max(confidence) "
            f"from {table} group by 1, 2",
        ):
            for confidence in (float(low), float(high)):
                ontology.check_provenance(provenance, confidence, source, where=table)
    bad = con.execute("select value_json from fact where not json_valid(value_json) limit 1")
    row = bad.fetchone()
    if row:
        raise WorldError(
            f"{re.sub(r'[^ -~]', '?', str(row[0]))[:60]!r} is not JSON",
            where="fact.value_json",
            mend="Store values with json.dumps",
        )
    row = con.execute(
        "select event_id, field from change_diff where not (json_valid(old_json) and "
        "json_valid(new_json)) limit 1"
    ).fetchone()
    if row:
        raise WorldError(
            f"old or new value of '{row[1]}' is not JSON",
            where=f"change_diff of {row[0]}",
            mend="Store values with json.dumps; a field that was absent is null",
        )
