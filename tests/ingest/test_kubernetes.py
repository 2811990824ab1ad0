"""Manifests become a world with applications, pods, calls and states."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.graph.conformance import ask, check_conformance, every_row
from tests.ingest.manifests import SHOP, write, written

from heldout.graph import WorldInterface, WorldSession
from heldout.graph.topology import Topology
from heldout.ingest.fields import quantity
from heldout.ingest.kubernetes import read, topology
from heldout.ingest.references import Identity

NOW = 1_772_625_600_000_000


def imported_topology(folder: Path, *texts: str) -> Topology:
    """The topology of some manifests."""
    for number, text in enumerate(texts):
        write(folder / "harbour", f"{number}.yaml", text)
    return topology(read(folder / "harbour"))


def named(found: Topology, kind: str) -> list[str]:
    """Names of all entities of a kind."""
    return sorted(one.name for one in found.entities if one.kind == kind)


def links(found: Topology, predicate: str) -> set[tuple[str, str]]:
    """Pairs of ``kind name`` that a predicate connects."""
    names = {one.id: f"{one.kind} {one.name}" for one in found.entities}
    return {(names[e.src], names[e.dst]) for e in found.edges if e.predicate == predicate}


def facts(found: Topology, kind: str, name: str) -> dict[str, Any]:
    """Fields of one entity."""
    one = next(e.id for e in found.entities if (e.kind, e.name) == (kind, name))
    return {fact.field: fact.value for fact in found.facts if fact.entity == one}


@pytest.fixture
def shop_session(tmp_path: Path) -> Iterator[WorldSession]:
    """A session over the imported harbour."""
    write(tmp_path / "harbour", "a.yaml", SHOP)
    written(read(tmp_path / "harbour"), tmp_path / "w", NOW)
    session = WorldInterface().open(str(tmp_path / "w"), 1)
    yield session
    session.close()


def test_objects_of_every_form_are_read(tmp_path: Path):
    """Documents, lists, typed lists, arrays and bare objects all give objects."""
    write(tmp_path, "a.yaml", SHOP)
    write(
        tmp_path,
        "b.json",
        json.dumps({"kind": "NodeList", "items": [{"metadata": {"name": "n1"}}]}),
    )
    write(tmp_path, "pods/c.json", json.dumps([{"metadata": {"name": "p1", "namespace": "x"}}]))
    write(
        tmp_path,
        "d.json",
        json.dumps({"items": [{"kind": "Namespace", "metadata": {"name": "x"}}]}),
    )
    report = read(tmp_path).report
    assert report.kinds == {
        "ConfigMap": 1, "Deployment": 2, "Namespace": 1, "Node": 1, "Pod": 1, "Secret": 1,
        "Service": 3, "ServiceAccount": 1, "StatefulSet": 1, "Tugboat": 1,
    }  # fmt: skip
    assert report.unknown_kinds == {"Tugboat": 1}
    assert any("Tugboat 1" in line for line in report.lines())


def test_declared_references_become_edges(tmp_path: Path):
    """Volumes, variables, identities, selectors and namespaces connect what is there."""
    found = imported_topology(tmp_path, SHOP)
    assert ("Deployment berth", "ConfigMap berth-settings") in links(found, "mounts")
    assert ("Deployment berth", "Secret berth-keys") in links(found, "mounts")
    assert links(found, "uses_identity") == {("Deployment berth", "ServiceAccount berth")}
    assert ("CustomResource tim", "Namespace dock") in links(found, "part_of")
    assert facts(found, "CustomResource", "tim")["spec.ropes.front"] == 2
    assert facts(found, "ConfigMap", "berth-settings")["data.opening"] == "2024-01-02"
    assert (
        facts(found, "Deployment", "berth")["env.POOL_SIZE"]
        == "configMapKeyRef:berth-settings/pool"
    )


def test_addresses_in_settings_become_calls(tmp_path: Path):
    """A variable that holds a Service's address is a declared call; a word that only equals it is not."""
    found = imported_topology(
        tmp_path,
        SHOP.replace('{name: CRANE_SERVICE_ADDR, value: "crane:7000"}', "{name: A, value: b}"),
    )
    assert links(found, "calls") == {("Service berth", "Service tide")}
    found = imported_topology(tmp_path, SHOP)
    assert links(found, "calls") == {
        ("Service berth", "Service crane"),
        ("Service berth", "Service tide"),
    }
    calls = [edge for edge in found.edges if edge.predicate == "calls"]
    assert {edge.provenance for edge in calls} == {"declared"}


def test_pods_are_derived_with_their_states(tmp_path: Path):
    """Deployments get a ReplicaSet and pods, StatefulSets ordinals; Services select them."""
    found = imported_topology(tmp_path, SHOP)
    assert named(found, "Service") == ["berth", "crane", "tide"]
    assert len(named(found, "Pod")) == 3 + 1 + 2
    assert {"tide-0", "tide-1"} <= set(named(found, "Pod"))
    assert len(links(found, "selects")) == 3 + 6
    assert facts(found, "Deployment", "berth")["ready_replicas"] == 3
    again = imported_topology(tmp_path, SHOP)
    assert again == found
    derived = {fact.provenance for fact in found.facts if fact.field == "phase"}
    assert derived == {"inferred"}


NODES = """
kind: NodeList
items:
- metadata: {name: n1, labels: {pool: general}}
  status: {conditions: [{type: Ready, status: "True"}]}
"""
QUOTA = """
kind: ResourceQuota
metadata: {name: dock-quota, namespace: dock}
spec: {hard: {requests.memory: 1Gi}}
"""
DENY = """
kind: NetworkPolicy
apiVersion: networking.k8s.io/v1
metadata: {name: deny, namespace: dock}
spec: {podSelector: {}, policyTypes: [Ingress]}
"""


@pytest.mark.parametrize(
    ("extra", "change", "check"),
    [
        ((), ("", ""), None),
        (
            (NODES,),
            ("      serviceAccountName: berth\n", "      nodeSelector: {pool: gpu}\n"),
            "unsatisfiable-node-selector",
        ),
        ((), ("serviceAccountName: berth", "dnsPolicy: None"), "dns-policy-none"),
        ((QUOTA,), ("", ""), "undeclared-memory"),
        ((DENY,), ("", ""), "denying-policy"),
    ],
)
def test_health_of_imported_worlds(
    tmp_path: Path, extra: tuple[str, ...], change: tuple[str, str], check: str | None
):
    """The healthy harbour is silent; each fault in a manifest is found by its check."""
    for number, text in enumerate((SHOP.replace(*change) if change[0] else SHOP, *extra)):
        write(tmp_path / "in", f"{number}.yaml", text)
    written(read(tmp_path / "in"), tmp_path / "w", NOW)
    session = WorldInterface().open(str(tmp_path / "w"), 1)
    rows = ask(session, "check_health")["rows"]
    assert {row["check"] for row in rows} == ({check} if check else set())


def test_a_service_whose_pods_an_operator_makes_is_silent(tmp_path: Path):
    """A selector that matches nothing in the folder says nothing about the cluster."""
    lone = "kind: Service\nmetadata: {name: prom, namespace: dock}\nspec: {selector: {app: prom}}\n"
    write(tmp_path / "in", "a.yaml", SHOP)
    write(tmp_path / "in", "b.yaml", lone)
    written(read(tmp_path / "in"), tmp_path / "w", NOW)
    assert ask(WorldInterface().open(str(tmp_path / "w"), 1), "check_health")["rows"] == []


def test_a_quota_that_refuses_pods_leaves_none(tmp_path: Path):
    """The derived state follows the quota: no pods, none ready."""
    found = imported_topology(tmp_path, SHOP, QUOTA)
    crane = facts(found, "Deployment", "crane")
    assert crane["ready_replicas"] == 0
    assert crane["status"].startswith("FailedCreate")
    assert not [name for name in named(found, "Pod") if name.startswith("crane")]


LIVE = """
kind: Pod
metadata:
  name: berth-abc-xyz
  namespace: dock
  labels: {app: berth}
  ownerReferences: [{kind: Deployment, name: berth}]
spec: {nodeName: n1, containers: [{name: a, image: b}]}
status:
  phase: Running
  conditions: [{type: Ready, status: "False"}]
  containerStatuses: [{restartCount: 4, state: {waiting: {reason: CrashLoopBackOff}}}]
"""


def test_live_pods_are_taken_as_they_are(tmp_path: Path):
    """Where the import holds a workload's pods, none are derived, and their status is observed."""
    found = imported_topology(tmp_path, SHOP, NODES, LIVE)
    assert [name for name in named(found, "Pod") if name.startswith("berth")] == ["berth-abc-xyz"]
    pod = facts(found, "Pod", "berth-abc-xyz")
    assert (pod["ready"], pod["reason"], pod["restarts"]) == (False, "CrashLoopBackOff", 4)
    assert ("Pod berth-abc-xyz", "Node n1") in links(found, "runs_on")


def test_events_become_runtime_changes(tmp_path: Path):
    """An event about an imported object within the world's time is a change of type runtime."""
    event = {
        "kind": "Event",
        "metadata": {"name": "berth.1", "namespace": "dock"},
        "involvedObject": {"kind": "Deployment", "name": "berth", "namespace": "dock"},
        "reason": "ScalingReplicaSet",
        "message": "Scaled up",
        "lastTimestamp": "2026-03-04T11:00:00Z",
        "source": {"component": "deployment-controller"},
    }
    other = {**event, "metadata": {"name": "b.2"}, "lastTimestamp": "2019-01-01T00:00:00Z"}
    lost = {**event, "involvedObject": {"kind": "Pod", "name": "gone"}}
    write(tmp_path / "in", "a.yaml", SHOP)
    write(tmp_path / "in", "events.json", json.dumps([event, other, lost]))
    written(read(tmp_path / "in"), tmp_path / "w", NOW)
    session = WorldInterface().open(str(tmp_path / "w"), 1)
    rows = every_row(session, "list_changes", since="2026-03-01", until="2026-03-05")
    assert [(row["type"], row["summary"], row["entities"][0]["name"]) for row in rows] == [
        ("runtime", "ScalingReplicaSet: Scaled up", "berth")
    ]


def test_the_object_with_a_status_wins_over_its_repetition(tmp_path: Path):
    """Of desired and live state of one object, the live one is kept; the other is counted."""
    live = "kind: ConfigMap\nmetadata: {name: c, namespace: x}\ndata: {a: live}\nstatus: {seen: true}\n"
    write(
        tmp_path,
        "1.yaml",
        "kind: ConfigMap\nmetadata: {name: c, namespace: x}\ndata: {a: wanted}\n",
    )
    write(tmp_path, "2.yaml", live)
    imported = read(tmp_path)
    assert imported.by_identity[Identity("ConfigMap", "x", "c")].body["data"] == {"a": "live"}
    assert imported.report.repeated == 1


def test_objects_of_odd_shape_do_not_end_an_import(tmp_path: Path):
    """Fields of the wrong type are read around."""
    odd: list[Any] = [None, 7, "x", [], {}, [None], {"a": None}]
    items = []
    for index, shape in enumerate(odd):
        for kind in (
            "Deployment",
            "Service",
            "Pod",
            "Ingress",
            "NetworkPolicy",
            "RoleBinding",
            "Event",
            "CronJob",
            "HorizontalPodAutoscaler",
            "ResourceQuota",
            "LimitRange",
            "Node",
        ):
            body = {
                "kind": kind,
                "metadata": {
                    "name": f"{kind.lower()}-{index}",
                    "labels": shape,
                    "ownerReferences": shape,
                },
                "spec": shape,
                "status": shape,
                "roleRef": shape,
                "subjects": shape,
            }
            items.append(body)
            items.append(
                {
                    **body,
                    "metadata": {"name": f"{kind.lower()}-b{index}"},
                    "spec": {
                        "selector": shape,
                        "template": {
                            "spec": {
                                "containers": [
                                    shape,
                                    {"env": shape, "resources": shape, "args": shape},
                                ],
                                "volumes": shape,
                            },
                            "metadata": {"labels": shape},
                        },
                        "rules": shape,
                        "hard": shape,
                        "limits": shape,
                        "replicas": shape,
                        "podSelector": shape,
                    },
                }
            )
    write(tmp_path / "in", "odd.json", json.dumps(items))
    written(read(tmp_path / "in"), tmp_path / "w", NOW)


def test_an_imported_world_conforms(tmp_path: Path):
    """Simulated and imported worlds answer to one standard."""
    write(tmp_path / "in", "a.yaml", SHOP)
    written(read(tmp_path / "in"), tmp_path / "w", NOW)
    check_conformance(tmp_path / "w")


def test_ids_do_not_depend_on_what_else_is_imported(tmp_path: Path):
    """An object keeps its id when a file is added beside it."""
    first = {(e.kind, e.name): e.id for e in imported_topology(tmp_path, SHOP).entities}
    second = {
        (e.kind, e.name): e.id for e in imported_topology(tmp_path, SHOP, NODES, QUOTA).entities
    }
    assert {key: second[key] for key in first if key[0] != "Pod"} == {
        key: one for key, one in first.items() if key[0] != "Pod"
    }


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("64Mi", 2**26),
        ("1G", 10**9),
        ("1.5Gi", 3 * 2**29),
        ("128", 128),
        ("much", None),
        ("1Xi", None),
        ("1.2.3Mi", None),
    ],
)
def test_quantities(text: str, size: int | None):
    """Kubernetes quantities are bytes."""
    assert quantity(text) == size


def test_the_imported_harbour_can_be_asked(shop_session: WorldSession):
    """From the application to the setting that it mounts, by tools alone."""
    rows = ask(shop_session, "search_entities", query="berth", kinds=["Service"])["rows"]
    service = rows[0]["id"]
    rows = ask(shop_session, "get_neighbors", id=service, depth=2, direction="out")["rows"]
    assert {"crane", "berth-settings"} <= {row["name"] for row in rows}
    front = [row for row in rows if row["kind"] == "K8sService" and row["name"] == "berth"]
    assert front[0]["status"] == "3 ready endpoints"
