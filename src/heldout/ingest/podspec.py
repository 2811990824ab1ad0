"""Pods and the templates that make them: where the spec lies, and what it asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from heldout.ingest.objects import K8sObject, mapping, sequence

Fields = dict[str, Any]


def pod_spec(item: K8sObject) -> Mapping[str, Any]:
    """The pod spec that an object holds, empty where it holds none."""
    return mapping(pod_template(item).get("spec"))


def pod_template(item: K8sObject) -> Mapping[str, Any]:
    """The pod, or the template of the pods that a workload makes."""
    if item.kind == "Pod":
        return item.body
    if item.kind == "CronJob":
        return mapping(mapping(mapping(item.spec.get("jobTemplate")).get("spec")).get("template"))
    return mapping(item.spec.get("template"))


def pod_labels(item: K8sObject) -> dict[str, str]:
    """Labels of a pod or of the pods that a workload makes."""
    found = mapping(mapping(pod_template(item).get("metadata")).get("labels"))
    return {key: str(value) for key, value in found.items()}


def containers(item: K8sObject) -> list[Mapping[str, Any]]:
    """The containers of a pod or pod template, init containers left out."""
    return [one for one in sequence(pod_spec(item).get("containers")) if isinstance(one, Mapping)]


def every_container(item: K8sObject) -> list[Mapping[str, Any]]:
    """Init containers, which run first, and containers."""
    first = sequence(pod_spec(item).get("initContainers"))
    return [one for one in first if isinstance(one, Mapping)] + containers(item)


def demands(item: K8sObject) -> Fields:
    """What the checks of health read of a pod spec; a field that is not there has no fact."""
    spec = pod_spec(item)
    if not spec:
        return {}
    affinity = mapping(mapping(spec.get("affinity")).get("nodeAffinity"))
    required = mapping(affinity.get("requiredDuringSchedulingIgnoredDuringExecution"))
    found: Fields = {
        "containers": [str(one.get("name")) for one in containers(item)],
        "container_resources": _resources(item),
        "container_ports": list(_ports(item)),
        "host_ports": [] if spec.get("hostNetwork") else list(_host_ports(item)),
        "probe_ports": list(_probe_ports(item)),
        "repeated_env": list(_repeated(item)),
        "tolerations": list(sequence(spec.get("tolerations"))),
        "node_affinity": list(sequence(required.get("nodeSelectorTerms"))),
    }
    return {name: value for name, value in found.items() if value}


def _resources(item: K8sObject) -> dict[str, Any]:
    """By container: what it requests and what it is limited to, as written."""
    return {
        str(one.get("name")): {
            group: {str(key): str(value) for key, value in mapping(said.get(group)).items()}
            for group in ("requests", "limits")
        }
        for one in containers(item)
        if (said := mapping(one.get("resources"))) is not None
    }


def _ports(item: K8sObject) -> Iterator[Fields]:
    for container in containers(item):
        for port in map(mapping, sequence(container.get("ports"))):
            if port.get("containerPort") is not None:
                kept = {"container": container.get("name"), "port": port["containerPort"]}
                yield kept | ({"name": port["name"]} if port.get("name") else {})


def _host_ports(item: K8sObject) -> Iterator[Fields]:
    for container in every_container(item):
        for port in map(mapping, sequence(container.get("ports"))):
            if port.get("hostPort"):
                protocol = port.get("protocol") or "TCP"
                address = port.get("hostIP") or "0.0.0.0"
                yield {"port": port["hostPort"], "protocol": protocol, "address": address}


def _probe_ports(item: K8sObject) -> Iterator[Fields]:
    """Ports that a probe calls, by name or by number."""
    for container in containers(item):
        for probe in ("readinessProbe", "livenessProbe", "startupProbe"):
            for way in ("httpGet", "tcpSocket", "grpc"):
                port = mapping(mapping(container.get(probe)).get(way)).get("port")
                if isinstance(port, str | int) and not isinstance(port, bool) and port:
                    yield {"container": container.get("name"), "probe": probe, "port": port}


def _repeated(item: K8sObject) -> Iterator[Fields]:
    """Variables that one container sets more than once: the last one counts."""
    for container in containers(item):
        said: dict[str, list[Any]] = {}
        for variable in map(mapping, sequence(container.get("env"))):
            if isinstance(variable.get("name"), str):
                given = variable.get("valueFrom") or str(variable.get("value") or "")
                said.setdefault(variable["name"], []).append(given)
        for name, values in said.items():
            if len(values) > 1:
                yield {"container": container.get("name"), "variable": name, "values": values}
