"""What every world must satisfy: the ontology, references and time, found with anti-joins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import duckdb
import orjson

from heldout.errors import WorldError
from heldout.graph import ontology
from heldout.graph.identity import incarnations, reapplied_diff
from heldout.graph.schema import ACTOR_KINDS, CHANGE_TYPES, LEVELS, TARGET_ROLES

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
    ("change_target", "role", TARGET_ROLES),
    ("log", "level", LEVELS),
)
_FACT = "'fact ' || entity_id || '.' || field"
_EDGE = "'edge ' || src || ' ' || pred || ' ' || dst"
_EVENT = "'change_event ' || id"


_TARGETS = (
    "change_target t join change_event c on c.id = t.event_id join entity e on e.id = t.entity_id"
)


class _Rule(NamedTuple):
    """SQL for rows that must not exist, as (what it says, where), and how to mend one."""

    offending: str
    what: str
    mend: str


def _rules() -> Iterator[_Rule]:
    for table, prefix in _IDS:
        yield _Rule(
            f"select id, '{table}' from {table} "
            f"where not regexp_full_match(id, '{prefix}-[0-9a-f]{{8}}')",
            "id '{}' is malformed",
            f"Ids read '{prefix}-' and eight hex digits",
        )
        yield _Rule(
            f"select id, '{table}' from {table} group by id having count(*) > 1",
            "id '{}' is given twice",
            "Make ids unique",
        )
    for table, column, other, optional in _REFERENCES:
        empty = f"and {column} <> ''" if optional else ""
        yield _Rule(
            f"select {column}, '{table}.{column}' from {table} "
            f"where {column} not in (select id from {other}) {empty}",
            f"'{{}}' is not the id of any {other}",
            f"Add the {other} or drop the row",
        )
    for table, column, words in _CLOSED:
        known = ", ".join(f"'{word}'" for word in words)
        yield _Rule(
            f"select {column}, '{table}' from {table} where {column} not in ({known})",
            f"'{{}}' is not a {column}",
            f"Use one of: {', '.join(words)}",
        )
    yield from _bitemporal()
    yield from _json()


def _bitemporal() -> Iterator[_Rule]:
    yield _Rule(
        "select last_seen, 'entity ' || id from entity where last_seen < first_seen",
        "it was last seen at {}, before it was first seen",
        "Give first_seen and last_seen in microseconds; last_seen is now where it still exists",
    )
    for table, where in (("fact", _FACT), ("edge", _EDGE)):
        yield _Rule(
            f"select valid_to, {where} from {table} where valid_to < valid_from",
            "it ends at {}, before it begins",
            "Give valid_from and valid_to in microseconds, OPEN_END where it still holds",
        )
        yield _Rule(
            f"select observed_at, {where} from {table} where observed_at < valid_from",
            "it is observed at {}, before it holds",
            "observed_at is valid_from plus the time until somebody could know",
        )
    yield _Rule(
        f"select observed_at, {_EVENT} from change_event where observed_at < ts",
        "it is observed at {}, before it happens",
        "observed_at is ts plus the time until somebody could know",
    )


def _json() -> Iterator[_Rule]:
    yield _Rule(
        f"select value_json, {_FACT} from fact where not json_valid(value_json)",
        "'{}' is not JSON",
        "Store values with json.dumps",
    )
    for column in ("old_json", "new_json"):
        yield _Rule(
            f"select {column}, 'change_diff of ' || event_id || ', field ' || field "
            f"from change_diff where not json_valid({column})",
            "'{}' is not JSON",
            "Store values with json.dumps; a field that was absent is null",
        )


def _remade() -> Iterator[_Rule]:
    """Of entities that a change deleted or applied anew; see :mod:`heldout.graph.identity`."""
    for role, column in (("deleted", "last_seen"), ("applied", "first_seen")):
        yield _Rule(
            f"select c.ts, 'entity ' || e.id from {_TARGETS} "
            f"where t.role = '{role}' and e.{column} <> c.ts",
            f"it is {role} at {{}}, but its {column} is another time",
            f"Set {column} to the ts of that change",
        )
    for table, where, of in (
        ("fact", _FACT, "fact.entity_id = e.id"),
        ("edge", _EDGE, "e.id in (edge.src, edge.dst)"),
    ):
        yield _Rule(
            f"select valid_to, {where} from {table} where exists (select 1 from {_TARGETS} "
            f"where {of} and t.role = 'deleted' and valid_to > c.ts)",
            "it holds until {}, though its entity was deleted before",
            "End what holds of a deleted entity at the entity's last_seen",
        )
        yield _Rule(
            f"select valid_from, {where} from {table} where exists (select 1 from {_TARGETS} "
            f"where {of} and t.role = 'applied' and valid_from < c.ts)",
            "it holds from {} on, though its entity was applied later",
            "Begin what holds of an entity that was applied anew at the entity's first_seen",
        )


_RULES: Sequence[_Rule] = tuple(_rules())
_REMADE: Sequence[_Rule] = tuple(_remade())


def check_rows(con: duckdb.DuckDBPyConnection, *, now: int) -> None:
    """Raise :class:`WorldError` at the first row that breaks the ontology or dangles."""
    _check(con, _RULES)
    _check_ontology(con)
    if con.execute("select 1 from change_target where role <> 'target' limit 1").fetchone():
        _check(con, _REMADE)
        _check_reapplied(con)
    late = con.execute("select count(*) from alert where ts > $1", [now]).fetchone()
    if late and late[0]:
        raise WorldError(
            f"{late[0]} alerts fire after the world's now", where="alert", mend="Move now or them"
        )


def _check(con: duckdb.DuckDBPyConnection, rules: Sequence[_Rule]) -> None:
    for rule in rules:
        row = con.execute(f"{rule.offending} order by all limit 1").fetchone()
        if row:
            raise WorldError(rule.what.format(_shown(row[0])), where=row[1], mend=rule.mend)


def _shown(value: object) -> str:
    return re.sub(r"[^ -~]", "?", str(value))[:60]


def _check_ontology(con: duckdb.DuckDBPyConnection) -> None:
    """Kinds, signatures and provenance; of each distinct combination one row is named."""
    for kind, one in _distinct(con, "select kind, min(id || ' (' || name || ')') from entity"):
        ontology.check_kind(kind, where=f"entity {one}")
    edges = _distinct(
        con,
        f"select s.kind, e.pred, d.kind, min({_EDGE}) from edge e "
        "join entity s on s.id = e.src join entity d on d.id = e.dst",
    )
    for src, predicate, dst, where in edges:
        ontology.check_edge(src, predicate, dst, where=f"{where} ({src} to {dst})")
    sure = "coalesce(confidence, 'nan')"  # NaN is stored as NULL, and it is the greatest of all.
    for table, where in (("fact", _FACT), ("edge", _EDGE)):
        for provenance, source, low, high, lowest, highest in _distinct(
            con,
            f"select provenance, source, min({sure}), max({sure}), "
            f"arg_min({where}, {sure}), arg_max({where}, {sure}) from {table}",
        ):
            ontology.check_provenance(provenance, float(low), source, where=lowest)
            ontology.check_provenance(provenance, float(high), source, where=highest)


def _distinct(con: duckdb.DuckDBPyConnection, query: str) -> list[tuple[str, ...]]:
    return con.execute(f"{query} group by all order by all").fetchall()


def _check_reapplied(con: duckdb.DuckDBPyConnection) -> None:
    """What was applied anew continues something, and its change says in which fields it differs."""
    joined = incarnations(con)
    applied = con.execute(
        f"select c.id, e.id, e.first_seen from {_TARGETS} where t.role = 'applied' order by all"
    ).fetchall()
    for change, entity, born in applied:
        lives = {life.id: life for life in joined.all(entity)}
        before = [lives[one] for one in joined.until(entity)[:-1]]
        if not before:
            raise WorldError(
                "it is applied anew, but nothing of its kind, cluster, namespace and name ended "
                "before",
                where=f"entity {entity}",
                mend="Give both incarnations the same, or the new one the role 'target'",
            )
        old = _facts_at(con, before[-1].id, before[-1].last_seen - 1)
        wanted = reapplied_diff(old, _facts_at(con, entity, born))
        rows = con.execute(
            "select field, old_json, new_json, redacted from change_diff "
            "where event_id = $change and entity_id = $entity order by field",
            {"change": change, "entity": entity},
        ).fetchall()
        told = {row[0]: _step(*row[1:]) for row in rows}
        masked = {row[0] for row in rows if row[3]}
        meant = {one.field: None if one.field in masked else one[1:] for one in wanted}
        odd = sorted(
            field for field in told.keys() | meant.keys()
            if field not in told or field not in meant or told[field] != meant[field]
        )  # fmt: skip
        if odd:
            raise WorldError(
                f"field '{_shown(odd[0])}' of {entity} does not go from what was deleted to what "
                "was applied",
                where=f"change_diff of {change}",
                mend="Write the rows of heldout.graph.identity.reapplied_diff, no more, no less",
            )


def _step(old: str, new: str, redacted: bool) -> tuple[Any, Any] | None:
    return None if redacted else (orjson.loads(old), orjson.loads(new))


def _facts_at(con: duckdb.DuckDBPyConnection, entity: str, at: int) -> dict[str, Any]:
    rows = con.execute(
        "select field, value_json from fact where entity_id = $entity and valid_from <= $at "
        "and valid_to > $at order by valid_from, observed_at",
        {"entity": entity, "at": at},
    ).fetchall()
    return {field: orjson.loads(value) for field, value in rows}
