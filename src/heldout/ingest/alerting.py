"""Alerts and the rules behind them, in the shapes in which they are sent, listed and written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from heldout.ingest.moments import moment
from heldout.ingest.objects import mapping, sequence

LONGEST_TEXT = 2_000
_KINDS: Mapping[str, str] = {
    "deployment": "deployment", "statefulset": "statefulset", "daemonset": "daemonset",
    "job": "job", "cronjob": "cronjob", "pod": "pod", "node": "node", "service": "service",
    "namespace": "namespace",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert; ``at`` is None where the source does not say when it began."""

    key: str
    rule: str
    at: int | None
    state: str
    severity: str
    text: str
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rule:
    """One definition of an alert, as it stands in a file of rules."""

    name: str
    group: str
    fields: Mapping[str, Any] = field(default_factory=dict)


def alerts_in(document: Any) -> Iterator[Alert]:
    """Alerts of a document: a webhook's message, an API's list, findings, requests."""
    if isinstance(document, list):
        for one in document:
            yield from alerts_in(one)
    elif isinstance(document, Mapping):
        listed = document.get("alerts")
        if isinstance(listed, list):
            common = mapping(document.get("commonLabels"))
            for one in listed:
                if isinstance(one, Mapping):
                    labels = {**common, **mapping(one.get("labels"))}
                    yield from _prometheus({**one, "labels": labels})
        elif isinstance(mapping(document.get("data")).get("alerts"), list):
            yield from alerts_in(document["data"])
        elif isinstance(document.get("raw"), Mapping) and "labels" in document["raw"]:
            yield from _prometheus(document["raw"])
        elif "aggregation_key" in document or "subject_name" in document:
            yield _finding(document)
        elif isinstance(document.get("subject"), Mapping) and "title" in document:
            yield _request(document)
        elif "labels" in document and ("startsAt" in document or "activeAt" in document):
            yield from _prometheus(document)


def _prometheus(one: Mapping[str, Any]) -> Iterator[Alert]:
    labels = {str(key): str(value) for key, value in mapping(one.get("labels")).items()}
    name = labels.get("alertname") or str(one.get("name") or "")
    if not name:
        return
    notes = mapping(one.get("annotations"))
    began = _moment(one.get("startsAt") or one.get("activeAt"))
    key = str(one.get("fingerprint") or json.dumps(labels, sort_keys=True))
    yield Alert(
        f"{key}\x1f{began}",
        name,
        began,
        _state(one),
        labels.get("severity", ""),
        _text(_joined(*(notes.get(key) for key in ("summary", "message", "description"))) or name),
        labels,
    )


def _state(one: Mapping[str, Any]) -> str:
    """Firing or resolved: what is said of it, else whether its end lies behind its last sight."""
    told = one.get("status")
    word = str(mapping(told).get("state") if isinstance(told, Mapping) else told or "").lower()
    if word in ("resolved", "inactive", "success"):
        return "resolved"
    if word in ("firing", "active", "suppressed", "unprocessed", "pending"):
        return "firing"
    end = _moment(one.get("endsAt"))
    return "firing" if end is None else "resolved"


def _finding(one: Mapping[str, Any]) -> Alert:
    labels = _about(
        one.get("subject_type"), one.get("subject_name"), one.get("subject_namespace"),
        one.get("subject_node"), one.get("cluster"),
    )  # fmt: skip
    labels |= {str(key): str(value) for key, value in mapping(one.get("labels")).items()}
    began = _moment(one.get("starts_at")) or _moment(one.get("creation_date"))
    name = str(one.get("aggregation_key") or one.get("title") or "finding")
    ended = _moment(one.get("ends_at"))
    text = _joined(one.get("title"), one.get("description"))
    return Alert(
        f"{one.get('id') or ''}\x1f{name}\x1f{labels.get('name', '')}\x1f{began}",
        name,
        began,
        "firing" if ended is None else "resolved",
        str(one.get("priority") or "").lower(),
        _text(text or name),
        labels,
    )


def _request(one: Mapping[str, Any]) -> Alert:
    subject = mapping(one.get("subject"))
    labels = _about(
        subject.get("kind") or subject.get("subject_type"), subject.get("name"),
        subject.get("namespace"), subject.get("node"), subject.get("cluster"),
    )  # fmt: skip
    context = mapping(one.get("context"))
    name = str(context.get("issue_type") or one.get("title"))
    text = _joined(one.get("title"), one.get("description"))
    key = f"{context.get('robusta_issue_id') or name}\x1f{subject.get('name')}"
    return Alert(key, name, None, "firing", "", _text(text or name), labels)


def _about(kind: Any, name: Any, namespace: Any, node: Any, cluster: Any) -> dict[str, str]:
    """A subject as labels; a pod's name under another kind is taken for what it is."""
    word = _KINDS.get(str(kind or "").lower(), "")
    found = {"namespace": namespace, "node": node, "cluster": cluster}
    if name and word:
        is_pod = re.search(r"-[a-z0-9]{8,10}-[a-z0-9]{5}$", str(name)) is not None
        found["pod" if is_pod and word == "deployment" else word] = name
    return {key: str(value) for key, value in found.items() if value}


def rules_in(document: Any) -> Iterator[Rule]:
    """Definitions of alerts: a file of groups, or a PrometheusRule object; templates are text."""
    for one in document if isinstance(document, list) else [document]:
        body = mapping(one)
        spec = mapping(body.get("spec")) if body.get("kind") == "PrometheusRule" else body
        if isinstance(body.get("items"), list):
            yield from rules_in(body["items"])
        for group in sequence(spec.get("groups")):
            for rule in sequence(mapping(group).get("rules")):
                found = mapping(rule)
                if isinstance(found.get("alert"), str):
                    yield _rule(found, str(mapping(group).get("name") or ""))


def recordings_in(document: Any) -> int:
    """How many recording rules a document holds: they alarm nobody."""
    spec = mapping(mapping(document).get("spec")) or mapping(document)
    return sum(
        "record" in mapping(rule)
        for group in sequence(spec.get("groups"))
        for rule in sequence(mapping(group).get("rules"))
    )


def _rule(found: Mapping[str, Any], group: str) -> Rule:
    labels, notes = mapping(found.get("labels")), mapping(found.get("annotations"))
    fields: dict[str, Any] = {
        "expr": found.get("expr"),
        "for": found.get("for"),
        "severity": labels.get("severity"),
        "summary": notes.get("summary") or notes.get("message"),
        "group": group or None,
    }
    return Rule(found["alert"], group, {k: _text(str(v)) for k, v in fields.items() if v})


def _moment(value: Any) -> int | None:
    """Microseconds; the year 1 means that there is no such moment."""
    found = moment(value)
    return found if found is not None and found > 0 else None


def _joined(*parts: Any) -> str:
    told = dict.fromkeys(str(part).strip().rstrip(".") for part in parts if part)
    return ". ".join(one for one in told if one)


def _text(value: str) -> str:
    return " ".join(value.split())[:LONGEST_TEXT]
