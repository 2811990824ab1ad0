"""The rules of status say of a simulated world what its symptoms are, and nothing of its cause."""

from __future__ import annotations

import re

import pytest
from tests.simulate.small import small_spec

from heldout.build.validity.p08_health import snapshot
from heldout.graph.status import status_of
from heldout.simulate.world import assemble, plot_of

UNPLACED = "Pending: no known node has the labels of its nodeSelector"
"""What the scheduler says of such a pod, and the fault's record admits."""
READY = re.compile(r"(\d+)/\1 ready")
FORMS = {
    "Pod": re.compile(f"Running|Running, not ready|Pending|{UNPLACED}"),
    "K8sService": re.compile(r"\d+ ready endpoints"),
    "Node": re.compile(r"Ready|Ready, cordoned|NotReady"),
    "Pvc": re.compile("Bound"),
    "Job": re.compile("Complete"),
    "Namespace": re.compile("Active"),
    **dict.fromkeys(("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"), READY),
    **dict.fromkeys(("Webhook", "CronJob", "ConfigMap", "ResourceQuota", "Ingress", "Secret"),
                    re.compile("unknown")),
}  # fmt: skip
"""Every status of these kinds that a simulated world shows."""


@pytest.mark.parametrize(
    ("fault", "symptom"),
    [
        ("volume_lock", "Pending"),
        ("node_selector", UNPLACED),
        ("resolver_policy", "Running, not ready"),
        ("renamed_key", "Running, not ready"),
        ("webhook_closed", ""),
        ("memory_quota", ""),
        ("local_traffic", ""),
    ],
)
def test_a_status_shows_symptoms_and_no_cause(fault: str, symptom: str):
    """Each thing has a status of a known form, and pods that fail say only that they do."""
    spec = small_spec(fault, seed=7)
    found: dict[str, set[str]] = {}
    state = snapshot(assemble(spec, plot_of(spec), lean=True).tables)
    for entity in state.entities.values():
        found.setdefault(entity.kind, set()).add(status_of(state, entity))
    for kind, form in FORMS.items():
        assert [one for one in found.get(kind, ()) if not form.fullmatch(one)] == [], kind
    assert not symptom or symptom in found["Pod"]
