"""A Job that has done its work and does not end, because a sidecar still runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from heldout.graph.health import Finding
from heldout.graph.health.reading import minutes_since, record, texts
from heldout.graph.snapshot import Snapshot

PATIENCE_MINUTES = 10.0
"""How long other containers may go on after the first has ended, before it is a fault."""


@dataclass(frozen=True, slots=True)
class SidecarBlocksCompletion:
    """Fires when a Job's pod has an ended first container and others that never end."""

    name: str = "sidecar-blocks-completion"
    needs: tuple[str, ...] = ("container_states", "containers")
    silent_when: str = (
        "the pod is not of a Job; the first container still runs or ended with an error; it ended "
        f"less than {PATIENCE_MINUTES:.0f} minutes ago (others may finish too); what runs on is an "
        "init container that restarts (a sidecar that Kubernetes ends itself)"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each such pod."""
        for pod in snapshot.of_kind("Pod"):
            states = record(snapshot.fact(pod.id, "container_states"))
            if len(states) < 2 or snapshot.fact(pod.id, "phase") != "Running":
                continue
            order = texts(snapshot.fact(pod.id, "containers"))
            main = record(states.get(order[0])) if order else {}
            jobs = [one for one in snapshot.out(pod.id, "controlled_by") if one.kind == "Job"]
            others = sorted(
                name
                for name, state in states.items()
                if name in order[1:] and record(state).get("state") == "running"
            )
            if jobs and others and _ended_long_ago(snapshot, main):
                yield Finding(
                    self.name,
                    pod.id,
                    "critical",
                    f"container {order[0]} has ended well and {others[0]} still runs: Job "
                    f"{jobs[0].name} cannot complete",
                    ("container_states", "containers"),
                )


def _ended_long_ago(snapshot: Snapshot, state: Mapping[str, Any]) -> bool:
    since = minutes_since(snapshot, state.get("finished_at"))
    ended = state.get("state") == "terminated" and state.get("exit_code") == 0
    return ended and since is not None and since >= PATIENCE_MINUTES


CHECK = SidecarBlocksCompletion()
