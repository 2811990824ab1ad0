"""Status rules follow Kubernetes."""

from __future__ import annotations

from typing import Any

import pytest
from tests.graph.worlds import NOW, Builder

from heldout.graph.snapshot import Edge, Entity, Snapshot
from heldout.graph.status import label_match, ready_endpoints, schedulable_on, status_of


def snapshot_of(build: Builder, now: int = NOW) -> Snapshot:
    """The builder's world in memory, without a disk."""
    facts: dict[str, dict[str, str]] = {}
    for row in build.rows["fact"]:
        facts.setdefault(row["entity_id"], {})[row["field"]] = row["value_json"]
    edges = [Edge(*(row[key] for key in Edge._fields)) for row in build.rows["edge"]]
    entities = [Entity(*(row[key] for key in Entity._fields)) for row in build.rows["entity"]]
    return Snapshot(entities, edges, lambda: facts, now)


@pytest.mark.parametrize(
    ("selector", "labels", "expected"),
    [
        ({"app": "a"}, {"app": "a", "tier": "x"}, True),
        ({"app": "a", "tier": "y"}, {"app": "a", "tier": "x"}, False),
        ({}, {"app": "a"}, True),
        ({}, None, True),
        ({"app": "a"}, None, False),
        ({"matchLabels": {"app": "a"}}, {"app": "a"}, True),
        ({"matchLabels": {"app": "b"}}, {"app": "a"}, False),
        ({"match_labels": {"app": "a"}}, {"app": "a"}, True),
        (
            {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]},
            {"app": "a"},
            True,
        ),
        (
            {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a"]}]},
            {"app": "a"},
            False,
        ),
        ({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, {"app": "a"}, True),
        ({"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}, {"app": "a"}, True),
        ({"matchExpressions": [{"key": "x", "operator": "Near"}]}, {"app": "a"}, False),
        ({"ver": 2}, {"ver": "2"}, True),
        ("app=a", {"app": "a"}, False),
    ],
)
def test_label_selectors_match_as_in_kubernetes(selector: Any, labels: Any, expected: bool):
    """Maps, matchLabels and matchExpressions pick what the API server would pick."""
    assert label_match(selector, labels) is expected


def _service(selector: Any, *pods: dict[str, Any]) -> tuple[Snapshot, Entity]:
    build = Builder()
    build.entity(1, "K8sService", "quay", namespace="dock", selector=selector)
    for number, facts in enumerate(pods, start=2):
        build.entity(number, "Pod", f"quay-{number}", **{"namespace": "dock", **facts})
    snapshot = snapshot_of(build)
    return snapshot, snapshot.of_kind("K8sService")[0]


def test_ready_endpoints_counts_running_ready_pods_of_the_namespace():
    """A pod counts when it matches, runs, is ready, and is in the same namespace."""
    good = {"labels": {"app": "quay"}, "phase": "Running", "ready": True}
    snapshot, service = _service(
        {"app": "quay"},
        good,
        {**good, "ready": False},
        {**good, "phase": "Pending"},
        {**good, "namespace": "other"},
        {**good, "labels": {"app": "harbor"}},
    )
    assert ready_endpoints(snapshot, service) == 1
    assert status_of(snapshot, service) == "1 ready endpoints"


@pytest.mark.parametrize("selector", [None, {}])
def test_a_service_without_selector_has_unknown_endpoints(selector: Any):
    """Its endpoints are kept by hand, so that zero cannot be concluded."""
    snapshot, service = _service(selector, {"labels": {}, "phase": "Running"})
    assert ready_endpoints(snapshot, service) is None


@pytest.mark.parametrize(
    ("kind", "facts", "expected"),
    [
        ("Pod", {"phase": "Running", "ready": True}, "Running"),
        ("Pod", {"phase": "Running", "ready": False}, "Running, not ready"),
        ("Pod", {"phase": "Running", "reason": "CrashLoopBackOff"}, "CrashLoopBackOff"),
        ("Pod", {}, "unknown"),
        ("Deployment", {"replicas": 3, "ready_replicas": 1}, "1/3 ready"),
        ("Deployment", {"replicas": 0, "ready_replicas": 0}, "scaled to zero"),
        ("Deployment", {"replicas": 3, "status": "rolling"}, "rolling"),
        ("Node", {"ready": False}, "NotReady"),
        ("Node", {"ready": True, "unschedulable": True}, "Ready, cordoned"),
        ("Service", {"status": "degraded"}, "degraded"),
        ("DbInstance", {"state": "available"}, "available"),
        ("Team", {}, "unknown"),
    ],
)
def test_status_by_kind(kind: str, facts: dict[str, Any], expected: str):
    """Each kind is described by the facts that describe it in practice."""
    build = Builder()
    build.entity(1, kind, "one", **facts)
    snapshot = snapshot_of(build)
    assert status_of(snapshot, snapshot.of_kind(kind)[0]) == expected


def test_node_selectors_compare_labels():
    """Only nodes with every label are left."""
    build = Builder()
    build.entity(1, "Node", "n1", labels={"pool": "a", "arch": "arm"})
    build.entity(2, "Node", "n2", labels={"pool": "b"})
    snapshot = snapshot_of(build)
    nodes = [(one, snapshot.facts(one.id)) for one in snapshot.of_kind("Node")]
    assert [one.name for one in schedulable_on({"pool": "a"}, nodes)] == ["n1"]
    assert schedulable_on({"pool": "c"}, nodes) == []
    assert len(schedulable_on(None, nodes)) == 2


def test_edges_hold_only_while_valid_and_known():
    """An edge that ended, or that nobody knew yet, does not connect."""
    build = Builder()
    build.entity(1, "Service", "a")
    build.entity(2, "Service", "b")
    build.edge(1, "calls", 2, until=NOW - 1)
    build.edge(2, "calls", 1)
    build.rows["edge"][1]["observed_at"] = NOW + 1
    snapshot = snapshot_of(build)
    assert snapshot.out("e-00000001") == snapshot.out("e-00000002") == []
    assert len(snapshot.all_out("e-00000001")) == 1
