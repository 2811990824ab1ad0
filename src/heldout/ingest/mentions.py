"""What one object refers to by name, whether that is there or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from heldout.ingest.objects import KINDS, K8sObject, mapping, sequence
from heldout.ingest.podspec import every_container, pod_spec

_CLUSTER_DOMAIN = ".svc.cluster.local"


class Mention(NamedTuple):
    """A reference by name: ``kind`` is the ontology's, ``via`` the field that says it.

    ``optional`` says that nothing is refused where it is absent, ``key`` what is read of it,
    ``port`` what is called of it.
    """

    kind: str
    namespace: str
    name: str
    via: str
    optional: bool = False
    key: str = ""
    port: int | str | None = None

    def plain(self) -> dict[str, Any]:
        """As plain data, without what is not said."""
        found = {name: value for name, value in self._asdict().items() if value not in ("", None)}
        return found if self.optional else {k: v for k, v in found.items() if k != "optional"}


def mentions(item: K8sObject) -> Iterator[Mention]:
    """Every reference that an object makes, as it stands in it."""
    if pod_spec(item):
        yield from _of_pods(item)
    reader = _BY_KIND.get(item.entity_kind)
    if reader is not None:
        yield from reader(item)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _of_pods(item: K8sObject) -> Iterator[Mention]:
    spec, place = pod_spec(item), item.place
    for volume in map(mapping, sequence(spec.get("volumes"))):
        yield from _of_volume(volume, place)
    for container in every_container(item):
        where = _text(container.get("name"))
        for source in map(mapping, sequence(container.get("envFrom"))):
            for key, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
                yield from _one(source.get(key), kind, place, f"{where}.envFrom")
        for variable in map(mapping, sequence(container.get("env"))):
            source = mapping(variable.get("valueFrom"))
            for key, kind in (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")):
                yield from _one(source.get(key), kind, place, f"{where}.env.{variable.get('name')}")
    for one in map(mapping, sequence(spec.get("imagePullSecrets"))):
        if _text(one.get("name")):
            yield Mention("Secret", place, one["name"], "imagePullSecrets", optional=True)
    for key, kind, home in (
        ("serviceAccountName", "ServiceAccount", place),
        ("priorityClassName", "PriorityClass", ""),
    ):
        if _text(spec.get(key)):
            yield Mention(kind, home, spec[key], key)


def _of_volume(volume: Mapping[str, Any], place: str) -> Iterator[Mention]:
    where = f"volumes.{volume.get('name')}"
    sources = [volume, *map(mapping, sequence(mapping(volume.get("projected")).get("sources")))]
    for source in sources:
        for key, kind, called in (
            ("configMap", "ConfigMap", "name"),
            ("secret", "Secret", "secretName"),
            ("persistentVolumeClaim", "Pvc", "claimName"),
        ):
            inner = mapping(source.get(key))
            name = _text(inner.get(called)) or _text(inner.get("name"))
            if not name:
                continue
            optional = inner.get("optional") is True
            yield Mention(kind, place, name, where, optional)
            for wanted in map(mapping, sequence(inner.get("items"))):
                if _text(wanted.get("key")):
                    yield Mention(kind, place, name, where, optional, wanted["key"])


def _one(reference: Any, kind: str, place: str, via: str) -> Iterator[Mention]:
    inner = mapping(reference)
    if _text(inner.get("name")):
        optional = inner.get("optional") is True
        yield Mention(kind, place, inner["name"], via, optional, _text(inner.get("key")))


def _of_ingress(item: K8sObject) -> Iterator[Mention]:
    spec, place = item.spec, item.place
    if _text(spec.get("ingressClassName")):
        yield Mention("IngressClass", "", spec["ingressClassName"], "ingressClassName")
    yield from _backend(spec.get("defaultBackend") or spec.get("backend"), place, "defaultBackend")
    for rule in map(mapping, sequence(spec.get("rules"))):
        for path in map(mapping, sequence(mapping(rule.get("http")).get("paths"))):
            where = f"rules.{rule.get('host') or '*'}{path.get('path') or '/'}"
            yield from _backend(path.get("backend"), place, where)
    for tls in map(mapping, sequence(spec.get("tls"))):
        if _text(tls.get("secretName")):
            yield Mention("Secret", place, tls["secretName"], "tls")


def _backend(backend: Any, place: str, via: str) -> Iterator[Mention]:
    old, new = mapping(backend), mapping(mapping(backend).get("service"))
    name = _text(new.get("name")) or _text(old.get("serviceName"))
    if name:
        said = mapping(new.get("port"))
        port = said.get("number") or said.get("name") or old.get("servicePort")
        yield Mention("K8sService", place, name, via, port=port)


def _of_webhooks(item: K8sObject) -> Iterator[Mention]:
    for one in map(mapping, sequence(item.body.get("webhooks"))):
        service = mapping(mapping(one.get("clientConfig")).get("service"))
        if _text(service.get("name")) and _text(service.get("namespace")):
            yield Mention(
                "K8sService",
                service["namespace"],
                service["name"],
                f"webhooks.{one.get('name')}",
                optional=one.get("failurePolicy") == "Ignore",
                port=service.get("port"),
            )


def _of_autoscaler(item: K8sObject) -> Iterator[Mention]:
    target = mapping(item.spec.get("scaleTargetRef"))
    if _text(target.get("kind")) and _text(target.get("name")):
        yield Mention(target["kind"], item.place, target["name"], "scaleTargetRef")


def _of_binding(item: K8sObject) -> Iterator[Mention]:
    role = mapping(item.body.get("roleRef"))
    if _text(role.get("name")):
        kind = _text(role.get("kind"))
        yield Mention(kind, item.place if kind == "Role" else "", role["name"], "roleRef")


def _of_claim(item: K8sObject) -> Iterator[Mention]:
    if _text(item.spec.get("storageClassName")):
        yield Mention("StorageClass", "", item.spec["storageClassName"], "storageClassName")


def _of_stateful_set(item: K8sObject) -> Iterator[Mention]:
    if _text(item.spec.get("serviceName")):
        yield Mention("K8sService", item.place, item.spec["serviceName"], "serviceName")


def _of_service(item: K8sObject) -> Iterator[Mention]:
    target = _text(item.spec.get("externalName")).rstrip(".")
    parts = target.removesuffix(_CLUSTER_DOMAIN).split(".")
    if target.endswith(_CLUSTER_DOMAIN) and len(parts) == 2:
        yield Mention(KINDS["Service"], parts[1], parts[0], "externalName")


_BY_KIND = {
    "Ingress": _of_ingress,
    "Webhook": _of_webhooks,
    "Hpa": _of_autoscaler,
    "RoleBinding": _of_binding,
    "ClusterRoleBinding": _of_binding,
    "Pvc": _of_claim,
    "StatefulSet": _of_stateful_set,
    "K8sService": _of_service,
}
