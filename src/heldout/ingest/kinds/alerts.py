"""``heldout ingest alerts``: what fired, and what would."""

from __future__ import annotations

import hashlib
from pathlib import Path

from heldout.ingest.alerting import Alert, Rule, alerts_in, recordings_in, rules_in
from heldout.ingest.cloud.files import check_file
from heldout.ingest.draft import WorldDraft
from heldout.ingest.importer import ImportOptions
from heldout.ingest.packed import parts_of_file
from heldout.ingest.reading import FileRecord, Outcome, Unreadable, files_of
from heldout.ingest.telemetry.places import NOWHERE, Place, place_of
from heldout.ingest.telemetry.sources import Sources

SUFFIXES = (".json", ".jsonl", ".ndjson", ".yaml", ".yml", ".gz")
RULES = "prometheus"


class Alerts:
    """Alerts at the entities that their labels name; definitions as entities of their own."""

    name = "alerts"
    reads = (
        "alerts of Alertmanager (webhook version 4, API version 2), findings and requests of "
        "Robusta, files of Prometheus rules"
    )

    def read_into(self, path: Path, draft: WorldDraft, options: ImportOptions) -> None:
        """Read every alert and rule at or below ``path``."""
        reader = _Reader(draft, options)
        for relative, full in files_of(path, SUFFIXES):
            draft.report.file(reader.file(relative, full, path))


class _Reader:
    def __init__(self, draft: WorldDraft, options: ImportOptions) -> None:
        self._draft = draft
        self._now = options.now
        self._cluster = options.cluster
        self._sources = Sources(draft, options.cluster)

    def file(self, relative: str, full: Path, root: Path) -> FileRecord:
        """One file of alerts or rules."""
        count, recordings, undated, lost = 0, 0, 0, ""
        try:
            check_file(full, root if root.is_dir() else root.parent)
            for part in parts_of_file(full):
                for alert in alerts_in(part):
                    placed = self._alert(alert)
                    count += placed
                    undated += not placed
                for rule in rules_in(part):
                    self._rule(rule)
                    count += 1
                recordings += recordings_in(part)
        except Unreadable as problem:
            if not count:
                return FileRecord(relative, problem.outcome, 0, problem.detail)
            lost = f"what follows {problem.detail}"
        notes = [
            *([lost] * bool(lost)),
            *([f"{recordings} recording rules left out"] * bool(recordings)),
            *([f"{undated} alerts that do not say when; --now gives them a moment"]
              * bool(undated)),
        ]  # fmt: skip
        found: Outcome = "read" if count or undated or recordings else "no object"
        return FileRecord(relative, found, count, "; ".join(notes), bool(lost))

    def _alert(self, one: Alert) -> bool:
        """Add an alert; one that does not say when it began needs the moment of the import."""
        at = one.at if one.at is not None else self._now
        if at is None:
            return False
        self._draft.alert(
            f"alert\x1f{one.key}",
            at,
            one.rule,
            entity=self._about(one),
            severity=one.severity,
            text=one.text,
            state=one.state,
        )
        return True

    def _about(self, one: Alert) -> str:
        place = place_of({key.lower(): value for key, value in one.labels.items()})
        if place == NOWHERE and one.labels.get("instance"):
            place = Place(node=one.labels["instance"].rsplit(":", 1)[0])
        if place._replace(cluster="") == NOWHERE:
            return ""
        return self._sources.entity(place)

    def _rule(self, one: Rule) -> None:
        # One name stands for several rules where they differ in how bad or for how long.
        mark = hashlib.sha256(repr(sorted(one.fields.items())).encode()).hexdigest()[:6]
        parts = (self._cluster, RULES, one.group, one.name, mark)
        self._draft.entity(
            "AlertRule",
            "/".join(part for part in parts if part),
            name=one.name,
            cluster=self._cluster,
            facts=one.fields,
            provenance="declared",
        )


IMPORTER = Alerts()
