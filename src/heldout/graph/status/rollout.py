"""How many of a workload's pods are ready, and whether its rollout goes on."""

from __future__ import annotations

from heldout.graph.reading import record
from heldout.graph.snapshot import Entity, Snapshot
from heldout.graph.status.rule import Facts, Rule, said, whole

MAKERS = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")


def ready_of_wanted(facts: Facts) -> str | None:
    """``2/3 ready``; ``None`` where either count is unknown."""
    wanted, ready = whole(facts.get("replicas")), whole(facts.get("ready_replicas"))
    if wanted == 0:
        return "scaled to zero"
    return None if wanted is None or ready is None else f"{ready}/{wanted} ready"


def lacks_pods(facts: Facts) -> bool:
    """Whether fewer pods were made than are wanted, where both were observed."""
    want, made = whole(facts.get("replicas")), whole(facts.get("made_replicas"))
    return want is not None and made is not None and made < want


def short_of_pods(facts: Facts) -> str | None:
    """What a workload says that lacks pods, before the reason; ``None`` where it lacks none."""
    if not lacks_pods(facts):
        return None
    return ready_of_wanted(facts) or f"{facts['made_replicas']}/{facts['replicas']} made"


def _tells(facts: Facts) -> str | None:
    counts, wanted = ready_of_wanted(facts), whole(facts.get("replicas"))
    if counts is None or wanted == 0:
        return counts
    parts = [counts]
    updated = whole(facts.get("updated_replicas"))
    if updated is not None and wanted is not None and updated < wanted:
        parts.append(f"{updated} updated")
    progress = record(facts.get("progressing"))
    if facts.get("paused") is True:
        parts.append("paused")
    elif progress.get("status") == "False":
        parts.append(f"stalled ({said(progress.get('reason')) or 'not progressing'})")
    return ", ".join(parts)


def _sees(snapshot: Snapshot, entity: Entity) -> str | None:
    """Of a ReplicaSet without pods: which other one of its Deployment has them."""
    if entity.kind != "ReplicaSet" or whole(snapshot.fact(entity.id, "replicas")) != 0:
        return None
    for owner in snapshot.out(entity.id, "controlled_by"):
        for other in snapshot.into(owner.id, "controlled_by"):
            if other.kind == "ReplicaSet" and (whole(snapshot.fact(other.id, "replicas")) or 0) > 0:
                return f"scaled to zero, {owner.name} runs {other.name}"
    return None


RULE = Rule(
    "rollout",
    MAKERS,
    "Deployment status: replicas, updatedReplicas, readyReplicas, spec.paused, and the Progressing "
    "condition (ProgressDeadlineExceeded); an old ReplicaSet is kept at zero for a rollback",
    tells=_tells,
    sees=_sees,
)
