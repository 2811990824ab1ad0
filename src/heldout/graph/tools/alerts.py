"""Alerts and findings of the health checks."""

from __future__ import annotations

from heldout.graph.ontology import near
from heldout.graph.tools.backend import Args
from heldout.graph.tools.entities import steps
from heldout.graph.tools.page import Page, clip, iso
from heldout.graph.tools.reader import Reader, sliced
from heldout.graph.tools.refusals import Refusal


def list_alerts(reader: Reader, args: Args) -> Page:
    """Alerts that fired in a window, newest first."""
    window = reader.window(args["since"], args["until"])
    entity = reader.entity(args["entity"]) if "entity" in args else None
    fired = [
        one
        for one in reader.world.alerts
        if window.since <= one.ts <= window.until and (not entity or one.entity_id == entity.id)
    ]
    shown = [
        {
            "id": one.id,
            "ts": iso(one.ts),
            "rule": one.rule,
            "entity": one.entity_id,
            "entity_name": reader.name(one.entity_id),
            "severity": one.severity,
            "text": clip(one.text, 600),
            "state": one.state,
        }
        for one in sorted(fired, key=lambda one: (one.ts, one.id), reverse=True)
    ]
    gaps = reader.gaps("alert", window, (entity.id,) if entity else ())
    return sliced(shown, args, window=window, gaps=gaps)


def check_health(reader: Reader, args: Args) -> Page:
    """Findings about everything, one cluster, or one entity and what it is connected to."""
    scope = str(args.get("scope", "all")).strip()
    findings = reader.world.findings()
    entities = reader.graph.entities
    if scope in reader.world.clusters:
        findings = tuple(one for one in findings if entities[one.entity].cluster == scope)
    elif scope.casefold() != "all":
        start = _start(reader, scope)
        near_by = {start, *(other for _, _, other in steps(reader, start, "both", reader.now))}
        near_by |= {
            other
            for one in sorted(near_by)
            if entities[one].kind in ("K8sService", "Deployment", "StatefulSet", "ReplicaSet")
            for _, _, other in steps(reader, one, "both", reader.now)
        }
        findings = tuple(one for one in findings if one.entity in near_by)
    rows = [
        {
            "check": one.check,
            "entity": one.entity,
            "entity_name": entities[one.entity].name,
            "severity": one.severity,
            "finding": one.text,
            "fields": list(one.fields),
        }
        for one in findings
    ]
    return sliced(rows, args, gaps=reader.gaps("graph", None))


def _start(reader: Reader, scope: str) -> str:
    try:
        return reader.entity(scope).id
    except Refusal as refusal:
        names = reader.world.clusters
        raise Refusal(
            "bad_argument",
            f"'scope' must be an entity id, a cluster or 'all', not '{scope[:60]}'",
            refusal.near or near(scope, names) or ("all", *names[:7]),
        ) from refusal
