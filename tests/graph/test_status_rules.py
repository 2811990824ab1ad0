"""Each rule of status tells what its facts tell, and nothing where they do not."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.graph.test_status import snapshot_of
from tests.graph.worlds import NOW, Builder

import heldout.graph.status as package
from heldout.graph.ontology import K8S_KINDS, KINDS
from heldout.graph.snapshot import Snapshot
from heldout.graph.status import RULES, UNKNOWN, Rule, readiness, status_from_facts, status_of
from heldout.graph.status.expected import expected_pod
from heldout.graph.status.rule import LONGEST

RUNNING = {"phase": "Running", "ready": True}
UNREADY = {"phase": "Running", "ready": False}
WANTS = {"replicas": 3, "ready_replicas": 1}


def ended(now: str = "waiting", **said: Any) -> dict[str, Any]:
    """States of one container that ended before."""
    return {"container_states": {"main": {"state": now, **said}}}


def test_every_rule_stands_in_the_list_and_names_its_source():
    """A rule that a file defines is asked, under a name of its own, for kinds that there are."""
    defined = {
        id(rule)
        for info in pkgutil.iter_modules(package.__path__)
        for rule in vars(importlib.import_module(f"{package.__name__}.{info.name}")).values()
        if isinstance(rule, Rule)
    }
    assert defined == {id(rule) for rule in RULES}
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert all(set(rule.kinds) <= set(KINDS) and len(rule.source) > 40 for rule in RULES)


@pytest.mark.parametrize("kind", K8S_KINDS)
def test_of_nothing_nothing_is_known(kind: str):
    """Without facts the state of any kind is unknown."""
    assert status_from_facts(kind, {}) == UNKNOWN


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (ended(last_reason="OOMKilled", last_exit_code=137, restarts=7)
         | {"phase": "Running", "ready": False, "reason": "CrashLoopBackOff"},
         "CrashLoopBackOff, last OOMKilled, 7 restarts"),
        (RUNNING | ended("running", last_reason="OOMKilled", restarts=1),
         "Running, last OOMKilled, 1 restart"),
        ({"phase": "Failed", "ready": False} | ended("terminated", reason="OOMKilled"),
         "Failed, last OOMKilled"),
        (UNREADY | {"reason": "CrashLoopBackOff"} | ended(last_reason="Error", last_exit_code=3),
         "CrashLoopBackOff, last Error (exit 3)"),
        # A kill by signal is none for memory, and what ended before a pod was ready is over.
        (RUNNING | ended("running", last_exit_code=137, restarts=2), "Running"),
        (RUNNING | ended("running", last_reason="Error", restarts=2), "Running"),
        (UNREADY | ended("running", last_reason="Completed"), "Running, not ready"),
    ],
)  # fmt: skip
def test_the_last_end_of_a_container_is_told(facts: dict[str, Any], expected: str):
    """A pod says that it was killed for memory, and how often it came back."""
    assert status_from_facts("Pod", facts) == expected


PROBE = {"container": "main", "probe": "readinessProbe"}
PORT = {"container": "main", "port": 8080, "name": "web"}


@pytest.mark.parametrize(
    ("probe", "facts", "expected"),
    [
        ({"port": "http"}, UNREADY,
         "Running, not ready: readinessProbe calls port 'http', no port has that name"),
        ({"port": 8081}, UNREADY,
         "Running, not ready: readinessProbe calls port 8081, its container declares 8080"),
        ({"port": "8080"}, UNREADY, "Running, not ready"),
        ({"port": "web"}, UNREADY, "Running, not ready"),
        ({"port": 8081}, RUNNING, "Running"),
        ({"port": "http", "container": "other"}, UNREADY
         | {"container_states": {"other": {"state": "running", "ready": True}}},
         "Running, not ready"),
        ({"port": 8081, "probe": "livenessProbe"}, UNREADY, "Running, not ready"),
    ],
)  # fmt: skip
def test_a_probe_explains_a_pod_that_is_not_ready(
    probe: dict[str, Any], facts: dict[str, Any], expected: str
):
    """A port that the container lacks is named, where the pod was seen not to be ready."""
    said = {"probe_ports": [PROBE | probe], "container_ports": [PORT]}
    assert status_from_facts("Pod", facts | said) == expected


@pytest.mark.parametrize(
    ("probe", "ready"),
    [
        ({"port": "http"}, False),
        ({"port": "http", "probe": "startupProbe"}, False),
        ({"port": "web"}, True),
        # A number need not be declared, and a liveness probe that errs restarts nothing.
        ({"port": 8081}, True),
        ({"port": "http", "probe": "livenessProbe"}, True),
    ],
)
def test_a_declared_pod_is_ready_unless_its_probe_cannot_succeed(
    probe: dict[str, Any], ready: bool
):
    """Of manifests only a name that no port has makes a pod run and not be ready."""
    facts = {"probe_ports": [PROBE | probe], "container_ports": [PORT]}
    assert expected_pod(facts, []) == {"phase": "Running", "ready": ready}


@pytest.mark.parametrize(
    ("kind", "facts", "expected"),
    [
        ("Deployment", WANTS | {"updated_replicas": 1}, "1/3 ready, 1 updated"),
        ("Deployment", WANTS | {"updated_replicas": 3}, "1/3 ready"),
        ("Deployment", WANTS | {"paused": True}, "1/3 ready, paused"),
        ("Deployment",
         WANTS | {"progressing": {"status": "False", "reason": "ProgressDeadlineExceeded"}},
         "1/3 ready, stalled (ProgressDeadlineExceeded)"),
        ("Deployment", WANTS | {"progressing": {"status": "True"}}, "1/3 ready"),
        ("StatefulSet", {"replicas": 0, "paused": True}, "scaled to zero"),
        ("DaemonSet", {"replicas": True, "ready_replicas": 1}, UNKNOWN),
        ("Job", {"status": "Failed", "ended_because": "BackoffLimitExceeded", "failed": 7},
         "Failed: BackoffLimitExceeded"),
        ("Job", {"status": "Complete", "ended_because": "CompletionsReached"}, "Complete"),
        ("Job", {"active": 1, "failed": 2, "completions": 5}, "1 active, 2 failed, 5 wanted"),
        ("Job", {"suspend": True}, "Suspended"),
        ("Job", {"active": 0}, UNKNOWN),
        ("CronJob", {"suspend": True, "active": 1}, "Suspended, 1 job active"),
        ("CronJob", {"suspend": False, "schedule": "0 * * * *"}, "Scheduled at 0 * * * *"),
        ("CronJob", {"schedule": "0 * * * *"}, UNKNOWN),
        ("Pod", RUNNING | {"deleting_since": "2026-03-04T11:00:00Z"}, "Terminating"),
        ("Secret", {"deleting_since": "2026-03-04T11:00:00Z", "finalizers": ["a/x", "b/y"]},
         "Terminating, held by finalizer a/x and 1 more"),
        ("Secret", {"finalizers": ["a/x"]}, UNKNOWN),
        ("Node", {"ready": True, "pressures": ["DiskPressure"]}, "Ready, DiskPressure"),
        ("Node", {"pressures": ["DiskPressure"]}, UNKNOWN),
        ("Pvc", {"phase": "Lost"}, "Lost: its volume is gone"),
        ("Pod", RUNNING | {"dns_policy": "None"},
         "Running, resolves no name (dnsPolicy None, no server)"),
        ("Pod", RUNNING | {"dns_policy": "None", "dns_config": {"nameservers": ["10.0.0.9"]}},
         "Running"),
        ("Pod", RUNNING | {"dns_policy": "ClusterFirst",
                           "dns_config": {"options": [{"name": "ndots", "value": "5"}]}},
         "Running"),
        ("K8sService", {"type": "ExternalName", "external_name": "db.example.test"},
         "an alias of db.example.test"),
    ],
)  # fmt: skip
def test_own_facts_tell_a_state(kind: str, facts: dict[str, Any], expected: str):
    """Rollouts, Jobs, deletions, nodes, claims and resolvers say what is the matter with them."""
    assert status_from_facts(kind, facts) == expected


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (RUNNING, True),
        (UNREADY, False),
        ({"phase": "Pending"}, False),
        ({"phase": "Unknown", "ready": False}, False),
        (RUNNING | {"deleting_since": "2026-03-04T11:00:00Z"}, False),
        ({"phase": "Running"}, None),
        ({"ready": True}, None),
        ({"phase": "Unknown"}, None),
    ],
)
def test_readiness_has_three_answers(facts: dict[str, Any], expected: bool | None):
    """What was not observed of a pod is not taken for a yes or a no."""
    assert readiness(facts) is expected


FIELDS = (
    "phase", "ready", "reason", "deleting_since", "finalizers", "container_states", "containers",
    "probe_ports", "container_ports", "dns_policy", "dns_config", "node_selector", "tolerations",
    "node_affinity", "taints", "allocatable", "labels", "pressures", "replicas", "made_replicas",
    "ready_replicas", "updated_replicas", "progressing", "pod_labels", "hard", "used", "scopes",
    "references", "webhooks", "selector", "type", "external_name", "internal_traffic_policy",
    "external_traffic_policy", "node", "access_modes", "active", "failed", "suspend", "schedule",
    "status", "ended_because", "data.Corefile", "volumeBindingMode", "ready_endpoints", "listed",
    "container_resources", "memory_request", "publish_not_ready", "namespace",
)  # fmt: skip
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**40), 2**40), st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12), st.sampled_from(("Running", "Pending", "Local", "None", "Fail", "Terminating",
                                           "app", "x" * 5_000, "\x1b[31m<b>\n")),
)  # fmt: skip
KEYS = st.one_of(
    st.text(max_size=6),
    st.sampled_from(("kind", "name", "rules", "state", "reason", "last_reason", "container", "port",
                     "probe", "matchLabels", "matchExpressions", "key", "operator", "values",
                     "main", "pods", "memory", "nameservers", "failurePolicy")),
)  # fmt: skip
ANY = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
)


@st.composite
def hostile(draw: st.DrawFn) -> Snapshot:
    """A cluster whose things are connected as they may be and say anything."""
    build = Builder()
    kinds = ("Pod", "ReplicaSet", "Deployment", "Job", "Node", "Namespace", "Pvc", "Webhook",
             "K8sService", "ResourceQuota", "StorageClass", "ConfigMap", "CronJob")  # fmt: skip
    for number, kind in enumerate(kinds, start=1):
        name = draw(st.sampled_from(("coredns", "kube-dns", "dock", "x")))
        facts = draw(st.dictionaries(st.sampled_from(FIELDS), ANY, max_size=12))
        build.entity(number, kind, name, **{"namespace": "dock", **facts})
    for src, dst in ((1, 2), (2, 3), (1, 4)):
        build.edge(src, "controlled_by", dst)
    build.edge(1, "mounts", 7)
    return snapshot_of(build, NOW)


@settings(max_examples=120, deadline=None)
@given(hostile())
def test_facts_of_any_shape_give_one_short_line(snapshot: Snapshot):
    """Whatever facts hold, every thing has a status of one line and bounded length."""
    for entity in snapshot.entities.values():
        for told in (
            status_of(snapshot, entity),
            status_from_facts(entity.kind, snapshot.facts(entity.id)),
        ):
            assert told
            assert len(told) <= LONGEST
            assert told == " ".join(told.split())
        assert set(expected_pod(snapshot.facts(entity.id), [])) == {"phase", "ready"}
