"""Each health check fires on its fault and is silent on the healthy twin and on legal look-alikes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.graph.test_status import snapshot_of
from tests.graph.worlds import Builder, small_builder

from heldout.graph.health import check_health, registry

READY = {"phase": "Running", "ready": True, "namespace": "dock", "dns_policy": "ClusterFirst"}


def found(build: Builder) -> list[tuple[str, str]]:
    """Names of the checks that fire and of the entities that they fire on."""
    snapshot = snapshot_of(build)
    return [(one.check, snapshot.entities[one.entity].name) for one in check_health(snapshot)]


def application(**pod: Any) -> Builder:
    """A caller, a service, its deployment with one ready pod, and a K8sService before it."""
    build = Builder()
    build.entity(1, "Service", "harbor")
    build.entity(2, "Service", "quay")
    build.entity(
        3,
        "Deployment",
        "quay",
        replicas=1,
        namespace="dock",
        memory_request="64Mi",
        memory_limit="64Mi",
    )
    build.entity(
        4,
        "Pod",
        "quay-1",
        **{**READY, "labels": {"app": "quay", "team": "blue"}, "node": "n1", **pod},
    )
    build.entity(
        5, "K8sService", "quay", namespace="dock", selector={"app": "quay"}, type="ClusterIP"
    )
    build.entity(6, "Node", "n1", labels={"pool": "general"})
    build.edge(1, "calls", 2)
    build.edge(2, "runs_on", 3)
    build.edge(2, "routes_to", 5)
    build.edge(4, "controlled_by", 3)
    return build


def refact(build: Builder, number: int, field: str, value: Any) -> Builder:
    """Replace one fact."""
    row_id = f"e-{number:08x}"
    build.rows["fact"] = [
        row for row in build.rows["fact"] if (row["entity_id"], row["field"]) != (row_id, field)
    ]
    build.fact(number, field, value)
    return build


def test_every_check_has_a_reason_for_silence():
    """The registry lists the package; each check says in words when it is silent."""
    names = [check.name for check in registry()]
    assert len(names) >= 25
    assert names == sorted(set(names))
    assert all(len(check.silent_when) > 40 for check in registry())


def test_healthy_worlds_are_silent():
    """The healthy application and the small world raise nothing."""
    assert found(application()) == []
    assert found(small_builder()) == []


def test_a_selector_that_misses_ready_pods_fires():
    """Label or version mismatch over ready pods of the same application is found."""
    wanted = [("service-without-endpoints", "quay")]
    assert found(refact(application(), 5, "selector", {"app": "quay", "version": "v2"})) == wanted
    assert found(refact(application(), 5, "selector", {"app": "quai"})) == wanted
    assert found(refact(application(), 5, "selector", {"run": "quay-x"})) == wanted


@pytest.mark.parametrize(
    "legal",
    [
        lambda b: refact(b, 5, "selector", None),
        lambda b: refact(refact(b, 5, "selector", {"app": "x"}), 5, "type", "ExternalName"),
        lambda b: refact(b, 4, "ready", False),
        lambda b: refact(
            refact(b, 5, "selector", {"app": "quay", "v": "2"}),
            3,
            "pod_labels",
            {"app": "quay", "v": "2"},
        ),
        lambda b: refact(refact(b, 5, "selector", {"app": "quai"}), 4, "phase", "Pending"),
        lambda b: refact(b, 4, "namespace", "elsewhere"),
    ],
)
def test_legal_services_without_endpoints_are_silent(legal: Callable[[Builder], Builder]):
    """No selector, ExternalName, unready or scaled-down pods are not a selector's fault."""
    assert found(legal(application())) == []


def test_a_shared_team_label_says_nothing_of_intent():
    """A Service whose own pods are gone is not matched to a neighbour through a team label."""
    build = application()
    build.entity(
        9, "K8sService", "pier", namespace="dock", selector={"app": "pier", "team": "blue"}
    )
    assert found(build) == []


def policy(build: Builder, **facts: Any) -> Builder:
    """Add a NetworkPolicy."""
    number = 20 + sum(row["kind"] == "NetworkPolicy" for row in build.rows["entity"])
    build.entity(
        number,
        "NetworkPolicy",
        f"policy-{number}",
        **{
            "namespace": "dock",
            "pod_selector": {},
            "policy_types": ["Ingress"],
            "ingress": None,
            **facts,
        },
    )
    return build


def test_a_deny_all_policy_over_a_called_pod_fires():
    """Ingress of a pod with a known caller, and egress of one that calls, must not be cut off."""
    assert found(policy(application())) == [("denying-policy", "policy-20")]
    build = policy(application(), policy_types=["Egress"], egress=[])
    assert found(build) == []
    build.edge(2, "calls", 1)
    assert found(build) == [("denying-policy", "policy-20")]


@pytest.mark.parametrize(
    "legal",
    [
        {"pod_selector": {"app": "other"}},
        {"ingress": [{"from": []}]},
        {"namespace": "elsewhere"},
        {"policy_types": ["Egress"], "egress": [{}]},
        {
            "pod_selector": {
                "matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["quay"]}]
            }
        },
    ],
)
def test_policies_that_cut_off_nothing_are_silent(legal: dict[str, Any]):
    """Other pods, rules that allow, another namespace or direction are legal."""
    assert found(policy(application(), **legal)) == []


def test_deny_by_default_with_allows_is_silent():
    """A second policy that allows makes the first one good practice."""
    build = policy(policy(application()), pod_selector={"app": "quay"}, ingress=[{"from": [{}]}])
    assert found(build) == []


def test_a_denied_pod_without_a_known_caller_is_silent():
    """Without a caller nothing is known to be cut off."""
    build = policy(application())
    build.rows["edge"] = [row for row in build.rows["edge"] if row["pred"] != "calls"]
    assert found(build) == []


def test_dns_policy_none_without_servers_fires():
    """A pod that may not use cluster DNS and has no other cannot resolve names."""
    assert found(application(dns_policy="None")) == [("dns-policy-none", "quay-1")]
    assert found(application(dns_policy="None", dns_config={"searches": ["a"]})) == [
        ("dns-policy-none", "quay-1")
    ]


@pytest.mark.parametrize(
    "pod",
    [
        {"dns_policy": "None", "dns_config": {"nameservers": ["10.0.0.10"]}},
        {"dns_policy": "Default"},
        {"dns_policy": "None", "phase": "Succeeded", "ready": False},
    ],
)
def test_other_dns_settings_are_silent(pod: dict[str, Any]):
    """A resolver of one's own, other policies and pods that have ended are legal."""
    assert found(application(**pod)) == []


def quota(build: Builder, hard: dict[str, str]) -> Builder:
    """Add a ResourceQuota."""
    build.entity(30, "ResourceQuota", "dock-quota", namespace="dock", hard=hard)
    return build


@pytest.mark.parametrize("demand", ["requests.memory", "limits.memory", "memory"])
def test_a_memory_quota_over_an_undeclared_workload_fires(demand: str):
    """The next pod of the workload would be refused."""
    build = quota(application(), {demand: "4Gi"})
    refact(refact(build, 3, "memory_request", None), 3, "memory_limit", None)
    assert found(build) == [("undeclared-memory", "quay")]


def test_legal_quotas_are_silent():
    """Declared memory, a default, no memory in the quota, zero replicas, or nothing observed."""
    assert found(quota(application(), {"requests.memory": "4Gi", "limits.memory": "4Gi"})) == []

    def undeclared() -> Builder:
        return refact(refact(application(), 3, "memory_request", None), 3, "memory_limit", None)

    assert found(quota(undeclared(), {"pods": "20", "requests.cpu": "4"})) == []
    assert found(refact(quota(undeclared(), {"memory": "4Gi"}), 3, "replicas", 0)) == []
    assert found(refact(quota(undeclared(), {"memory": "4Gi"}), 30, "namespace", "other")) == []
    build = quota(undeclared(), {"requests.memory": "4Gi"})
    build.entity(31, "LimitRange", "defaults", namespace="dock", default_memory="128Mi")
    assert found(build) == []
    limit_only = refact(application(), 3, "memory_request", None)
    assert found(quota(limit_only, {"requests.memory": "4Gi"})) == []
    build = quota(application(), {"requests.memory": "4Gi"})
    build.rows["fact"] = [r for r in build.rows["fact"] if "memory_" not in r["field"]]
    assert found(build) == []


def test_a_node_selector_that_no_node_has_fires():
    """A Pending pod waits for labels that exist nowhere in its cluster."""
    pending = {"phase": "Pending", "ready": False, "node": None}
    build = application(**pending, node_selector={"pool": "gpu"})
    assert found(build) == [("unsatisfiable-node-selector", "quay-1")]
    build.entity(40, "Node", "far", "south", labels={"pool": "gpu"})
    assert found(build) == [("unsatisfiable-node-selector", "quay-1")]


@pytest.mark.parametrize(
    "pod",
    [
        {"phase": "Pending", "ready": False, "node": None, "node_selector": {"pool": "general"}},
        {"phase": "Pending", "ready": False, "node": None},
        {"phase": "Pending", "ready": False, "node": "n1", "node_selector": {"pool": "gpu"}},
        {"phase": "Running", "node_selector": {"pool": "gpu"}},
    ],
)
def test_pods_that_wait_for_something_else_are_silent(pod: dict[str, Any]):
    """A node fits, none is asked for, or the pod is bound already."""
    assert found(application(**pod)) == []


def test_unobserved_nodes_are_silent():
    """Where no node's labels are known, nothing is concluded."""
    build = application(phase="Pending", ready=False, node=None, node_selector={"pool": "gpu"})
    build.rows["fact"] = [r for r in build.rows["fact"] if r["entity_id"] != "e-00000006"]
    assert found(build) == []


def volume(holder: dict[str, Any], waiter: dict[str, Any], modes: list[str]) -> Builder:
    """Two pods with one claim."""
    build = application()
    build.entity(50, "Pvc", "ledger", namespace="dock", access_modes=modes)
    for number, facts in ((51, holder), (52, waiter)):
        build.entity(number, "Pod", f"pod-{number}", namespace="dock", labels={"x": "y"}, **facts)
        build.edge(number, "mounts", 50)
    return build


RUNNING, PENDING = {"phase": "Running", "ready": True, "node": "n1"}, {"phase": "Pending"}


def test_a_single_writer_volume_with_holder_and_waiter_fires():
    """One runs with the claim, another waits for it."""
    assert found(volume(RUNNING, PENDING, ["ReadWriteOnce"])) == [
        ("volume-held-elsewhere", "ledger")
    ]
    same_node = {**PENDING, "node": "n1"}
    assert found(volume(RUNNING, same_node, ["ReadWriteOncePod"])) == [
        ("volume-held-elsewhere", "ledger")
    ]


@pytest.mark.parametrize(
    ("holder", "waiter", "modes"),
    [
        (RUNNING, RUNNING, ["ReadWriteOnce"]),
        (PENDING, PENDING, ["ReadWriteOnce"]),
        (RUNNING, PENDING, ["ReadWriteMany"]),
        (RUNNING, PENDING, ["ReadWriteOnce", "ReadWriteMany"]),
        (RUNNING, {**PENDING, "node": "n1"}, ["ReadWriteOnce"]),
        ({"phase": "Succeeded"}, PENDING, ["ReadWriteOnce"]),
    ],
)
def test_volumes_that_nobody_is_kept_from_are_silent(
    holder: dict[str, Any], waiter: dict[str, Any], modes: list[str]
):
    """Shared modes, no waiter, no holder, or the same node are legal."""
    assert found(volume(holder, waiter, modes)) == []


def test_checks_survive_facts_of_any_shape():
    """Observed facts may be anything; a check never raises on them."""
    shapes: list[Any] = [None, 7, "x", [], {}, [1], {"a": [1]}, True]
    fields = (
        "selector",
        "labels",
        "pod_selector",
        "policy_types",
        "hard",
        "node_selector",
        "access_modes",
        "dns_config",
        "ingress",
        "type",
        "namespace",
        "replicas",
        "phase",
        "ready",
        "node",
    )
    for shape in shapes:
        build = quota(policy(volume(RUNNING, PENDING, ["ReadWriteOnce"])), {"memory": "1Gi"})
        for number in (3, 4, 5, 6, 20, 30, 50, 51):
            for field in fields:
                refact(build, number, field, shape)
        found(build)
