"""A topology as the tables of a world, and imported events as its runtime changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from heldout.graph.schema import BLOCK_TABLES, OPEN_END, TABLES, WorldTables
from heldout.graph.topology import Topology
from heldout.ingest.objects import K8sObject, mapping

HISTORY = 14 * 86_400_000_000
"""How far before now an imported world begins, in microseconds."""

_LONGEST_MESSAGE = 300


def world_tables(topology: Topology, events: Sequence[K8sObject], *, now: int) -> WorldTables:
    """A world that says what the topology says, from the beginning to now."""
    start = now - HISTORY
    rows: dict[str, list[dict[str, Any]]] = {
        name: [] for name in TABLES if name not in BLOCK_TABLES
    }
    for entity in topology.entities:
        rows["entity"].append(
            {
                "id": entity.id,
                "kind": entity.kind,
                "name": entity.name,
                "external_id": entity.external_id,
                "cluster": entity.cluster,
                "first_seen": start,
                "last_seen": now,
            }
        )
    for fact in topology.facts:
        rows["fact"].append(
            {
                "entity_id": fact.entity,
                "field": fact.field,
                "value_json": json.dumps(fact.value, sort_keys=True),
                **_stamp(start, fact.provenance, fact.confidence, fact.source),
            }
        )
    for edge in topology.edges:
        rows["edge"].append(
            {
                "src": edge.src,
                "pred": edge.predicate,
                "dst": edge.dst,
                **_stamp(start, edge.provenance, edge.confidence, edge.source),
            }
        )
    _add_events(rows, topology, events, start, now)
    columns = {
        name: {column: [row[column] for row in rows[name]] for column, _ in TABLES[name]}
        for name in rows
    }
    return WorldTables(columns=columns, now=now, start=start, meta=dict(topology.meta))


def _stamp(start: int, provenance: str, confidence: float, source: str) -> dict[str, Any]:
    return {
        "valid_from": start,
        "valid_to": OPEN_END,
        "observed_at": start,
        "provenance": provenance,
        "confidence": confidence,
        "source": source,
        "event_id": "",
    }


def _add_events(
    rows: Mapping[str, list[dict[str, Any]]],
    topology: Topology,
    events: Sequence[K8sObject],
    start: int,
    now: int,
) -> None:
    """Events about imported entities, within the world's time, as runtime changes."""
    by_name: dict[tuple[str, str], str] = {}
    for entity in topology.entities:
        namespace = entity.external_id.split("/")[1] if entity.external_id.count("/") == 2 else ""
        by_name.setdefault((namespace, f"{entity.kind}/{entity.name}"), entity.id)
    known: set[str] = set()
    for event in events:
        involved = mapping(event.body.get("involvedObject") or event.body.get("regarding"))
        kind = {"Service": "K8sService"}.get(str(involved.get("kind")), str(involved.get("kind")))
        place = "" if kind == "Node" else str(involved.get("namespace") or event.place)
        target = by_name.get((place, f"{kind}/{involved.get('name')}"))
        when = _moment(event)
        if target is None or when is None or not start <= when <= now:
            continue
        text = "\x1f".join((event.namespace, event.name, str(when)))
        one = "c-" + hashlib.sha256(text.encode()).hexdigest()[:8]
        if one in known:
            continue
        known.add(one)
        source = mapping(event.body.get("source"))
        actor = source.get("component") or event.body.get("reportingComponent") or "kubernetes"
        summary = f"{event.body.get('reason') or 'Event'}: {event.body.get('message') or ''}"
        rows["change_event"].append(
            {
                "id": one,
                "ts": when,
                "observed_at": when,
                "type": "runtime",
                "actor": str(actor),
                "actor_kind": "controller",
                "source": "k8s",
                "pr": "",
                "repo": "",
                "commit": "",
                "summary": summary[:_LONGEST_MESSAGE],
            }
        )
        rows["change_target"].append({"event_id": one, "entity_id": target, "role": "target"})


def _moment(event: K8sObject) -> int | None:
    for key in ("lastTimestamp", "eventTime", "firstTimestamp"):
        text = event.body.get(key)
        if isinstance(text, str) and text:
            try:
                moment = datetime.fromisoformat(text)
            except ValueError:
                continue
            moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
            return int(moment.timestamp()) * 1_000_000
    return None
