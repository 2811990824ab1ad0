"""Whether names are resolved: by a pod's own resolver settings, and by the cluster's DNS."""

from __future__ import annotations

import re
from collections.abc import Mapping

from heldout.graph.snapshot import Entity, Snapshot
from heldout.graph.status.endpoints import known_endpoints
from heldout.graph.status.pods import pod_state
from heldout.graph.status.rule import Facts, Rule

_HOME = "kube-system"
_SERVICES = ("kube-dns", "coredns")
_MAPS = ("coredns",)
_CUT = "..."


def lacks_resolver(facts: Facts) -> bool:
    """Whether a pod may not use the cluster's DNS and was given no other."""
    config = facts.get("dns_config")
    servers = isinstance(config, Mapping) and bool(config.get("nameservers"))
    return facts.get("dns_policy") == "None" and not servers


def _pod(facts: Facts) -> str | None:
    head = pod_state(facts)
    if head is None or facts.get("phase") in ("Succeeded", "Failed") or not lacks_resolver(facts):
        return None
    return f"{head}, resolves no name (dnsPolicy None, no server)"


POD = Rule(
    "resolver",
    ("Pod",),
    "pod dnsPolicy and dnsConfig: None takes every setting from dnsConfig; ndots and search "
    "domains cost further queries and fail no name, so they are no state",
    tells=_pod,
)


def _service(snapshot: Snapshot, service: Entity) -> str | None:
    is_dns = service.name in _SERVICES and snapshot.namespace(service)[1] == _HOME
    if is_dns and known_endpoints(snapshot, service) == 0:
        return "0 ready endpoints: no name of the cluster is resolved"
    return None


SERVICE = Rule(
    "cluster-dns",
    ("K8sService",),
    "the cluster's DNS is the Service kube-dns of kube-system, to which kubelets point every pod",
    sees=_service,
)


def plugins(corefile: str) -> list[list[str]]:
    """The lines of a Corefile as words, without comments."""
    lines = (re.sub(r"#.*", "", line).split() for line in corefile.splitlines())
    return [line for line in lines if line]


def _settings(snapshot: Snapshot, entity: Entity) -> str | None:
    corefile = snapshot.fact(entity.id, "data.Corefile")
    if entity.name not in _MAPS or snapshot.namespace(entity)[1] != _HOME:
        return None
    # What was cut off or is imported from other files may name the plugin that seems to lack.
    if not isinstance(corefile, str) or corefile.endswith(_CUT):
        return None
    lines = plugins(corefile)
    first = {line[0] for line in lines}
    if not lines or "import" in first:
        return None
    if "kubernetes" not in first:
        return "answers no name of the cluster (no kubernetes plugin)"
    ways = [line for line in lines if line[0] in ("forward", "proxy") and len(line) > 2]
    if not ways:
        return "answers names of the cluster only (no forward plugin)"
    return f"answers names of the cluster, asks {ways[0][2]} for others"


SETTINGS = Rule(
    "corefile",
    ("ConfigMap",),
    "CoreDNS: the kubernetes plugin answers the cluster's names, forward passes on all others, "
    "import reads further files",
    sees=_settings,
)
