"""What every world must satisfy: the ontology, references, and time.

The checks work on columns in memory: they are sets and comparisons, for which a database would take
five times as long.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import orjson

from heldout.errors import WorldError
from heldout.graph import ontology
from heldout.graph.remaking import check_remade
from heldout.graph.schema import (
    ACTOR_KINDS,
    CHANGE_TYPES,
    LEVELS,
    PROVENANCE,
    SOURCES,
    TARGET_ROLES,
)

Tables = Mapping[str, Mapping[str, Any]]
"""Tables by name, columns by name: texts as lists, numbers as lists or arrays.

``metric_value`` is not looked at.
"""

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
    ("log_template", "level", LEVELS),
)
_WHEN_KNOWN = "observed_at is {} plus the time until somebody could know"
_IN_ORDER = (
    ("entity", "last_seen", "first_seen", "it was last seen at {}, before it was first seen",
     "last_seen is now where it still exists"),
    ("fact", "valid_to", "valid_from", "it ends at {}, before it begins",
     "valid_to is OPEN_END where it still holds"),
    ("edge", "valid_to", "valid_from", "it ends at {}, before it begins",
     "valid_to is OPEN_END where it still holds"),
    ("fact", "observed_at", "valid_from", "it is observed at {}, before it holds",
     _WHEN_KNOWN.format("valid_from")),
    ("edge", "observed_at", "valid_from", "it is observed at {}, before it holds",
     _WHEN_KNOWN.format("valid_from")),
    ("change_event", "observed_at", "ts", "it is observed at {}, before it happens",
     _WHEN_KNOWN.format("ts")),
)  # fmt: skip
"""(table, later column, earlier column, what is wrong, how to mend it)."""

_JSON = (
    ("fact", "value_json", "Store values with json.dumps"),
    ("change_diff", "old_json", "Store values with json.dumps; a field that was absent is null"),
    ("change_diff", "new_json", "Store values with json.dumps; a field that was absent is null"),
)


def check_rows(tables: Tables, *, now: int) -> None:
    """Raise :class:`WorldError` at the first row that breaks the ontology or dangles."""
    _check_ids(tables)
    _check_references(tables)
    _check_diffs(tables)
    _check_words(tables)
    _check_time(tables, now)
    _check_json(tables)
    _check_entities(tables)
    _check_edges(tables)
    _check_provenance(tables)
    if set(tables["change_target"]["role"]) - {"target"}:
        check_remade(tables)


def _named(tables: Tables, table: str, at: int) -> str:
    """A row as an error names it."""
    row = {column: values[at] for column, values in tables[table].items()}
    if table == "fact":
        return f"fact {row['entity_id']}.{row['field']}"
    if table == "edge":
        return f"edge {row['src']} {row['pred']} {row['dst']}"
    if table == "change_diff":
        return f"change_diff of {row['event_id']}, field {row['field']}"
    return f"{table} {row['id']}"


def _shown(value: object) -> str:
    return re.sub(r"[^ -~]", "?", str(value))[:60]


def _check_ids(tables: Tables) -> None:
    for table, prefix in _IDS:
        ids = tables[table]["id"]
        well_formed = re.compile(rf"{prefix}-[0-9a-f]{{8}}").fullmatch
        bad = sorted(str(one) for one in ids if not well_formed(one))
        if bad:
            raise WorldError(
                f"id '{_shown(bad[0])}' is malformed",
                where=table,
                mend=f"Ids read '{prefix}-' and eight hex digits",
            )
        if len(set(ids)) != len(ids):
            counts: Counter[str] = Counter(ids)
            twice = min(one for one, count in counts.items() if count > 1)
            raise WorldError(f"id '{twice}' is given twice", where=table, mend="Make ids unique")


def _check_diffs(tables: Tables) -> None:
    diff = tables["change_diff"]
    steps = list(zip(diff["event_id"], diff["entity_id"], diff["field"], strict=True))
    if len(set(steps)) != len(steps):
        event, entity, field = min(one for one, count in Counter(steps).items() if count > 1)
        raise WorldError(
            f"field '{_shown(field)}' of {entity} changes twice",
            where=f"change_diff of {event}",
            mend="Give a change one diff for a field, from the first value to the last",
        )


def _check_references(tables: Tables) -> None:
    known = {table: {*tables[table]["id"]} for table, _ in _IDS}
    for table, column, other, optional in _REFERENCES:
        missing = set(tables[table][column]) - known[other] - ({""} if optional else set())
        if missing:
            raise WorldError(
                f"'{_shown(min(missing))}' is not the id of any {other}",
                where=f"{table}.{column}",
                mend=f"Add the {other} or drop the row",
            )
    templates = len(tables["log_template"]["id"])
    lines = np.asarray(tables["log"]["template_id"])
    if lines.size and not (lines.min() >= 1 and lines.max() <= templates):
        raise WorldError(
            "a line names a template that is not there",
            where="log.template_id",
            mend=f"Templates are numbered 1 to {templates}",
        )


def _check_words(tables: Tables) -> None:
    for table, column, words in _CLOSED:
        unknown = set(tables[table][column]) - set(words)
        if unknown:
            raise WorldError(
                f"'{_shown(min(unknown))}' is not a {column}",
                where=table,
                mend=f"Use one of: {', '.join(words)}",
            )


def _check_time(tables: Tables, now: int) -> None:
    for table, later, earlier, what, mend in _IN_ORDER:
        late, early = (np.asarray(tables[table][column]) for column in (later, earlier))
        odd = np.flatnonzero(late < early)
        if odd.size:
            at = int(odd[0])
            raise WorldError(what.format(late[at]), where=_named(tables, table, at), mend=mend)
    alerts = np.count_nonzero(np.asarray(tables["alert"]["ts"]) > now)
    if alerts:
        raise WorldError(
            f"{alerts} alerts fire after the world's now", where="alert", mend="Move now or them"
        )


def _check_json(tables: Tables) -> None:
    for table, column, mend in _JSON:
        texts = tables[table][column]
        bad = sorted(text for text in set(texts) if not _is_json(text))
        if bad:
            at = next(at for at, text in enumerate(texts) if text == bad[0])
            where = _named(tables, table, at)
            raise WorldError(f"'{_shown(bad[0])}' is not JSON", where=where, mend=mend)


def _is_json(text: str) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def _check_entities(tables: Tables) -> None:
    entity = tables["entity"]
    for kind in sorted(set(entity["kind"]) - set(ontology.KINDS)):
        rows = zip(entity["id"], entity["name"], entity["kind"], strict=True)
        one = min(f"{own} ({name})" for own, name, other in rows if other == kind)
        ontology.check_kind(kind, where=f"entity {one}")


def _check_edges(tables: Tables) -> None:
    edge = tables["edge"]
    kind = dict(zip(tables["entity"]["id"], tables["entity"]["kind"], strict=True))
    starts, ends = map(kind.get, edge["src"]), map(kind.get, edge["dst"])
    triples: Iterable[tuple[Any, Any, Any]] = zip(starts, edge["pred"], ends, strict=True)
    for src, predicate, dst in sorted(set(triples)):
        if ontology.fits(src, predicate, dst):
            continue
        at = next(
            at for at, (one, pred, two)
            in enumerate(zip(edge["src"], edge["pred"], edge["dst"], strict=True))
            if (kind[one], pred, kind[two]) == (src, predicate, dst)
        )  # fmt: skip
        where = f"{_named(tables, 'edge', at)} ({src} to {dst})"
        ontology.check_edge(src, predicate, dst, where=where)


def _check_provenance(tables: Tables) -> None:
    for table in ("fact", "edge"):
        columns = tables[table]
        sure = np.asarray(columns["confidence"], dtype=np.float32)
        odd = np.flatnonzero(~((sure >= 0) & (sure <= 1))).tolist()
        for column, known in (("provenance", PROVENANCE), ("source", SOURCES)):
            for word in sorted(set(columns[column]) - set(known)):
                odd.append(next(at for at, one in enumerate(columns[column]) if one == word))
        for at in odd:
            ontology.check_provenance(
                columns["provenance"][at],
                float(sure[at]),
                columns["source"][at],
                where=_named(tables, table, at),
            )
