"""A Job that has done its work and does not end, because a sidecar still runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from heldout.graph.health import Finding
from heldout.graph.reading import minutes_since, record, texts
from heldout.graph.snapshot import Snapshot
from heldout.graph.status.jobs import running_beside

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
            facts = snapshot.facts(pod.id)
            others = running_beside(facts) if facts.get("phase") == "Running" else []
            if not others:
                continue
            main = texts(facts.get("containers"))[0]
            jobs = [one for one in snapshot.out(pod.id, "controlled_by") if one.kind == "Job"]
            if jobs and _ended_long_ago(snapshot, record(facts["container_states"])[main]):
                yield Finding(
                    self.name,
                    pod.id,
                    "critical",
                    f"container {main} has ended well and {others[0]} still runs: Job "
                    f"{jobs[0].name} cannot complete",
                    ("container_states", "containers"),
                )


def _ended_long_ago(snapshot: Snapshot, state: Mapping[str, Any]) -> bool:
    since = minutes_since(snapshot, state.get("finished_at"))
    return since is not None and since >= PATIENCE_MINUTES


CHECK = SidecarBlocksCompletion()
