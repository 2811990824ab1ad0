"""A healthy application in its cluster, with two weeks of ordinary changes behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from heldout.ingest.cases.sregym.apps import App, Service
from heldout.ingest.cases.sregym.cluster import MINUTE, NODES, Body, Cluster

DAY = 86_400.0
_QUIET = {
    "hotel-reservation": ("consul", "jaeger", "memcached-profile"),
    "social-network": ("media-frontend", "unique-id-service", "url-shorten-memcached"),
    "astronomy-shop": ("quote", "image-provider", "llm"),
}
"""Services that no fault is about: what is changed near the onset without harm."""


def healthy(app: App) -> Cluster:
    """The application as it has long been, before anybody changed anything."""
    cluster = Cluster(app)
    for node in (*NODES, "control-plane-1"):
        labels = {"kubernetes.io/hostname": node}
        cluster.put("Node", node, "", metadata={"labels": labels}, status={
            "conditions": [{"type": "Ready", "status": "True"}],
            "allocatable": {"cpu": "8", "memory": "32Gi", "pods": "110"},
        })  # fmt: skip
    for namespace in (app.name, "kube-system"):
        cluster.put("Namespace", namespace, "", status={"phase": "Active"})
    cluster.put("ConfigMap", "coredns", "kube-system", data={"Corefile": COREFILE})
    cluster.put("ConfigMap", "app-settings", data={"log_level": "info", "sampling": "0.1"})
    for service in app.services.values():
        cluster.deploy(service, env=list(_addresses(app, service)))
    return cluster


def _addresses(app: App, service: Service) -> Iterator[Body]:
    for one in service.calls:
        name = one.upper().replace("-", "_")
        port = app.services[one].port
        if service.scheme == "address":
            yield {"name": f"{name}_ADDR", "value": f"{one}:{port}"}
        else:
            yield {"name": f"{name}_HOST", "value": one}
            yield {"name": f"{name}_PORT", "value": str(port)}


COREFILE = """.:53 {
    errors
    health
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
    }
    forward . /etc/resolv.conf
    cache 30
    loop
    reload
}
"""


def before(cluster: Cluster) -> None:
    """Two weeks of releases and settings up to the onset, the last ones minutes before it."""
    names = list(cluster.app.services)
    for number in range(26):
        at = -13.5 * DAY + number * 0.51 * DAY
        name = names[(number * 7) % len(names)]
        if number % 5 == 4:
            _setting(cluster, at, "sampling", f"0.{number % 8 + 1}")
        elif number % 5 == 2:
            _variable(cluster, at, name, "LOG_FORMAT", "json" if number % 2 else "plain")
        else:
            _release(cluster, at, name, f"2.{number}.1")
    quiet = _QUIET[cluster.app.name]
    _release(cluster, -47 * MINUTE, quiet[0], "2.40.0")
    _setting(cluster, -7 * MINUTE, "log_level", "debug")


def after(cluster: Cluster) -> None:
    """What is changed while the fault is on and has nothing to do with it."""
    quiet = _QUIET[cluster.app.name]
    _variable(cluster, 3 * MINUTE, quiet[1], "LOG_FORMAT", "json")
    _setting(cluster, 6 * MINUTE, "log_level", "info")


def _container(edit: Callable[[Body], None]) -> Callable[[Body], None]:
    return lambda body: edit(body["spec"]["template"]["spec"]["containers"][0])


def _release(cluster: Cluster, at: float, name: str, version: str) -> None:
    def edit(container: Body) -> None:
        container["image"] = f"{container['image'].rpartition(':')[0]}:{version}"

    cluster.patch(at, "Deployment", name, _container(edit), actor="ci-deployer", verb="released")
    cluster.roll(name)


def _variable(cluster: Cluster, at: float, name: str, variable: str, value: str) -> None:
    def edit(container: Body) -> None:
        kept = [one for one in container["env"] if one["name"] != variable]
        container["env"] = [*kept, {"name": variable, "value": value}]

    cluster.patch(at, "Deployment", name, _container(edit))
    cluster.roll(name)


def _setting(cluster: Cluster, at: float, key: str, value: str) -> None:
    def edit(body: Body) -> None:
        body["data"][key] = value

    cluster.patch(at, "ConfigMap", "app-settings", edit)
