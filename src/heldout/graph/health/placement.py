"""Which nodes a waiting pod could go to, by what the scheduler looks at first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from heldout.graph.snapshot import Entity, Snapshot
from heldout.graph.status.scheduling import KnownNode, fitting


def waiting(snapshot: Snapshot) -> Iterator[tuple[Entity, Mapping[str, Any], list[KnownNode]]]:
    """Pods that the scheduler found no node for, with the nodes that their selector fits."""
    nodes: list[KnownNode] | None = None
    for pod in snapshot.of_kind("Pod"):
        facts = snapshot.facts(pod.id)
        if facts.get("unschedulable") is not True or facts.get("phase") != "Pending":
            continue
        if nodes is None:
            nodes = [(node, snapshot.facts(node.id)) for node in snapshot.of_kind("Node")]
        yield pod, facts, fitting(facts, [one for one in nodes if one[0].cluster == pod.cluster])


def names_of(nodes: Sequence[KnownNode]) -> str:
    """How many nodes, in words."""
    return "the only node that fits" if len(nodes) == 1 else f"each of {len(nodes)} nodes that fit"
