"""``opensre``: the synthetic suites of an open-source incident agent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from heldout.graph.tools.page import iso
from heldout.ingest.cases.case import Recorded, Skipped
from heldout.ingest.cases.opensre import eks, rds
from heldout.ingest.cases.opensre.folder import CaseFolder, read_case
from heldout.ingest.cases.opensre.truths import truth_of
from heldout.ingest.draft import WorldDraft
from heldout.ingest.importer import ImportOptions
from heldout.ingest.objects import mapping
from heldout.ingest.reading import Unreadable
from heldout.truth.specs import Kind, Origin

_PREFIX = re.compile(r"^\[synthetic-[a-z0-9]+\]\s*")
_TOLD = re.compile(r"(_failure_mode|^context_sources|^pipeline_name|^severity)$")
"""Labels and annotations that name the cause, the evidence or the suite."""


class OpenSre:
    """Kubernetes and database cases, each a folder with an alert, an answer and evidence."""

    name = "opensre"
    reads = "opensre's synthetic cases"
    halves = False
    origin: Origin = "recorded"
    source = "Tracer-Cloud/opensre, tests/synthetic, Apache-2.0"

    def cases(self, path: Path, options: ImportOptions) -> Iterator[Recorded | Skipped]:
        """Every folder with an answer, by name."""
        for folder in sorted({one.parent for one in path.rglob("answer.yml")}):
            key = folder.relative_to(path).as_posix()
            try:
                case = read_case(folder, path)
            except Unreadable as problem:
                yield Skipped(key, problem.detail)
                continue
            yield _recorded(case)


def _recorded(case: CaseFolder) -> Recorded:
    draft = WorldDraft(name="recorded")
    (eks if case.suite == "eks" else rds).into(draft, case)
    mode = str(case.scenario.get("failure_mode") or "unknown")
    kind: Kind = "no_fault" if case.answer.get("root_cause_category") == "healthy" else "trap"
    return Recorded(
        key=case.key,
        alert=alert_text(case, draft.latest),
        kind=kind,
        domain="kubernetes" if case.suite == "eks" else "datastore",
        family=mode,
        # All Kubernetes cases are of one cluster and one workload: they stand on one side.
        group="opensre/eks" if case.suite == "eks" else f"opensre/rds/{mode}",
        truth=truth_of(case, draft, draft.changes()),
        draft=draft,
    )


def alert_text(case: CaseFolder, fired: int | None) -> str:
    """The alert as the agent sees it: without labels that name the cause or the suite."""
    alert, labels = case.alert, mapping(case.alert.get("commonLabels"))
    notes = mapping(alert.get("commonAnnotations"))
    service = case.scenario.get("db_instance_identifier") or labels.get("service")
    head = {
        "Fired at": iso(fired) if fired is not None else "",
        "Service:": service,
        "Cluster:": labels.get("cluster_name"),
        "Severity:": labels.get("severity"),
    }
    lines = [f"# {_PREFIX.sub('', str(alert.get('title') or 'Alert'))}", ""]
    lines += [f"{name} {said}" for name, said in head.items() if said]
    told = [*labels.items(), *notes.items()]
    said = [f"{name}: {text}" for name, text in told if text and not _TOLD.search(name)]
    return "\n".join([*lines, "", *dict.fromkeys(said)]) + "\n"


CASES = OpenSre()
