"""What is imported is in the state that its cluster would show, and in no state nobody told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.health.town import NOW, Town, snapshot_of, topology_of
from tests.ingest.manifests import SHOP, write

from heldout.graph.snapshot import Snapshot
from heldout.graph.status import status_of
from heldout.ingest.kubernetes import read, topology

Change = Callable[[Town], Any]


def statuses(snapshot: Snapshot, kind: str, stem: str = "") -> list[str]:
    """The statuses of a kind's things whose names begin so, each once."""
    return sorted({status_of(snapshot, one) for one in snapshot.of_kind(kind)
                   if one.name.startswith(stem)})  # fmt: skip


def containers_of(town: Town, **state: Any) -> None:
    """Set the status of the first container of the first pod of the application."""
    town.pods(town.app)[0]["status"]["containerStatuses"][0].update(state)


def killed(town: Town) -> None:
    """A container that is killed for memory again and again."""
    last = {"terminated": {"reason": "OOMKilled", "exitCode": 137}}
    waits = {"waiting": {"reason": "CrashLoopBackOff"}}
    containers_of(town, ready=False, restartCount=6, state=waits, lastState=last)
    town.pods(town.app)[0]["status"]["conditions"][0]["status"] = "False"


def before(town: Town) -> None:
    """An init container that cannot start."""
    status = town.pods(town.app)[0]["status"]
    status.update(phase="Pending", conditions=[], initContainerStatuses=[
        {"name": "first", "state": {"waiting": {"reason": "ImagePullBackOff"}}}])  # fmt: skip
    containers_of(town, ready=False, state={"waiting": {"reason": "PodInitializing"}})


def evicted(town: Town) -> None:
    """A pod that the kubelet ended."""
    town.pods(town.app)[0]["status"] = {"phase": "Failed", "reason": "Evicted"}


def silent(town: Town) -> None:
    """A dump without conditions and container statuses."""
    for pod in town.pods(town.app):
        pod["status"] = {"phase": "Running"}


def stalled(town: Town) -> None:
    """A rollout that passed its deadline."""
    town.one("Deployment", town.app)["status"].update(
        updatedReplicas=1, readyReplicas=1, conditions=[
            {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}])  # fmt: skip


def probing(port: Any) -> Change:
    """Readiness probes that call this port, of pods that are not ready."""

    def apply(town: Town) -> None:
        for spec in town.specs(town.app):
            spec["containers"][0]["readinessProbe"]["httpGet"]["port"] = port
        for pod in town.pods(town.app):
            pod["status"]["conditions"][0]["status"] = "False"
            pod["status"]["containerStatuses"][0]["ready"] = False

    return apply


def closed(policy: str) -> Change:
    """A webhook whose pods are not ready, and a workload that lacks a pod."""

    def apply(town: Town) -> None:
        hook = town.one("ValidatingWebhookConfiguration")["webhooks"][0]
        rule = {"operations": ["CREATE"], "apiGroups": [""], "resources": ["pods"]}
        hook.update(failurePolicy=policy, rules=[rule])
        for pod in town.pods(town.caller):
            pod["status"]["conditions"][0]["status"] = "False"
        town.items.remove(town.pods(town.app)[1])
        town.one("ReplicaSet", f"{town.app}-5f")["status"] = {"replicas": 1, "readyReplicas": 1}

    return apply


def job(**status: Any) -> Change:
    """The Job with this status."""
    return lambda town: town.one("Job").update(status=status)


FAILED = [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]


@pytest.mark.parametrize(
    ("change", "kind", "stem", "expected"),
    [
        (killed, "Pod", "app", ["CrashLoopBackOff, last OOMKilled, 6 restarts", "Running"]),
        (before, "Pod", "app", ["Init:ImagePullBackOff", "Running"]),
        (evicted, "Pod", "app", ["Evicted", "Running"]),
        (silent, "Pod", "app", ["Running"]),
        (silent, "K8sService", "app", ["unknown"]),
        (stalled, "Deployment", "app", ["1/2 ready, 1 updated, stalled (ProgressDeadlineExceeded)"]),
        (probing("http"), "Pod", "app",
         ["Running, not ready: readinessProbe calls port 'http', no port has that name"]),
        (probing(8081), "Pod", "app",
         ["Running, not ready: readinessProbe calls port 8081, its container declares 8080"]),
        (probing(8080), "Pod", "app", ["Running, not ready"]),
        (closed("Fail"), "ReplicaSet", "app",
         ["1/2 ready: webhook {app} must admit pods and nobody answers"]),
        (closed("Fail"), "Webhook", "app",
         ["Service {caller} has no ready endpoint: what it must admit is refused"]),
        (closed("Ignore"), "ReplicaSet", "app", ["1/2 ready"]),
        (closed("Ignore"), "Webhook", "app",
         ["Service {caller} has no ready endpoint: it is skipped"]),
        (job(conditions=FAILED, failed=7), "Job", "job", ["Failed: BackoffLimitExceeded"]),
        (job(active=1, failed=2), "Job", "job", ["1 active, 2 failed"]),
        (job(), "Job", "job", ["unknown"]),
        (lambda town: town.one("Job")["metadata"].update(
            deletionTimestamp="2026-03-04T08:00:00Z", finalizers=["example.test/hold"]),
         "Job", "job", ["Terminating, held by finalizer example.test/hold"]),
        (lambda town: town.one("Node", town.nodes[0])["status"]["conditions"].append(
            {"type": "DiskPressure", "status": "True"}), "Node", "node",
         ["Ready", "Ready, DiskPressure"]),
        (lambda town: town.one("Node", town.nodes[0])["status"]["conditions"].append(
            {"type": "KernelHasNoDeadlock", "status": "True"}), "Node", "node", ["Ready"]),
        (lambda town: town.add("DaemonSet", "d", spec={"template": {"spec": {"containers": []}}},
                               status={"desiredNumberScheduled": 2, "numberReady": 1}),
         "DaemonSet", "d", ["1/2 ready"]),
        (lambda town: town.add("CronJob", "c", spec={"schedule": "0 1 * * *", "suspend": True}),
         "CronJob", "c", ["Suspended"]),
    ],
)  # fmt: skip
def test_a_dump_is_in_the_state_that_it_tells(
    tmp_path: Path, change: Change, kind: str, stem: str, expected: list[str]
):
    """Each state of a live cluster is told by the rule that knows it, beside what is well."""
    town = Town(31)
    names = {"app": town.app, "caller": town.caller, "job": town.job, "node": "node-"}
    well = statuses(snapshot_of(topology_of(town, tmp_path / "well")), kind, names.get(stem, stem))
    change(town)
    found = statuses(snapshot_of(topology_of(town, tmp_path / "ill")), kind, names.get(stem, stem))
    assert found == [one.format(app=town.app, caller=town.caller) for one in expected]
    if found not in (["Running"], ["Ready"]):
        assert found != well


def test_a_claim_waits_for_its_first_pod(tmp_path: Path):
    """A class that binds late explains a pending claim; one that binds at once does not."""
    for mode, expected in (
        ("WaitForFirstConsumer", "StorageClass fast binds with the first pod that is scheduled"),
        ("Immediate", ""),
    ):
        town = Town(31)
        town.one("StorageClass")["volumeBindingMode"] = mode
        town.one("PersistentVolumeClaim")["status"] = {"phase": "Pending"}
        found = statuses(snapshot_of(topology_of(town, tmp_path / mode)), "Pvc")
        assert found == [f"Pending: {expected}" if expected else "Pending"]


NODE = """
kind: Node
metadata: {name: n1, labels: {pool: a}}
spec: {taints: [{key: gpu, effect: NoSchedule}]}
status: {allocatable: {memory: 96Mi, cpu: "1"}, conditions: [{type: Ready, status: "True"}]}
"""
PLAIN = NODE.replace("spec: {taints: [{key: gpu, effect: NoSchedule}]}\n", "").replace(
    "96Mi", "8Gi"
)
BERTH = "      serviceAccountName: berth\n"


def declared(tmp_path: Path, *texts: str) -> Snapshot:
    """What follows from some manifests."""
    for number, text in enumerate(texts):
        write(tmp_path, f"{number}.yaml", text)
    return snapshot_of(topology(read(tmp_path)), now=NOW)


@pytest.mark.parametrize(
    ("node", "old", "new", "pod", "workload"),
    [
        (PLAIN, "", "", "Running", "3/3 ready"),
        (NODE, "", "",
         "Pending: it does not tolerate the taint gpu of any known node", "0/3 ready"),
        (NODE.replace("NoSchedule", "PreferNoSchedule").replace("96Mi", "8Gi"), "", "",
         "Running", "3/3 ready"),
        (NODE, BERTH, f"{BERTH}      tolerations: [{{operator: Exists}}]\n", "Running", "3/3 ready"),
        (NODE.replace("96Mi", "32Mi"), BERTH, f"{BERTH}      tolerations: [{{operator: Exists}}]\n",
         "Pending: it requests more memory than any known node has", "0/3 ready"),
        (PLAIN, BERTH, "      nodeSelector: {pool: b}\n",
         "Pending: no known node has the labels of its nodeSelector", "0/3 ready"),
        (PLAIN, "        image: example.test/berth:1.4\n",
         "        image: x\n        readinessProbe: {httpGet: {port: web}}\n",
         "Running, not ready: readinessProbe calls port 'web', no port has that name", "0/3 ready"),
        (PLAIN, "        image: example.test/berth:1.4\n",
         "        image: x\n        ports: [{containerPort: 80}]\n"
         "        readinessProbe: {httpGet: {port: 81}}\n", "Running", "3/3 ready"),
        (PLAIN, "  replicas: 3\n", "  replicas: 70\n", "Running", "70/70 ready"),
        ("kind: Namespace\nmetadata: {name: dock}\n", BERTH, "      nodeSelector: {pool: b}\n",
         "Running", "3/3 ready"),
    ],
)  # fmt: skip
def test_a_manifest_is_in_the_state_that_follows_from_it(
    tmp_path: Path, node: str, old: str, new: str, pod: str, workload: str
):
    """Declared pods wait, or are not ready, only for what is certain of them and of known nodes."""
    found = declared(tmp_path, SHOP.replace(old, new, 1) if old else SHOP, node)
    assert statuses(found, "Pod", "berth") == [pod]
    assert statuses(found, "Deployment", "berth") == [workload]


def test_daemons_tolerate_what_others_do_not(tmp_path: Path):
    """A DaemonSet runs on a cordoned node, where the pods of a Deployment wait."""
    daemons = """
    kind: DaemonSet
    metadata: {name: watch, namespace: dock}
    spec:
      selector: {matchLabels: {app: watch}}
      template:
        metadata: {labels: {app: watch}}
        spec: {containers: [{name: a, image: b}]}
    """
    node = PLAIN + "spec: {taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]}\n"
    found = declared(tmp_path, SHOP, daemons, node)
    assert statuses(found, "DaemonSet") == ["1/1 ready"]
    assert statuses(found, "Deployment", "berth") == ["0/3 ready"]


def test_a_quota_that_refuses_is_named(tmp_path: Path):
    """A declared workload that a quota refuses says so; one that declares its memory runs."""
    quota = """
    kind: ResourceQuota
    metadata: {name: share, namespace: dock}
    spec: {hard: {requests.memory: 1Gi}}
    """
    found = declared(tmp_path, SHOP, quota)
    refused = "0/1 ready: quota share demands requests.memory, the template declares none"
    assert statuses(found, "Deployment", "crane") == [refused]
    assert statuses(found, "ReplicaSet", "crane") == ["0/1 ready"]
    assert statuses(found, "Deployment", "berth") == ["3/3 ready"]
