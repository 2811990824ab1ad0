"""Kubernetes objects of a world: which there are, how they are named, and what their YAML says.

Field names are those of the world, so that an answer can name them; an object's ``uid`` is the
entity's id, and the change that last touched it stands among its annotations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from heldout.graph.ontology import near
from heldout.graph.snapshot import Entity
from heldout.graph.status import label_match
from heldout.graph.tools.page import clip_value, ids_in, iso
from heldout.graph.tools.reader import Reader
from heldout.graph.tools.refusals import Refusal

LAST_CHANGE = "last-change"
"""The annotation with the id of the change that last touched an object."""

_MANAGERS = 8
_STATUS = frozenset(
    {"phase", "ready", "reason", "restarts", "started_at", "status", "ready_replicas", "heartbeat",
     "desired_replicas", "exit_code", "message", "conditions", "node_image", "made_replicas",
     "updated_replicas", "progressing", "container_states", "active", "failed", "succeeded",
     "ended_because", "pressures", "used"}
)  # fmt: skip


class Resource(NamedTuple):
    """A kind as kubectl names it."""

    kind: str
    shown: str
    names: tuple[str, ...]
    api: str = "v1"
    namespaced: bool = True


RESOURCES: tuple[Resource, ...] = (
    Resource("Pod", "Pod", ("pods", "pod", "po")),
    Resource("K8sService", "Service", ("services", "service", "svc")),
    Resource("Deployment", "Deployment", ("deployments", "deployment", "deploy"), "apps/v1"),
    Resource("StatefulSet", "StatefulSet", ("statefulsets", "statefulset", "sts"), "apps/v1"),
    Resource("DaemonSet", "DaemonSet", ("daemonsets", "daemonset", "ds"), "apps/v1"),
    Resource("ReplicaSet", "ReplicaSet", ("replicasets", "replicaset", "rs"), "apps/v1"),
    Resource("Job", "Job", ("jobs", "job"), "batch/v1"),
    Resource("CronJob", "CronJob", ("cronjobs", "cronjob", "cj"), "batch/v1"),
    Resource("Hpa", "HorizontalPodAutoscaler",
             ("horizontalpodautoscalers", "horizontalpodautoscaler", "hpa"), "autoscaling/v2"),
    Resource("ConfigMap", "ConfigMap", ("configmaps", "configmap", "cm")),
    Resource("Secret", "Secret", ("secrets", "secret")),
    Resource("ServiceAccount", "ServiceAccount", ("serviceaccounts", "serviceaccount", "sa")),
    Resource("Ingress", "Ingress", ("ingresses", "ingress", "ing"), "networking.k8s.io/v1"),
    Resource("NetworkPolicy", "NetworkPolicy", ("networkpolicies", "networkpolicy", "netpol"),
             "networking.k8s.io/v1"),
    Resource("Pdb", "PodDisruptionBudget", ("poddisruptionbudgets", "poddisruptionbudget", "pdb"),
             "policy/v1"),
    Resource("Pvc", "PersistentVolumeClaim",
             ("persistentvolumeclaims", "persistentvolumeclaim", "pvc")),
    Resource("ResourceQuota", "ResourceQuota", ("resourcequotas", "resourcequota", "quota")),
    Resource("LimitRange", "LimitRange", ("limitranges", "limitrange", "limits")),
    Resource("Role", "Role", ("roles", "role"), "rbac.authorization.k8s.io/v1"),
    Resource("RoleBinding", "RoleBinding", ("rolebindings", "rolebinding"),
             "rbac.authorization.k8s.io/v1"),
    Resource("Certificate", "Certificate", ("certificates", "certificate", "cert"),
             "cert-manager.io/v1"),
    Resource("GitOpsApplication", "Application", ("applications", "application", "app"),
             "argoproj.io/v1alpha1"),
    Resource("HelmRelease", "HelmRelease", ("helmreleases", "helmrelease", "hr"),
             "helm.toolkit.fluxcd.io/v2"),
    Resource("CustomResource", "CustomResource", ("customresources", "customresource"),
             "example.dev/v1"),
    Resource("Node", "Node", ("nodes", "node", "no"), namespaced=False),
    Resource("Namespace", "Namespace", ("namespaces", "namespace", "ns"), namespaced=False),
    Resource("PersistentVolume", "PersistentVolume",
             ("persistentvolumes", "persistentvolume", "pv"), namespaced=False),
    Resource("StorageClass", "StorageClass", ("storageclasses", "storageclass", "sc"),
             "storage.k8s.io/v1", namespaced=False),
    Resource("PriorityClass", "PriorityClass", ("priorityclasses", "priorityclass", "pc"),
             "scheduling.k8s.io/v1", namespaced=False),
    Resource("IngressClass", "IngressClass", ("ingressclasses", "ingressclass"),
             "networking.k8s.io/v1", namespaced=False),
    Resource("ClusterRole", "ClusterRole", ("clusterroles", "clusterrole"),
             "rbac.authorization.k8s.io/v1", namespaced=False),
    Resource("ClusterRoleBinding", "ClusterRoleBinding",
             ("clusterrolebindings", "clusterrolebinding"), "rbac.authorization.k8s.io/v1",
             namespaced=False),
    Resource("Webhook", "WebhookConfiguration",
             ("webhookconfigurations", "webhooks", "validatingwebhookconfigurations",
              "mutatingwebhookconfigurations"), "admissionregistration.k8s.io/v1",
             namespaced=False),
)  # fmt: skip
"""Every kind that kubectl shows, in the order of ``api-resources``."""

BY_KIND: Mapping[str, Resource] = {one.kind: one for one in RESOURCES}
_BY_NAME = {name: one for one in RESOURCES for name in (*one.names, one.kind.lower())}
_ALL = ("Pod", "K8sService", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job",
        "CronJob", "Hpa")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scope:
    """Where to look: one cluster and namespace, or (empty) all of them, and two selectors."""

    context: str = ""
    namespace: str = ""
    selector: str = ""
    fields: str = ""


def resources_of(word: str) -> list[Resource]:
    """The kinds that ``po,svc`` or ``all`` names."""
    found: list[Resource] = []
    for name in word.lower().split(","):
        base = name.split(".", 1)[0]
        if base == "all":
            found += [BY_KIND[kind] for kind in _ALL]
        elif base in _BY_NAME:
            found.append(_BY_NAME[base])
        else:
            raise Refusal(
                "bad_argument",
                f"the server doesn't have a resource type '{name[:60]}'",
                near(name, _BY_NAME) or ("api-resources",),
            )
    return list(dict.fromkeys(found))


def clusters(reader: Reader) -> tuple[str, ...]:
    """The contexts: clusters that hold an object of Kubernetes."""
    found = {one.cluster for one in reader.graph.of_kind(*BY_KIND)}
    return tuple(sorted(found - {""}))


def scope_of(reader: Reader, scope: Scope) -> Scope:
    """The scope that options name; a context or namespace that is not there is refused."""
    known = clusters(reader)
    context, namespace = scope.context, scope.namespace
    if context and context not in known:
        raise Refusal("bad_argument", f"no context '{context[:60]}'", near(context, known) or known)
    if namespace:
        spaces = {reader.graph.namespace(one)[1] for one in reader.graph.of_kind(*BY_KIND)}
        spaces |= {one.name for one in reader.graph.of_kind("Namespace")}
        if namespace not in spaces:
            raise Refusal(
                "unknown_id", f"namespaces '{namespace[:60]}' not found", near(namespace, spaces)
            )
    _selector(scope.selector)
    _field_terms(scope.fields)
    return scope


def objects(
    reader: Reader, wanted: Sequence[Resource], scope: Scope, names: Sequence[str] = ()
) -> list[Entity]:
    """The objects of these kinds in this scope, by kind, cluster, namespace and name.

    A name (or uid) that nothing bears is refused with near ones.
    """
    found = []
    for resource in wanted:
        for one in reader.graph.of_kind(resource.kind):
            if (not scope.context or one.cluster == scope.context) and _inside(
                reader, one, resource, scope
            ):
                found.append(one)
    order = {resource.kind: place for place, resource in enumerate(wanted)}
    found.sort(
        key=lambda one: (order[one.kind], one.cluster, *reader.graph.namespace(one), one.name)
    )
    if not names:
        return found
    for name in names:
        if not any(name in (one.name, one.id) for one in found):
            raise Refusal(
                "unknown_id",
                f"{wanted[0].names[0]} '{name[:80]}' not found",
                near(name, {one.name for one in found}),
            )
    return [one for one in found if one.name in names or one.id in names]


def _inside(reader: Reader, one: Entity, resource: Resource, scope: Scope) -> bool:
    elsewhere = scope.namespace and reader.graph.namespace(one)[1] != scope.namespace
    if elsewhere and resource.namespaced:
        return False
    if scope.fields and not all(
        (value == _field(reader, one, key)) == equal
        for key, equal, value in _field_terms(scope.fields)
    ):
        return False
    return not scope.selector or selected(scope.selector, labels_of(reader, one))


_FIELDS = ("metadata.name", "metadata.namespace", "metadata.uid", "status.phase", "spec.nodeName")
_FIELD_TERM = re.compile(r"([\w.]+)(==|=|!=)([\w.:-]*)")


def _field_terms(text: str) -> list[tuple[str, bool, str]]:
    """The terms of a field selector: key, whether it must be equal, value."""
    found = []
    for term in text.split(",") if text else ():
        match = _FIELD_TERM.fullmatch(term.strip())
        if match is None or match[1] not in _FIELDS:
            raise Refusal(
                "bad_argument", f"'{term[:60]}' selects by no field that is offered", _FIELDS
            )
        found.append((match[1], match[2] != "!=", match[3]))
    return found


def _field(reader: Reader, one: Entity, key: str) -> str:
    if key == "metadata.name":
        return one.name
    if key == "metadata.namespace":
        return reader.graph.namespace(one)[1]
    if key == "metadata.uid":
        return one.id
    if key == "spec.nodeName":
        return next((e.name for e in reader.graph.out(one.id, "runs_on") if e.kind == "Node"), "")
    return str(reader.graph.fact(one.id, "phase") or "")


def labels_of(reader: Reader, one: Entity) -> dict[str, str]:
    """An object's labels: its map of them and those kept as fields of their own."""
    return _group(reader.graph.facts(one.id), "labels")


def _group(facts: Mapping[str, Any], name: str) -> dict[str, str]:
    whole = facts.get(name)
    found = (
        {str(key): str(value) for key, value in whole.items()} if isinstance(whole, dict) else {}
    )
    for field, value in facts.items():
        if field.startswith(f"{name}."):
            found[field.removeprefix(f"{name}.")] = value if isinstance(value, str) else str(value)
    return found


def selected(selector: str, labels: Mapping[str, str]) -> bool:
    """Whether a selector such as ``app=web,tier!=edge,env in (a,b),!old`` picks these labels."""
    return all(test(labels) for test in _selector(selector))


_TERM = re.compile(
    r"\s*(?:(?P<key>[\w./-]+)\s*(?:(?P<op>==|=|!=)\s*(?P<value>[\w.:/-]*)"
    r"|\s+(?P<set>in|notin)\s*\((?P<values>[^()]*)\))?|!(?P<absent>[\w./-]+))\s*(?:,|$)"
)


def _selector(text: str) -> list[Any]:
    tests: list[Any] = []
    at = 0
    while at < len(text):
        match = _TERM.match(text, at)
        if match is None or match.end() == at:
            raise Refusal(
                "bad_argument", f"'{text[:80]}' is no label selector such as 'app=web,tier!=edge'"
            )
        at = match.end()
        tests.append(_test(match))
    return tests


def _test(match: re.Match[str]) -> Any:
    key, absent = match["key"], match["absent"]
    if absent:
        rule = {"key": absent, "operator": "DoesNotExist"}
    elif match["set"]:
        values = [value.strip() for value in match["values"].split(",")]
        rule = {"key": key, "operator": "In" if match["set"] == "in" else "NotIn", "values": values}
    elif match["op"]:
        operator = "NotIn" if match["op"] == "!=" else "In"
        rule = {"key": key, "operator": operator, "values": [match["value"]]}
    else:
        rule = {"key": key, "operator": "Exists"}
    return lambda labels: label_match({"matchExpressions": [rule]}, labels)


def last_changes(reader: Reader, ids: Iterable[str]) -> dict[str, str]:
    """The id of the newest change to each of these, where there is one."""
    rows = reader.rows(
        "select t.entity_id, arg_max(e.id, (e.ts, e.id)) from "
        "(select event_id, entity_id from change_target union "
        "select event_id, entity_id from change_diff) t join change_event e on e.id = t.event_id "
        "where t.entity_id in (select unnest($ids)) group by 1",
        {"ids": sorted(set(ids))},
    )
    return dict(rows)


def manifest(reader: Reader, one: Entity, change: str = "") -> dict[str, Any]:
    """An object as YAML would say it. Dots stay in field names: ``spec`` is not nested anew."""
    graph, resource = reader.graph, BY_KIND[one.kind]
    cluster, namespace = graph.namespace(one)
    facts = graph.facts(one.id)
    metadata: dict[str, Any] = {"name": one.name}
    if resource.namespaced and namespace:
        metadata["namespace"] = namespace
    metadata["uid"] = one.id
    metadata["context"] = cluster
    metadata["creationTimestamp"] = iso(one.first_seen)
    metadata["labels"] = labels_of(reader, one)
    annotations = _group(facts, "annotations")
    metadata["annotations"] = {**annotations, **({LAST_CHANGE: change} if change else {})}
    owners = graph.out(one.id, "controlled_by")
    if owners:
        metadata["ownerReferences"] = [named(reader, owner) for owner in owners]
    body: dict[str, Any] = {
        "apiVersion": resource.api,
        "kind": resource.shown,
        "metadata": {key: value for key, value in metadata.items() if value not in ({}, "")},
    }
    for field, value in sorted(facts.items()):
        head, _, rest = field.partition(".")
        if head in ("labels", "annotations") or field == "namespace":
            continue
        part, key = ("data", rest) if head == "data" and rest else ("spec", field)
        part = "status" if field in _STATUS else part
        body.setdefault(part, {})[key] = clip_value(value)
    if one.kind in ("K8sService", "Node"):
        body.setdefault("status", {})["summary"] = reader.status(one)
    references = [
        {"relation": edge.pred, **named(reader, graph.entities[edge.dst])}
        for edge in graph.all_out(one.id)
        if edge.holds(reader.now, reader.now) and edge.pred not in ("part_of", "controlled_by")
    ]
    if references:
        body["references"] = references
    return body


def named(reader: Reader, one: Entity) -> dict[str, str]:
    """A reference to an entity; kinds outside Kubernetes keep their own name."""
    resource = BY_KIND.get(one.kind)
    kind = resource.shown if resource else f"{one.kind} (not in Kubernetes)"
    return {"kind": kind, "name": one.name, "uid": one.id}


def known_ids(reader: Reader, line: str) -> tuple[str, ...]:
    """The ids of entities and changes of this world that a line names."""
    return tuple(
        one
        for one in ids_in(line)
        if one in reader.graph.entities or (one[0] == "c" and reader.world.touched(one).entities)
    )


def managers(reader: Reader, one: Entity) -> list[dict[str, Any]]:
    """Who changed which fields of an object last, newest first, as ``managedFields``."""
    rows = reader.rows(
        "select e.id, e.ts, e.actor, e.type, list(d.field order by d.field) from change_diff d "
        "join change_event e on e.id = d.event_id where d.entity_id = $id "
        "group by 1, 2, 3, 4 order by 2 desc, 1 desc limit $most",
        {"id": one.id, "most": _MANAGERS},
    )
    return [
        {"change": change, "time": iso(ts), "manager": actor, "operation": type_, "fields": fields}
        for change, ts, actor, type_, fields in rows
    ]
