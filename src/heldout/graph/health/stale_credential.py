"""A pod that holds a credential in its environment from before the Secret was written anew."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heldout.graph.health import Finding
from heldout.graph.owners import ENDED
from heldout.graph.reading import moment, record, rows, said_place
from heldout.graph.snapshot import Entity, Snapshot


@dataclass(frozen=True, slots=True)
class StaleCredential:
    """Fires when a container with a Secret's key in its environment started before its last write.

    The environment is fixed when a container starts.
    """

    name: str = "stale-credential"
    needs: tuple[str, ...] = ("data_written_at", "container_states")
    silent_when: str = (
        "the Secret is mounted as files (they are refreshed); the container started later; when "
        "its data were written or when the container started was not observed"
    )

    def findings(self, snapshot: Snapshot) -> Iterable[Finding]:
        """One finding for each pod and Secret."""
        for pod in snapshot.of_kind("Pod"):
            if snapshot.fact(pod.id, "phase") in ENDED:
                continue
            told: set[str] = set()
            for said in rows(snapshot.fact(pod.id, "references")):
                container, _, rest = str(said.get("via")).partition(".env")
                name = said.get("name")
                if said.get("kind") != "Secret" or not rest or not isinstance(name, str):
                    continue
                secret = snapshot.named("Secret", said_place(pod, said), name)
                if secret is None or name in told:
                    continue
                if _is_older(snapshot, pod, container, secret):
                    told.add(name)
                    yield Finding(
                        self.name,
                        secret.id,
                        "warning",
                        f"written after container {container} of pod {pod.name} started, which "
                        "still has the former values in its environment",
                        ("data_written_at",),
                    )


def _is_older(snapshot: Snapshot, pod: Entity, container: str, secret: Entity) -> bool:
    state = record(record(snapshot.fact(pod.id, "container_states")).get(container))
    started = moment(state.get("started_at"))
    written = moment(snapshot.fact(secret.id, "data_written_at"))
    running = state.get("state") == "running"
    return running and started is not None and written is not None and started < written


CHECK = StaleCredential()
