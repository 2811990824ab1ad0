"""Why a pod waits for a node, by what the scheduler looks at first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from heldout.graph.quantities import amount
from heldout.graph.reading import record, rows
from heldout.graph.snapshot import Entity, Snapshot
from heldout.graph.status.demands import requested
from heldout.graph.status.labels import label_match
from heldout.graph.status.rule import Facts, Rule, said

REPELLING = ("NoSchedule", "NoExecute")
DAEMONS_TOLERATE = tuple(
    {"key": f"node.kubernetes.io/{word}", "operator": "Exists"}
    for word in (
        "not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure",
        "unschedulable",
    )
)  # fmt: skip
"""What the DaemonSet controller adds to the tolerations of its pods."""
KnownNode = tuple[Entity, Mapping[str, Any]]


def schedulable_on(node_selector: Any, nodes: Iterable[KnownNode]) -> list[Entity]:
    """The nodes that satisfy a pod's ``nodeSelector``; labels alone, not capacity or taints."""
    return [node for node, facts in nodes if label_match(node_selector or {}, facts.get("labels"))]


def suits(terms: Any, node: Entity, known: Facts) -> bool:
    """Whether a node satisfies one of the terms of a required node affinity."""
    return not rows(terms) or any(_term(term, node, known) for term in rows(terms))


def _term(term: Mapping[str, Any], node: Entity, known: Facts) -> bool:
    """Operators that compare numbers are taken to hold: labels may not be read as they mean."""
    labels = known.get("labels")
    by_label = [one for one in rows(term.get("matchExpressions"))
                if one.get("operator") not in ("Gt", "Lt")]  # fmt: skip
    by_field = rows(term.get("matchFields"))
    return label_match({"matchExpressions": by_label}, labels) and label_match(
        {"matchExpressions": by_field}, {"metadata.name": node.name}
    )


def untolerated(tolerations: Any, known: Facts) -> list[Mapping[str, Any]]:
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


def labelled(nodes: Iterable[KnownNode]) -> list[KnownNode]:
    """The nodes whose labels were observed; of others nothing can be said."""
    return [one for one in nodes if isinstance(one[1].get("labels"), Mapping)]


def fitting(facts: Facts, nodes: Iterable[KnownNode]) -> list[KnownNode]:
    """The nodes that a pod's selector fits, of those whose labels are known."""
    near = labelled(nodes)
    fit = {node.id for node in schedulable_on(facts.get("node_selector"), near)}
    return [one for one in near if one[0].id in fit]


def beyond(facts: Facts, nodes: Sequence[KnownNode], resource: str) -> bool:
    """Whether a pod requests more than any of these nodes has, even empty."""
    room = [amount(record(known.get("allocatable")).get(resource)) for _, known in nodes]
    most = [one for one in room if one is not None]
    return bool(room) and len(most) == len(room) and requested(facts, resource) > max(most)


def barrier(facts: Facts, nodes: Iterable[KnownNode], *, whole_template: bool) -> str | None:
    """What keeps a pod off every known node; ``None`` where one may take it or none is known.

    Unless the ``whole_template`` is known, that no toleration was observed means nothing.
    """
    near = labelled(nodes)
    fit = fitting(facts, near)
    if not fit:
        return "no known node has the labels of its nodeSelector" if near else None
    fit = [one for one in fit if suits(facts.get("node_affinity"), *one)]
    if not fit:
        return "no known node satisfies its node affinity"
    kept_off = [untolerated(facts.get("tolerations"), known) for _, known in fit]
    if whole_template and all(kept_off):
        return f"it does not tolerate the taint {said(kept_off[0][0].get('key'))} of any known node"
    for resource in ("cpu", "memory"):
        if beyond(facts, fit, resource):
            return f"it requests more {resource} than any known node has"
    return None


def _sees(snapshot: Snapshot, pod: Entity) -> str | None:
    facts = snapshot.facts(pod.id)
    if facts.get("phase") != "Pending" or facts.get("node") or said(facts.get("reason")):
        return None
    near = [
        (node, snapshot.facts(node.id))
        for node in snapshot.of_kind("Node")
        if node.cluster == pod.cluster
    ]
    is_whole = facts.get("unschedulable") is True or "tolerations" in facts
    why = barrier(facts, near, whole_template=is_whole)
    return f"Pending: {why}" if why else None


RULE = Rule(
    "scheduling",
    ("Pod",),
    "kube-scheduler's filters NodeAffinity (nodeSelector and required terms), TaintToleration and "
    "NodeResourcesFit against allocatable; room that other pods take is not counted",
    sees=_sees,
)
