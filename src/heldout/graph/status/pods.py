"""The phase of a pod, and the reason that its containers or the kubelet give for it."""

from __future__ import annotations

from heldout.graph.status.rule import Facts, Rule


def pod_state(facts: Facts) -> str | None:
    """A pod's state as ``kubectl get`` shows it."""
    phase, reason = facts.get("phase"), facts.get("reason")
    if isinstance(reason, str) and reason:
        return reason
    if phase == "Running" and facts.get("ready") is False:
        return "Running, not ready"
    return phase if isinstance(phase, str) else None


RULE = Rule(
    "pods",
    ("Pod",),
    "Pod lifecycle: phase and conditions; the printer of kubectl puts a container's waiting reason "
    "before the phase",
    tells=pod_state,
)
