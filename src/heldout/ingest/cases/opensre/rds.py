"""Evidence of a database case: instances, provider's events, series, top statements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from heldout.ingest.cases.opensre.folder import METRICS, CaseFolder
from heldout.ingest.draft import WorldDraft
from heldout.ingest.moments import moment
from heldout.ingest.objects import mapping, sequence
from heldout.ingest.telemetry.grid import Tally, even_runs

_CHANGES: Mapping[str, str] = {
    "configuration change": "config", "maintenance": "cloud_api", "creation": "cloud_api",
    "deletion": "cloud_api", "failover": "cloud_api",
}  # fmt: skip
"""Categories of a provider's events that change something; all others are runtime."""


def into(draft: WorldDraft, case: CaseFolder) -> None:
    """Put a case's evidence into a draft; a source that it does not name is a gap."""
    names = Names(draft, case)
    for event in map(mapping, sequence(case.evidence.get("aws_rds_events", {}).get("events"))):
        _event(draft, names, event)
    spans = [
        _series(draft, names, one)
        for one in map(mapping, sequence(case.evidence.get(METRICS, {}).get("metric_data_results")))
    ]
    load = case.evidence.get("aws_performance_insights", {})
    spans.append(_load(draft, names, load))
    known = [span for span in spans if span]
    if known and not case.evidence.get(METRICS):
        first, last = min(one[0] for one in known), max(one[1] for one in known)
        draft.gap("metrics", names.primary, first, last, "no metrics were recorded")


class Names:
    """The instances of a case, found again by their identifiers."""

    def __init__(self, draft: WorldDraft, case: CaseFolder) -> None:
        scenario, notes = case.scenario, mapping(case.alert.get("commonAnnotations"))
        self._draft = draft
        self._identifier = str(scenario.get("db_instance_identifier") or "database")
        region = str(scenario.get("region") or "")
        self.primary = self.of(self._identifier)
        engine = {
            "engine": scenario.get("engine"),
            "engine_version": scenario.get("engine_version"),
            "instance_class": scenario.get("instance_class"),
            "region": region,
        }
        for field, value in engine.items():
            if value:
                draft.fact(self.primary, field, value, source="aws")
        group = str(scenario.get("db_cluster") or "")
        if group:
            draft.fact(self.primary, "cluster", group, source="aws")
        self.replicas: list[str] = []
        if notes.get("read_replica"):
            self.replica(str(notes["read_replica"]))

    def of(self, identifier: str) -> str:
        """The entity of an identifier."""
        return self._draft.entity("DbInstance", identifier, name=identifier, source="aws")

    def replica(self, identifier: str) -> str:
        """The entity of a replica, which depends on the primary."""
        found = self.of(identifier)
        if found not in self.replicas and found != self.primary:
            self.replicas.append(found)
            self._draft.fact(found, "replica_of", self._identifier, source="aws")
            self._draft.edge(found, "part_of", self.primary, source="aws")
        return found

    def any(self, identifier: str) -> str:
        """The entity of an identifier that may be a replica's, as its name says."""
        if identifier != self._identifier and "replica" in identifier:
            return self.replica(identifier)
        return self.of(identifier)


def _event(draft: WorldDraft, names: Names, event: Mapping[str, Any]) -> None:
    at = moment(event.get("date"))
    if at is None:
        draft.report.left_out["event without a date"] += 1
        return
    about = names.any(str(event.get("source_identifier")))
    categories = [str(one) for one in sequence(event.get("event_categories"))]
    kind = next((_CHANGES[one] for one in categories if one in _CHANGES), "runtime")
    draft.change(
        f"rds\x1f{at}\x1f{event.get('message')}", at, kind, actor="rds.amazonaws.com",
        actor_kind="provider", source="aws", summary=str(event.get("message")), targets=(about,),
    )  # fmt: skip


def _series(draft: WorldDraft, names: Names, one: Mapping[str, Any]) -> tuple[int, int] | None:
    dimensions = {
        str(mapping(said).get("Name")): str(mapping(said).get("Value"))
        for said in sequence(one.get("dimensions"))
    }
    identifier = dimensions.get("DBInstanceIdentifier") or dimensions.get("DBClusterIdentifier")
    entity = names.any(identifier) if identifier else names.primary
    name = f"{one.get('metric_name')}".strip()
    unit = str(one.get("unit") or "")
    return _points(draft, entity, (name, unit), one.get("timestamps"), one.get("values"))


def _points(
    draft: WorldDraft, entity: str, named: tuple[str, str], times: Any, values: Any
) -> tuple[int, int] | None:
    pairs = [
        (at, float(value))
        for time, value in zip(sequence(times), sequence(values), strict=False)
        if (at := moment(time)) is not None and isinstance(value, int | float)
    ]
    if not pairs:
        return None
    moments = np.array([at for at, _ in pairs], dtype=np.int64)
    for run in even_runs(moments, np.array([value for _, value in pairs]), Tally()):
        draft.series(entity, *named, run.t0, run.step_s, run.values)
    return int(moments.min()), int(moments.max())


def _load(draft: WorldDraft, names: Names, found: Mapping[str, Any]) -> tuple[int, int] | None:
    """Database load as a series, and what made it as facts of its end."""
    entity = names.any(str(found.get("db_instance_identifier"))) if found else names.primary
    load = mapping(found.get("db_load"))
    for field in ("top_sql", "top_wait_events", "top_users", "top_hosts"):
        if sequence(found.get(field)):
            draft.fact(entity, field, list(sequence(found[field])), source="aws")
    return _points(
        draft, entity, ("DBLoad", "sessions"), load.get("timestamps"), load.get("values")
    )
