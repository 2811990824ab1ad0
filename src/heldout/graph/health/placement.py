"""Which nodes a waiting pod could go to, by what the scheduler looks at first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from heldout.graph.health.reading import record, rows, texts
from heldout.graph.snapshot import Entity, Snapshot
from heldout.graph.status import label_match, schedulable_on

REPELLING = ("NoSchedule", "NoExecute")
KnownNode = tuple[Entity, Mapping[str, Any]]


def waiting(snapshot: Snapshot) -> Iterator[tuple[Entity, Mapping[str, Any], list[KnownNode]]]:
    """Pods that the scheduler found no node for, with the nodes that their selector fits."""
    nodes: list[KnownNode] | None = None
    for pod in snapshot.of_kind("Pod"):
        facts = snapshot.facts(pod.id)
        if facts.get("unschedulable") is not True or facts.get("phase") != "Pending":
            continue
        if nodes is None:
            nodes = [(node, snapshot.facts(node.id)) for node in snapshot.of_kind("Node")]
        near = [
            (node, known)
            for node, known in nodes
            if node.cluster == pod.cluster and isinstance(known.get("labels"), Mapping)
        ]
        fit = {node.id for node in schedulable_on(facts.get("node_selector"), near)}
        yield pod, facts, [one for one in near if one[0].id in fit]


def suits(terms: Any, node: Entity, known: Mapping[str, Any]) -> bool:
    """Whether a node satisfies one of the terms of a required node affinity."""
    return not rows(terms) or any(_term(term, node, known) for term in rows(terms))


def _term(term: Mapping[str, Any], node: Entity, known: Mapping[str, Any]) -> bool:
    """Operators that compare numbers are taken to hold: labels may not be read as they mean."""
    labels = known.get("labels")
    by_label = [one for one in rows(term.get("matchExpressions"))
                if one.get("operator") not in ("Gt", "Lt")]  # fmt: skip
    by_field = rows(term.get("matchFields"))
    return label_match({"matchExpressions": by_label}, labels) and label_match(
        {"matchExpressions": by_field}, {"metadata.name": node.name}
    )


def untolerated(tolerations: Any, known: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The taints of a node that keep a pod away."""
    return [
        taint
        for taint in rows(known.get("taints"))
        if taint.get("effect") in REPELLING
        and not any(_tolerates(one, taint) for one in rows(tolerations))
    ]


def _tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    if toleration.get("effect") not in (None, "", taint.get("effect")):
        return False
    key = toleration.get("key")
    if toleration.get("operator") == "Exists":
        return key in (None, "", taint.get("key"))
    return key == taint.get("key") and (toleration.get("value") or "") == (taint.get("value") or "")


def names_of(nodes: Sequence[KnownNode]) -> str:
    """How many nodes, in words."""
    return "the only node that fits" if len(nodes) == 1 else f"each of {len(nodes)} nodes that fit"


def requests_of(facts: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What each container of a pod requests; a limit alone is also the request."""
    said = record(facts.get("container_resources"))
    names = texts(facts.get("containers")) or list(said)
    return [
        {**record(record(said.get(name)).get("limits")),
         **record(record(said.get(name)).get("requests"))}
        for name in names
    ]  # fmt: skip
