"""A case's recordings and manifests as objects, events and lines of a world."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from heldout.ingest import kubernetes
from heldout.ingest.alerting import Alert, alerts_in
from heldout.ingest.cases.holmes.recordings import Recording, read_recording
from heldout.ingest.cases.kubectl.described import KINDS, age_seconds, described
from heldout.ingest.cases.kubectl.tables import columns, documents, event, items, listed
from heldout.ingest.draft import WorldDraft
from heldout.ingest.moments import moment
from heldout.ingest.objects import K8sObject
from heldout.ingest.reading import Unreadable, documents_of
from heldout.ingest.telemetry.levels import level_in
from heldout.ingest.telemetry.recording import Line
from heldout.ingest.telemetry.stamps import Clock
from heldout.ingest.telemetry.text import head_of

SECOND = 1_000_000
OTHERWISE = 1_740_000_000 * SECOND
"""When a recording stands that tells no time of its own (2025-02-19)."""
ANSWERS = {"test_case.yaml", "toolsets.yaml"}
_SUBJECTS = ("pod", "deployment", "statefulset", "job", "service", "node")
"""Labels that an alert is about, the nearest to code first."""
_LOGS = re.compile(r"logs")
_LISTED = ("kubectl_find_resource", "kubectl_get_by", "kubectl_get", "kubectl_lineage")


@dataclass(slots=True)
class Material:
    """What lies in a case's folder, read: objects, events, and answers of other tools as text."""

    recordings: list[Recording] = field(default_factory=list)
    unread: int = 0
    now: int = OTHERWISE

    @property
    def said(self) -> bool:
        """Whether any recording holds something."""
        return any(one.body for one in self.recordings)


def material_of(folder: Path, fired: int | None) -> Material:
    """Every recording of a case; ``fired`` is when its alert says that it fired."""
    found = Material()
    for path in sorted(folder.glob("*.txt")):
        one = read_recording(path)
        if one is None:
            found.unread += 1
        else:
            found.recordings.append(one)
    found.now = fired or _recorded_at(found.recordings) or OTHERWISE
    return found


def _recorded_at(recordings: Iterable[Recording]) -> int | None:
    """When descriptions were made: a start that they tell of, and how long ago its event was."""
    for one in recordings:
        kind = KINDS.get(one.named("kind", "resource_type").lower(), "")
        seen = described(kind, one.body) if kind and "describe" in one.tool else None
        began = moment(_plain_date(seen.started)) if seen and seen.started else None
        if seen and began is not None:
            return began + max((age for age, *_ in seen.events), default=0) * SECOND
    return None


_DATE = re.compile(r"^\w{3}, (\d{2}) (\w{3}) (\d{4}) (\d\d:\d\d:\d\d) ([+-]\d{4})$")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _plain_date(text: str) -> str:
    """``Thu, 27 Feb 2025 07:30:28 +0100`` as ISO 8601."""
    match = _DATE.match(text)
    if not match or match[2] not in _MONTHS:
        return text
    month = _MONTHS.index(match[2]) + 1
    zone = f"{match[5][:3]}:{match[5][3:]}"
    return f"{match[3]}-{month:02}-{match[1]}T{match[4]}{zone}"


def into(draft: WorldDraft, folder: Path, material: Material, cluster: str) -> int:
    """Put a case into a draft; how many objects there were, manifests and recorded ones together.

    Where both tell of an object the recorded one counts, since it has a status.
    """
    manifests = [one for one in kubernetes.read(folder, draft.redactor).objects
                 if one.kind != "TestCase"]  # fmt: skip
    found = [*_recorded(material), *_applications(material), *manifests]
    imported = kubernetes.of_objects([_redacted(one, draft) for one in found], name=cluster)
    kubernetes.into(draft, imported, cluster=cluster, derives=False)
    draft.log_lines(_lines(draft, material))
    told = [one for path in sorted(folder.glob("iss*.json")) for one in _alerts(path)]
    for one in told:
        _alert(draft, one, material.now)
    if not draft.find():
        draft.entity("Cluster", cluster, name=cluster)
    return len(found) + len(told)


def _alerts(path: Path) -> list[Alert]:
    try:
        return [one for part in documents_of(path, path.parent) for one in alerts_in(part)]
    except Unreadable:
        return []


def _alert(draft: WorldDraft, one: Alert, now: int) -> None:
    """An alert that fired, its rule, and what it is about where that is there or named."""
    draft.entity("AlertRule", one.rule, name=one.rule)
    label = next((word for word in _SUBJECTS if one.labels.get(word)), "")
    kind, name = KINDS.get(label, ""), one.labels.get(label, "")
    about = draft.find(name=name, kind=kind) if name else []
    if name and not about and kind in ("Pod", "Deployment"):
        space = one.labels.get("namespace", "")
        about = [draft.entity(kind, "/".join(filter(None, (space, name))), name=name)]
    draft.alert(
        f"alert\x1f{one.key}", one.at or now, one.rule, entity=next(iter(about), ""),
        severity=one.severity, text=one.text, state=one.state,
    )  # fmt: skip


def _redacted(item: K8sObject, draft: WorldDraft) -> K8sObject:
    body = draft.redactor.object(dict(item.body), is_secret=item.kind == "Secret")
    return K8sObject(item.kind, item.api_version, item.namespace, item.name, body)


def _recorded(material: Material) -> Iterator[K8sObject]:
    number = 0
    for one in material.recordings:
        kind = KINDS.get(one.named("kind", "resource_type").lower(), "")
        if not one.body:
            continue
        if "describe" in one.tool and kind:
            seen = described(kind, one.body)
            if seen is not None:
                yield from items(seen.body)
                for age, type_, reason, message in seen.events:
                    number += 1
                    yield from event(
                        number, material.now - age * SECOND, (type_, reason, message),
                        (kind, seen.body["metadata"]),
                    )  # fmt: skip
        elif "events" in one.tool:
            for row in columns(one.body):
                number += 1
                about, _, name = row.get("OBJECT", "").partition("/")
                at = material.now - age_seconds(row.get("LAST SEEN", "")) * SECOND
                said = (row.get("TYPE", ""), row.get("REASON", ""), row.get("MESSAGE", ""))
                where = {"name": name, "namespace": one.named("namespace")}
                yield from event(number, at, said, (KINDS.get(about.lower(), about), where))
        elif "yaml" in one.tool or "manifests" in one.tool:
            yield from documents(one.body)
        elif one.tool.startswith(_LISTED) and kind:
            yield from listed(one.body, kind, one.named("namespace"))


def _applications(material: Material) -> Iterator[K8sObject]:
    """GitOps applications that calls name; what is told of them stands in their tool's lines."""
    names = {one.params["app_name"] for one in material.recordings if one.params.get("app_name")}
    for name in sorted(names):
        space, _, own = name.rpartition("/")
        yield from items(
            {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
             "metadata": {"name": own, "namespace": space or "argocd"}}
        )  # fmt: skip


def _lines(draft: WorldDraft, material: Material) -> Iterator[Line]:
    """Recorded log lines, and what other tools answered as lines of that tool.

    A line without a time of its own stands just before the recording, in its order.
    """
    known = ("describe", "events", "yaml")
    for one in material.recordings:
        if not one.body:
            continue
        logs = bool(_LOGS.search(one.tool))
        kind = KINDS.get(one.named("kind", "resource_type").lower(), "")
        if not logs and (any(word in one.tool for word in known) and kind):
            continue
        if not logs and one.tool.startswith(_LISTED) and kind:
            continue
        speaker = _pod(draft, one) if logs else ""
        speaker = speaker or draft.entity("CustomResource", one.tool, name=one.tool)
        lines = one.body.splitlines()
        clock = Clock(material.now)
        for number, line in enumerate(lines):
            if line.strip():
                head = head_of(line, clock)
                at = head.ts or material.now - (len(lines) - number) * 1000
                yield at, speaker, head.level or level_in(line) or "INFO", head.text or line


def _pod(draft: WorldDraft, one: Recording) -> str:
    name = one.named("pod_name", "name", "pod")
    found = draft.find(kind="Pod", name=name) if name else []
    if found or not name:
        return next(iter(found), "")
    space = one.named("namespace")
    external = "/".join(part for part in (space, name) if part)
    return draft.entity("Pod", external, name=name, facts={"namespace": space} if space else None)
