"""Each rule of status that looks around tells what stands there, and nothing that is unknown."""

from __future__ import annotations

from typing import Any

import pytest
from tests.graph.test_status import snapshot_of
from tests.graph.worlds import Builder

from heldout.graph.status import UNKNOWN, status_of

RUNNING = {"phase": "Running", "ready": True}
UNREADY = {"phase": "Running", "ready": False}


def shown(build: Builder, kind: str) -> str:
    """The status of the only entity of a kind."""
    snapshot = snapshot_of(build)
    (entity,) = snapshot.of_kind(kind)
    return status_of(snapshot, entity)


def node(build: Builder, number: int, **facts: Any) -> None:
    """Add a node."""
    build.entity(number, "Node", f"n{number}", **{"ready": True, "labels": {"pool": "a"}, **facts})


@pytest.mark.parametrize(
    ("pod", "on", "expected"),
    [
        ({"node_selector": {"pool": "b"}}, {},
         "Pending: no known node has the labels of its nodeSelector"),
        ({"node_affinity": [{"matchExpressions": [
            {"key": "pool", "operator": "NotIn", "values": ["a"]}]}]}, {},
         "Pending: no known node satisfies its node affinity"),
        ({"tolerations": []}, {"taints": [{"key": "gpu", "effect": "NoSchedule"}]},
         "Pending: it does not tolerate the taint gpu of any known node"),
        ({"memory_request": "9Gi"}, {"allocatable": {"memory": "8Gi", "cpu": "4"}},
         "Pending: it requests more memory than any known node has"),
        ({"node_selector": {"pool": "a"}}, {}, "Pending"),
        ({}, {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}, "Pending"),
        ({"memory_request": "9Gi"}, {}, "Pending"),
        ({"node_selector": {"pool": "b"}, "node": "n7"}, {}, "Pending"),
        ({"node_selector": {"pool": "b"}}, {"labels": None}, "Pending"),
        ({"node_selector": {"pool": "b"}, "reason": "ImagePullBackOff"}, {}, "ImagePullBackOff"),
    ],
)  # fmt: skip
def test_a_waiting_pod_says_what_keeps_it_off_every_node(
    pod: dict[str, Any], on: dict[str, Any], expected: str
):
    """Selector, affinity, taints and size are named where every known node fails them."""
    build = Builder()
    build.entity(1, "Pod", "berth", namespace="dock", phase="Pending", ready=False, **pod)
    node(build, 7, **on)
    assert shown(build, "Pod") == expected


def test_a_waiting_pod_without_known_nodes_only_waits():
    """Where no node was observed nothing is said about nodes."""
    build = Builder()
    build.entity(1, "Pod", "berth", phase="Pending", node_selector={"pool": "b"})
    assert shown(build, "Pod") == "Pending"


def maker(**facts: Any) -> Builder:
    """A ReplicaSet that has made one of three pods, in a namespace with its labels."""
    build = Builder()
    build.entity(1, "Namespace", "dock", labels={"team": "blue"})
    said = {"replicas": 3, "made_replicas": 1, "ready_replicas": 1, "pod_labels": {"app": "berth"}}
    build.entity(2, "ReplicaSet", "berth", namespace="dock", **{**said, **facts})
    return build


@pytest.mark.parametrize(
    ("quota", "facts", "expected"),
    [
        ({"hard": {"requests.memory": "8Gi"}}, {"memory_request": None},
         "1/3 ready: quota share demands requests.memory, the template declares none"),
        ({"hard": {"pods": "4"}, "used": {"pods": "4"}}, {},
         "1/3 ready: quota share is full, 4 of 4 pods in use"),
        ({"hard": {"pods": "4"}, "used": {"pods": "3"}}, {}, "1/3 ready"),
        ({"hard": {"pods": "4"}}, {}, "1/3 ready"),
        ({"hard": {"pods": "4"}, "used": {"pods": "4"}, "scopes": ["BestEffort"]}, {}, "1/3 ready"),
        ({"hard": {"pods": "4"}, "used": {"pods": "4"}}, {"made_replicas": 3}, "1/3 ready"),
        ({"hard": {"requests.memory": "8Gi"}}, {}, "1/3 ready"),
    ],
)  # fmt: skip
def test_a_workload_that_lacks_pods_names_the_quota(
    quota: dict[str, Any], facts: dict[str, Any], expected: str
):
    """A quota counts as the reason only where pods are missing and it would refuse the next."""
    build = maker(**facts)
    build.entity(3, "ResourceQuota", "share", namespace="dock", **quota)
    assert shown(build, "ReplicaSet") == expected


HOOK = {
    "name": "check.example.test", "failurePolicy": "Fail",
    "rules": [{"operations": ["CREATE"], "apiGroups": [""], "resources": ["pods"]}],
}  # fmt: skip


def hooked(hook: dict[str, Any], pod: dict[str, Any]) -> Builder:
    """A workload that lacks pods, and a webhook with the one pod that may answer it."""
    build = maker()
    said = {"kind": "K8sService", "namespace": "gate", "name": "guard",
            "via": "webhooks.check.example.test"}  # fmt: skip
    said |= {"optional": True} if hook.get("failurePolicy") == "Ignore" else {}
    build.entity(4, "Webhook", "guard", references=[said], webhooks=[HOOK | hook])
    build.entity(5, "K8sService", "guard", namespace="gate", selector={"app": "guard"})
    build.entity(6, "Pod", "guard-1", namespace="gate", labels={"app": "guard"}, **pod)
    return build


@pytest.mark.parametrize(
    ("hook", "pod", "webhook", "workload"),
    [
        ({}, UNREADY, "Service guard has no ready endpoint: what it must admit is refused",
         "1/3 ready: webhook guard must admit pods and nobody answers"),
        ({"namespaceSelector": {"matchLabels": {"team": "blue"}}}, UNREADY,
         "Service guard has no ready endpoint: what it must admit is refused",
         "1/3 ready: webhook guard must admit pods and nobody answers"),
        ({"namespaceSelector": {"matchLabels": {"team": "red"}}}, UNREADY,
         "Service guard has no ready endpoint: what it must admit is refused", "1/3 ready"),
        ({"rules": [{"operations": ["UPDATE"], "apiGroups": [""], "resources": ["pods"]}]}, UNREADY,
         "Service guard has no ready endpoint: what it must admit is refused", "1/3 ready"),
        ({"objectSelector": {"matchLabels": {"app": "other"}}}, UNREADY,
         "Service guard has no ready endpoint: what it must admit is refused", "1/3 ready"),
        ({"matchConditions": [{"expression": "false"}]}, UNREADY,
         "Service guard has no ready endpoint: what it must admit is refused", "1/3 ready"),
        ({"failurePolicy": "Ignore"}, UNREADY,
         "Service guard has no ready endpoint: it is skipped", "1/3 ready"),
        ({}, RUNNING, "answered by 1 ready endpoints", "1/3 ready"),
        ({}, {}, UNKNOWN, "1/3 ready"),
    ],
)  # fmt: skip
def test_a_webhook_that_nobody_answers_refuses_what_it_is_asked_about(
    hook: dict[str, Any], pod: dict[str, Any], webhook: str, workload: str
):
    """A closed webhook is the reason for missing pods only where it is certainly asked."""
    build = hooked(hook, pod)
    assert shown(build, "Webhook") == webhook
    assert shown(build, "ReplicaSet") == workload


def test_an_old_replica_set_names_the_one_that_runs():
    """Of two ReplicaSets of a Deployment the empty one says which has the pods."""
    build = maker(replicas=0, ready_replicas=0)
    build.entity(3, "Deployment", "berth", namespace="dock", replicas=3, ready_replicas=3)
    build.entity(4, "ReplicaSet", "berth-new", namespace="dock", replicas=3, ready_replicas=3)
    build.edge(2, "controlled_by", 3)
    snapshot = snapshot_of(build)
    old, new = snapshot.of_kind("ReplicaSet")
    assert status_of(snapshot, old) == "scaled to zero"
    build.edge(4, "controlled_by", 3)
    snapshot = snapshot_of(build)
    assert status_of(snapshot, old) == "scaled to zero, berth runs berth-new"
    assert status_of(snapshot, new) == "3/3 ready"


DELETED = {"deleting_since": "2026-03-04T08:00:00Z", "finalizers": ["example.test/hold"]}


def test_a_namespace_names_what_keeps_it():
    """A namespace that is being deleted names things in it that finalizers hold, and only those."""
    build = Builder()
    build.entity(1, "Namespace", "dock", phase="Terminating")
    build.entity(2, "CustomResource", "tug", namespace="dock", finalizers=["example.test/hold"])
    assert shown(build, "Namespace") == "Terminating"
    build.entity(3, "CustomResource", "crane", namespace="dock", **DELETED)
    held = "Terminating, held by 1 thing with finalizers (such as CustomResource crane)"
    assert shown(build, "Namespace") == held


def test_a_claim_in_use_is_protected():
    """A deleted claim names the pod that still uses it, and its finalizer once none does."""
    build = Builder()
    build.entity(1, "Pvc", "ledger", namespace="dock", phase="Bound", **DELETED)
    build.entity(2, "Pod", "berth", namespace="dock", **RUNNING)
    assert shown(build, "Pvc") == "Terminating, held by finalizer example.test/hold"
    build.edge(2, "mounts", 1)
    assert shown(build, "Pvc") == "Terminating, in use by pod berth"


@pytest.mark.parametrize(
    ("modes", "second", "expected", "waiter"),
    [
        (["ReadWriteOnce"], {"phase": "Pending", "node": "n2"},
         "Bound, held by one while two waits", "Pending: claim ledger is held by one"),
        (["ReadWriteOncePod"], {"phase": "Pending"},
         "Bound, held by one while two waits", "Pending: claim ledger is held by one"),
        (["ReadWriteOnce"], {"phase": "Pending"}, "Bound, held by one while two waits", "Pending"),
        (["ReadWriteOnce"], {"phase": "Pending", "node": "n1"}, "Bound", "Pending"),
        (["ReadWriteMany"], {"phase": "Pending", "node": "n2"}, "Bound", "Pending"),
        (["ReadWriteOnce"], {"phase": "Running", "node": "n2"}, "Bound", "Running"),
    ],
)  # fmt: skip
def test_a_claim_that_two_want_names_both(
    modes: list[str], second: dict[str, Any], expected: str, waiter: str
):
    """A single-writer claim says who holds it and who waits, and so does who certainly waits."""
    build = Builder()
    build.entity(1, "Pvc", "ledger", namespace="dock", phase="Bound", access_modes=modes)
    build.entity(2, "Pod", "one", namespace="dock", node="n1", **RUNNING)
    build.entity(3, "Pod", "two", namespace="dock", **second)
    build.edge(2, "mounts", 1)
    build.edge(3, "mounts", 1)
    assert shown(build, "Pvc") == expected
    snapshot = snapshot_of(build)
    assert status_of(snapshot, snapshot.of_kind("Pod")[1]) == waiter


@pytest.mark.parametrize(
    ("store", "listed", "expected"),
    [
        (None, ["StorageClass"], "Pending: StorageClass slow is not there"),
        (None, [], "Pending"),
        ({"volumeBindingMode": "WaitForFirstConsumer"}, [],
         "Pending: StorageClass slow binds with the first pod that is scheduled"),
        ({}, ["StorageClass"], "Pending"),
    ],
)  # fmt: skip
def test_a_claim_without_a_volume_says_why(
    store: dict[str, Any] | None, listed: list[str], expected: str
):
    """A missing class is named only where all classes were listed."""
    build = Builder()
    build.entity(1, "Cluster", "north", listed=listed)
    said = [{"kind": "StorageClass", "name": "slow", "via": "storageClassName"}]
    build.entity(2, "Pvc", "ledger", namespace="dock", phase="Pending", references=said)
    if store is not None:
        build.entity(3, "StorageClass", "slow", **store)
    assert shown(build, "Pvc") == expected


def local(policy: dict[str, Any], caller: str | None = "n2") -> Builder:
    """A Service with one ready pod on n1, three nodes, and a caller on another one."""
    build = Builder()
    for number in (1, 2, 3):
        node(build, number)
    build.entity(4, "K8sService", "quay", namespace="dock", selector={"app": "quay"}, **policy)
    build.entity(5, "Pod", "quay-1", namespace="dock", labels={"app": "quay"}, node="n1", **RUNNING)
    build.entity(6, "Service", "harbor")
    build.entity(7, "Deployment", "harbor", namespace="dock")
    build.entity(8, "Pod", "harbor-1", namespace="dock", labels={}, node=caller, **RUNNING)
    build.edge(6, "calls", 4)
    build.edge(6, "runs_on", 7)
    build.edge(8, "controlled_by", 7)
    return build


@pytest.mark.parametrize(
    ("policy", "caller", "expected"),
    [
        ({"internal_traffic_policy": "Local"}, "n2",
         "1 ready endpoints, none on node n2 of its caller harbor-1 (traffic stays on the node)"),
        ({"external_traffic_policy": "Local"}, "n2",
         "1 ready endpoints, on 1 of 3 nodes (others answer nobody from outside)"),
        ({"internal_traffic_policy": "Local"}, "n1", "1 ready endpoints"),
        ({"internal_traffic_policy": "Local"}, None, "1 ready endpoints"),
        ({"internal_traffic_policy": "Cluster"}, "n2", "1 ready endpoints"),
    ],
)  # fmt: skip
def test_traffic_that_stays_on_a_node_names_it(
    policy: dict[str, Any], caller: str | None, expected: str
):
    """A node-local Service says which caller has no pod beside it."""
    assert shown(local(policy, caller), "K8sService") == expected


def dns(corefile: Any, *, name: str = "coredns", namespace: str = "kube-system") -> str:
    """The status of a map of settings of the cluster's DNS."""
    build = Builder()
    build.entity(1, "ConfigMap", name, namespace=namespace, **{"data.Corefile": corefile})
    return shown(build, "ConfigMap")


WHOLE = ".:53 {\n  kubernetes cluster.local  # names\n  forward . 10.0.0.2\n}\n"


def test_the_settings_of_the_cluster_dns_say_what_it_answers():
    """A Corefile without one of its two plugins answers only half of the names."""
    assert dns(WHOLE) == "answers names of the cluster, asks 10.0.0.2 for others"
    assert dns(WHOLE.replace("kubernetes", "# kubernetes")).startswith("answers no name of the")
    assert dns(WHOLE.replace("forward", "#forward")).startswith("answers names of the cluster only")
    # What is imported, cut off, or another map's says nothing.
    for text in (f"import /etc/more\n{WHOLE[40:]}", "log\n...", "", None, 7):
        assert dns(text) == UNKNOWN
    assert dns("log", name="other") == dns("log", namespace="dock") == UNKNOWN


def test_a_cluster_dns_without_a_ready_pod_resolves_nothing():
    """The Service that every pod asks says what its missing endpoints mean."""
    for place, expected in (
        ("kube-system", "0 ready endpoints: no name of the cluster is resolved"),
        ("dock", "0 ready endpoints"),
    ):
        build = Builder()
        build.entity(1, "K8sService", "kube-dns", namespace=place, selector={"k8s-app": "dns"})
        build.entity(2, "Pod", "dns-1", namespace=place, labels={"k8s-app": "dns"}, **UNREADY)
        assert shown(build, "K8sService") == expected


@pytest.mark.parametrize(
    ("service", "pod", "expected"),
    [
        ({}, RUNNING, "1 ready endpoints"),
        ({}, RUNNING | {"deleting_since": "2026-03-04T11:59:00Z"}, "0 ready endpoints"),
        ({}, {"phase": "Running"}, UNKNOWN),
        ({"publish_not_ready": True}, UNREADY, "1 ready endpoints"),
        ({"type": "ExternalName"}, RUNNING, UNKNOWN),
        ({"ready_endpoints": 4}, {"phase": "Running"}, "4 ready endpoints"),
    ],
)
def test_endpoints_are_counted_as_the_cluster_does(
    service: dict[str, Any], pod: dict[str, Any], expected: str
):
    """Pods that end count no more, those of unknown readiness make the count unknown."""
    build = Builder()
    build.entity(1, "K8sService", "quay", namespace="dock", selector={"app": "quay"}, **service)
    build.entity(2, "Pod", "quay-1", namespace="dock", labels={"app": "quay"}, **pod)
    assert shown(build, "K8sService") == expected


def test_a_job_that_a_sidecar_keeps_names_it():
    """A Job whose work has ended names the container that runs on, and only then."""
    for code, expected in (
        (0, "1 active: work ended, container proxy still runs"),
        (1, "1 active"),
    ):
        build = Builder()
        build.entity(1, "Job", "sweep", namespace="dock", active=1)
        states = {"main": {"state": "terminated", "exit_code": code}, "proxy": {"state": "running"}}
        build.entity(2, "Pod", "sweep-x", namespace="dock", phase="Running",
                     containers=["main", "proxy"], container_states=states)  # fmt: skip
        build.edge(2, "controlled_by", 1)
        assert shown(build, "Job") == expected
