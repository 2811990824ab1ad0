"""A world that is being drafted from material: entities found again by what they are called.

Several imports may add to one draft, and a draft can begin with a world that was imported before.
Rows stay in memory; log lines and metric values go to disk as they come.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any

from heldout.errors import IngestError
from heldout.graph.files import read_tables, verify_world, world_meta, write_world
from heldout.graph.ontology import KINDS, fits
from heldout.graph.schema import SOURCES, TABLES, WorldTables
from heldout.graph.topology import Topology
from heldout.ingest.redaction import Redactor
from heldout.ingest.report import Report
from heldout.ingest.telemetry.grid import Numbers
from heldout.ingest.telemetry.recording import COVERAGE, Line, Recording
from heldout.ingest.timelines import (
    EdgeRow,
    FactRow,
    Row,
    bounded,
    columns_of,
    or_else,
    timeline,
    unbounded,
)

HISTORY = 14 * 86_400_000_000
"""How far before now a world begins at least, in microseconds."""

LONGEST_SUMMARY = 300
LINES_OF = "lines_of"
"""In a world's remarks: digests of the files whose log lines it holds."""
PLACEHOLDERS = "placeholders"
"""In a world's remarks: how many secrets have a number in it."""
_ROWS = ("entity", "fact", "edge", "change_event", "change_target", "change_diff", "alert",
         "data_gap")  # fmt: skip

Diff = tuple[str, str, Any, Any]


class WorldDraft:
    """Collects, joins and writes. Close it, or use it in a ``with`` block."""

    def __init__(self, *, name: str = "imported", base: Path | None = None) -> None:
        self.report = Report()
        self._meta = dict(world_meta(base).meta) if base is not None else {}
        self.redactor = Redactor(int(self._meta.get(PLACEHOLDERS, "0")))
        self.name = name
        self._lines_of = dict.fromkeys(self._meta.get(LINES_OF, "").split())
        self._rows: dict[str, list[Row]] = {table: [] for table in _ROWS}
        self._entities: dict[str, Row] = {}
        self._keys: dict[tuple[str, str, str], str] = {}
        self._named: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._facts: dict[tuple[str, str, str, str], tuple[FactRow, ...]] = {}
        self._edges: dict[tuple[str, str, str, str, str, int | None], EdgeRow] = {}
        self._changes: dict[str, Row] = {}
        self._targets: set[tuple[str, str]] = set()
        self._diffs: dict[tuple[str, str, str], Row] = {}
        self._alerts: dict[str, Row] = {}
        self._ids: dict[tuple[str, str], str] = {}
        self._began: int | None = None
        self._latest: int | None = None
        self._recording = Recording(self.redactor, base)
        if base is not None:
            self._take(base)

    def __enter__(self) -> WorldDraft:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give back what lies on disk."""
        self._recording.close()

    def _take(self, base: Path) -> None:
        """Begin with a world; what held from its beginning to its end has no bounds of its own."""
        meta = world_meta(base)
        verify_world(base, meta.digest)
        wanted = {table: [column for column, _ in TABLES[table]] for table in _ROWS}
        for table, rows in read_tables(base, wanted).items():
            for row in rows:
                self._keep(table, unbounded(row, meta.start))
        self._began, self._latest = meta.start, meta.now

    def _keep(self, table: str, row: Row) -> None:
        if table == "entity":
            self._add_entity(row)
        elif table == "fact":
            key = (row["entity_id"], row["field"], row["provenance"], row["source"])
            self._facts[key] = (*self._facts.get(key, ()), FactRow(**row))
        elif table == "edge":
            place = (row["src"], row["pred"], row["dst"], row["provenance"], row["source"])
            self._edges[*place, row["valid_from"]] = EdgeRow(**row)
        elif table == "change_event":
            self._changes[row["id"]] = row
        elif table == "change_target":
            if row["role"] == "target":
                self._targets.add((row["event_id"], row["entity_id"]))
            else:
                self._rows[table].append(row)
        elif table == "change_diff":
            self._diffs[row["event_id"], row["entity_id"], row["field"]] = row
        elif table == "alert":
            self._alerts[row["id"]] = row
        elif row.get("note") not in COVERAGE:
            self._rows[table].append(row)

    def _add_entity(self, row: Row) -> None:
        self._entities[row["id"]] = row
        self._keys[row["kind"], row["external_id"], row["cluster"]] = row["id"]
        self._named[row["kind"], row["name"]].append(row["id"])

    def entity(
        self,
        kind: str,
        external_id: str,
        *,
        name: str = "",
        cluster: str = "",
        facts: Mapping[str, Any] | None = None,
        provenance: str = "observed",
        confidence: float = 1.0,
        source: str = "k8s",
    ) -> str:
        """The id of an entity; the same kind, external id and cluster are the same one.

        A kind that a world does not know is kept as a CustomResource, with its kind as a fact.
        """
        known = kind if kind in KINDS else "CustomResource"
        key = (known, external_id if known == kind else f"{kind}/{external_id}", cluster)
        found = self._keys.get(key)
        if found is None:
            self.report.kinds[kind] += 1
            found = self._id("e", self._entities, "\x1f".join(key))
            self._add_entity(
                {
                    "id": found,
                    "kind": known,
                    "name": name or external_id.rsplit("/", 1)[-1],
                    "external_id": key[1],
                    "cluster": cluster,
                    "first_seen": None,
                    "last_seen": None,
                }
            )
            if known != kind:
                self.report.unknown_kinds[kind] += 1
                self.fact(found, "kind", kind, provenance=provenance, source=source)
        for field, value in (facts or {}).items():
            self.fact(
                found, field, value, provenance=provenance, confidence=confidence, source=source
            )
        return found

    def _id(
        self, letter: str, rows: Mapping[str, Row], key: str, told: Mapping[str, Any] | None = None
    ) -> str:
        """The id of what a key names: a free one, or that of a row which tells the same.

        Ids are short, so that two keys may come to one: then what the rows say tells them apart,
        and neither is lost.
        """
        if (letter, key) in self._ids:
            return self._ids[letter, key]
        for salt in range(1000):
            text = f"{salt}\x1f{key}".encode("utf-8", "replace")
            one = f"{letter}-{hashlib.sha256(text).hexdigest()[:8]}"
            row = rows.get(one)
            if row is None or (told is not None and told.items() <= row.items()):
                self._ids[letter, key] = one
                return one
        raise IngestError("no id is left", where=key[:80], mend="Import less at once")

    def find(
        self,
        *,
        kind: str | None = None,
        name: str | None = None,
        external_id: str | None = None,
        cluster: str | None = None,
    ) -> list[str]:
        """The ids of entities of which all that is given is true, in the order of their adding."""
        if kind is not None and name is not None:
            among: Iterable[str] = self._named.get((kind, name), ())
        else:
            among = self._entities
        return [
            one
            for one in among
            if (row := self._entities[one])
            and (kind is None or row["kind"] == kind)
            and (name is None or row["name"] == name)
            and (external_id is None or row["external_id"] == external_id)
            and (cluster is None or row["cluster"] == cluster)
        ]

    def kind(self, entity: str) -> str:
        """The kind of an entity."""
        return str(self._entities[entity]["kind"])

    def title(self, entity: str) -> str:
        """The name of an entity."""
        return str(self._entities[entity]["name"])

    def changes(self) -> dict[str, str]:
        """The id of each change by its summary; of several that say the same, the last one's."""
        return {str(row["summary"]): one for one, row in self._changes.items()}

    def change_rows(self) -> Iterable[Row]:
        """Every change as its row, in the order of their adding."""
        return self._changes.values()

    def namespace(self, entity: str) -> str:
        """The namespace of an entity, empty where none is known."""
        found = self.value(entity, "namespace")
        return found if isinstance(found, str) else ""

    def value(self, entity: str, field: str, provenance: str = "") -> Any:
        """What is said last of a field, what was observed before what was declared; else None.

        With ``provenance`` only what is said so.
        """
        said = (provenance,) if provenance else ("observed", "declared", "inferred", "asserted")
        for provenance in said:
            rows = self._said(entity, field, provenance)
            if rows:
                return json.loads(max(rows, key=lambda row: row.valid_from or 0).value_json)
        return None

    def _said(self, entity: str, field: str, provenance: str) -> list[FactRow]:
        return [
            row
            for source in SOURCES
            for row in self._facts.get((entity, field, provenance, source), ())
        ]

    def fact(
        self,
        entity: str,
        field: str,
        value: Any,
        *,
        since: int | None = None,
        until: int | None = None,
        provenance: str = "observed",
        confidence: float = 1.0,
        source: str = "k8s",
        change: str = "",
    ) -> None:
        """Say what a field is, from when and until when (microseconds; None: as far as is known).

        What the same source says later of the same time replaces what it said before.
        """
        clean = self.redactor.object({field: value}, is_secret=False)[field]
        said = sys.intern(json.dumps(clean, sort_keys=True))  # Most are said often.
        row = FactRow(
            entity, field, said, since, until, since, provenance, confidence, source, change
        )
        key = (entity, field, provenance, source)
        kept = [one for one in self._facts.get(key, ()) if one.valid_from != since]
        self._facts[key] = (*kept, row)
        self._seen(since)

    def edge(
        self,
        src: str,
        predicate: str,
        dst: str,
        *,
        since: int | None = None,
        until: int | None = None,
        provenance: str = "observed",
        confidence: float = 1.0,
        source: str = "k8s",
    ) -> None:
        """Say that two entities are connected; what the ontology does not know is counted."""
        one, two = self._entities[src]["kind"], self._entities[dst]["kind"]
        if src == dst or not fits(one, predicate, two):
            self.report.left_out[f"{one} {predicate} {two}"] += 1
            return
        self._edges[src, predicate, dst, provenance, source, since] = EdgeRow(
            src, predicate, dst, since, until, since, provenance, confidence, source, ""
        )
        self._seen(since)

    def change(
        self,
        key: str,
        ts: int,
        type: str,
        *,
        actor: str = "",
        actor_kind: str = "person",
        source: str,
        summary: str,
        targets: Sequence[str] = (),
        diffs: Sequence[Diff] = (),
        repo: str = "",
        commit: str = "",
        pr: str = "",
    ) -> str:
        """Add a change and return its id; the same ``key`` is the same change, told once.

        ``diffs`` are (entity, field, old, new); their entities are targets too.
        """
        summary = self.redactor.text(summary)[:LONGEST_SUMMARY]
        found = self._id("c", self._changes, key, {"ts": ts, "type": type, "summary": summary})
        if found not in self._changes:
            self._changes[found] = {
                "id": found,
                "ts": ts,
                "observed_at": ts,
                "type": type,
                "actor": actor,
                "actor_kind": actor_kind,
                "source": source,
                "pr": pr,
                "repo": repo,
                "commit": commit,
                "summary": summary,
            }
            self._seen(ts)
        self._targets.update((found, one) for one in targets)
        for entity, field, old, new in diffs:
            self._targets.add((found, entity))
            clean = self.redactor.object({field: [old, new]}, is_secret=False)[field]
            self._diffs[found, entity, field] = {
                "event_id": found,
                "entity_id": entity,
                "field": field,
                "old_json": json.dumps(clean[0], sort_keys=True),
                "new_json": json.dumps(clean[1], sort_keys=True),
                "redacted": clean != [old, new],
            }
        return found

    def alert(
        self,
        key: str,
        ts: int,
        rule: str,
        *,
        entity: str = "",
        severity: str = "",
        text: str = "",
        state: str = "firing",
    ) -> None:
        """Add an alert; the same ``key`` is the same alert, told once."""
        found = self._id("a", self._alerts, key, {"ts": ts, "rule": rule})
        self._alerts[found] = {
            "id": found,
            "ts": ts,
            "rule": rule,
            "entity_id": entity,
            "severity": severity,
            "text": self.redactor.text(text),
            "state": state,
        }
        self._seen(ts)

    def topology(self, found: Topology) -> dict[str, str]:
        """Add all of a topology; which of its entities is which of the draft's."""
        ids = {
            one.id: self.entity(one.kind, one.external_id, name=one.name, cluster=one.cluster)
            for one in found.entities
        }
        for fact in found.facts:
            self.fact(
                ids[fact.entity],
                fact.field,
                fact.value,
                provenance=fact.provenance,
                confidence=fact.confidence,
                source=fact.source,
            )
        for edge in found.edges:
            self.edge(
                ids[edge.src],
                edge.predicate,
                ids[edge.dst],
                provenance=edge.provenance,
                confidence=edge.confidence,
                source=edge.source,
            )
        return ids

    def has_lines_of(self, mark: str) -> bool:
        """Whether the lines of a file with this mark are in the world; from now on they are."""
        known = mark in self._lines_of
        self._lines_of[mark] = None
        return known

    def log_lines(self, lines: Iterable[Line]) -> None:
        """Add log lines (microseconds, entity, level, message), streamed and in any order."""
        self._recording.log_lines(lines)

    def series(
        self, entity: str, name: str, unit: str, t0: int, step_s: int, values: Numbers
    ) -> None:
        """Add values of a series, ``step_s`` apart from ``t0`` (microseconds) on, gaps as NaN."""
        self._recording.series(entity, name, unit, t0, step_s, values)

    def gap(self, source: str, entity: str, since: int, until: int, note: str) -> None:
        """Say that a source tells nothing of a time."""
        row = {"source": source, "entity_id": entity, "since": since, "until": until, "note": note}
        if row not in self._rows["data_gap"]:
            self._rows["data_gap"].append(row)

    def _seen(self, moment: int | None) -> None:
        if moment is not None:
            self._latest = max(moment, self._latest or moment)

    def write(self, directory: Path, *, now: int | None = None) -> str:
        """Write the world as it stands at ``now`` (None: the latest moment told); its digest."""
        self.report.redacted = self.redactor.count
        if not self._entities:
            raise IngestError(
                "there is nothing to import: no object was found",
                mend="Read the report: it says what became of each file",
            )
        span = self._recording.spool.span
        at = self._now(now)
        start = self._start(at, span)
        columns: dict[str, Any] = {
            table: columns_of(table, rows) for table, rows in self._tables(start, at).items()
        }
        columns["metric_series"] = self._recording.names()
        meta = {"imported": self.name} | self._meta
        if self.redactor.last:
            meta[PLACEHOLDERS] = str(self.redactor.last)
        if self._lines_of:
            meta[LINES_OF] = " ".join(sorted(self._lines_of))
        tables = WorldTables(
            columns=columns, now=at, start=start, meta=meta, spool=self._recording.spool
        )
        directory.parent.mkdir(parents=True, exist_ok=True)
        return write_world(tables, directory)

    def _tables(self, start: int, at: int) -> dict[str, Iterable[Row]]:
        """The rows of each table, those of the large ones made as they are looked at."""
        return {
            **self._rows,
            "entity": (
                {**row, "first_seen": or_else(row["first_seen"], start),
                 "last_seen": or_else(row["last_seen"], at)}
                for row in self._entities.values()
            ),
            "fact": (row for held in self._facts.values() for row in timeline(held, start)),
            "edge": (bounded(row, start) for row in self._edges.values()),
            "change_event": self._changes.values(),
            "change_target": chain(
                self._rows["change_target"],
                ({"event_id": event, "entity_id": entity, "role": "target"}
                 for event, entity in sorted(self._targets)),
            ),
            "change_diff": self._diffs.values(),
            "alert": (row for row in self._alerts.values() if row["ts"] <= at),
            "data_gap": [*self._rows["data_gap"], *self._recording.gaps(start, at)],
        }  # fmt: skip

    @property
    def latest(self) -> int | None:
        """The latest moment that anything tells of, in microseconds."""
        span = self._recording.spool.span
        told = [one for one in (self._latest, span[1] if span else None) if one is not None]
        return max(told, default=None)

    def _now(self, now: int | None) -> int:
        if now is not None:
            return now
        return self.latest if self.latest is not None else time.time_ns() // 1000

    def _start(self, now: int, span: tuple[int, int] | None) -> int:
        moments: list[int] = [or_else(self._began, now), now - HISTORY]
        moments += [row["ts"] for row in (*self._changes.values(), *self._alerts.values())]
        rows: Iterable[FactRow | EdgeRow] = chain(*self._facts.values(), self._edges.values())
        moments += [row.valid_from for row in rows if row.valid_from is not None]
        return min([*moments, span[0]] if span else moments)
