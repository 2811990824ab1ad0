"""A webhook whose Service nobody answers for, and the pods that are refused because of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from heldout.graph.reading import is_listed, record, rows, said_place, texts
from heldout.graph.snapshot import Entity, Snapshot
from heldout.graph.status.endpoints import (
    known_endpoints,
    readiness,
    selected_pods,
    selects_pods,
)
from heldout.graph.status.labels import label_match
from heldout.graph.status.rollout import MAKERS, short_of_pods
from heldout.graph.status.rule import Rule, said


def unanswered(snapshot: Snapshot, service: Entity) -> bool:
    """Whether a webhook's Service is known to have no ready pod.

    Without any pod of it, only where every pod of its namespace was listed.
    """
    if not selects_pods(snapshot.fact(service.id, "selector")):
        return False
    pods = selected_pods(snapshot, service)
    if not pods:
        return is_listed(snapshot, "Pod", snapshot.namespace(service))
    return all(readiness(snapshot.facts(pod.id)) is False for pod in pods)


def called(snapshot: Snapshot, webhook: Entity) -> Iterator[tuple[Mapping[str, Any], Entity]]:
    """The Services that a webhook configuration asks, with how it says so."""
    for one in rows(snapshot.fact(webhook.id, "references")):
        if one.get("kind") == "K8sService" and isinstance(one.get("name"), str):
            service = snapshot.named("K8sService", said_place(webhook, one), one["name"])
            if service is not None:
                yield one, service


def _sees(snapshot: Snapshot, webhook: Entity) -> str | None:
    asked = list(called(snapshot, webhook))
    silent = [(one, service) for one, service in asked if unanswered(snapshot, service)]
    for one, service in sorted(silent, key=lambda pair: pair[0].get("optional") is True):
        if one.get("optional") is True:
            return f"Service {service.name} has no ready endpoint: it is skipped"
        return f"Service {service.name} has no ready endpoint: what it must admit is refused"
    counts = [known_endpoints(snapshot, service) for _, service in asked]
    least = min((one for one in counts if one is not None), default=None)
    return None if least is None or None in counts else f"answered by {least} ready endpoints"


WEBHOOK = Rule(
    "webhooks",
    ("Webhook",),
    "dynamic admission control: failurePolicy Fail (the default of v1) refuses a request when the "
    "webhook cannot be called, Ignore lets it pass",
    sees=_sees,
)


def asked_of_pods(hook: Mapping[str, Any], namespace: Any, labels: Any) -> bool:
    """Whether a webhook is certainly asked when a pod with these labels is made there.

    ``namespace`` are the namespace's labels. What cannot be evaluated is not certain.
    """
    if hook.get("matchConditions"):
        return False
    if record(hook.get("namespaceSelector")) and not isinstance(namespace, Mapping):
        return False
    return (
        any(_is_of_pods(rule) for rule in rows(hook.get("rules")))
        and label_match(record(hook.get("namespaceSelector")), namespace)
        and label_match(record(hook.get("objectSelector")), labels)
    )


def _is_of_pods(rule: Mapping[str, Any]) -> bool:
    return (
        bool({"CREATE", "*"} & set(texts(rule.get("operations"))))
        and bool({"", "*"} & set(texts(rule.get("apiGroups"))))
        and bool({"pods", "*", "*/*"} & set(texts(rule.get("resources"))))
        and rule.get("scope") in (None, "*", "Namespaced")
    )


def _refused(snapshot: Snapshot, maker: Entity) -> str | None:
    facts = snapshot.facts(maker.id)
    head = short_of_pods(facts)
    if head is None or not isinstance(facts.get("pod_labels"), Mapping):
        return None
    cluster, name = snapshot.namespace(maker)
    home = snapshot.named("Namespace", (cluster, ""), name)
    around = snapshot.fact(home.id, "labels") if home is not None else None
    if isinstance(around, Mapping):
        around = {"kubernetes.io/metadata.name": name, **around}
    for webhook in snapshot.of_kind("Webhook"):
        if webhook.cluster != cluster:
            continue
        hooks = [one for one in rows(snapshot.fact(webhook.id, "webhooks"))
                 if one.get("failurePolicy") == "Fail"
                 and asked_of_pods(one, around, facts["pod_labels"])]  # fmt: skip
        names = {f"webhooks.{said(one.get('name'))}" for one in hooks}
        for one, service in called(snapshot, webhook):
            if one.get("via") in names and unanswered(snapshot, service):
                return f"{head}: webhook {webhook.name} must admit pods and nobody answers"
    return None


REFUSED = Rule(
    "admission",
    MAKERS,
    "dynamic admission control: a webhook with failurePolicy Fail whose rules, namespaceSelector "
    "and objectSelector match the creation of a pod refuses it while its Service has no endpoint",
    sees=_refused,
)
