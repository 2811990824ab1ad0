"""What becomes of a pod that is only declared: manifests carry no status."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from heldout.graph.status.probes import never_ready
from heldout.graph.status.rule import Facts
from heldout.graph.status.scheduling import KnownNode, barrier


def expected_pod(facts: Facts, nodes: Sequence[KnownNode]) -> dict[str, Any]:
    """The phase and readiness of a declared pod with these demands.

    Pending where no known node can take it, running but not ready where its probes cannot succeed,
    else running and ready. Nothing is concluded from what a folder of manifests leaves out: without
    known nodes, and for objects that are referred to but absent, the pod is taken to run.
    """
    if barrier(facts, nodes, whole_template=True) is not None:
        return {"phase": "Pending", "ready": False}
    return {"phase": "Running", "ready": not never_ready(facts)}
