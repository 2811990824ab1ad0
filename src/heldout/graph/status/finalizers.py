"""What was deleted and is still there, and what holds it."""

from __future__ import annotations

from heldout.graph.ontology import K8S_KINDS
from heldout.graph.owners import is_wanted
from heldout.graph.reading import texts
from heldout.graph.snapshot import Entity, Snapshot
from heldout.graph.status.rule import Facts, Rule, counted, said

TERMINATING = "Terminating"
OBJECTS = (*K8S_KINDS, "HelmRelease", "GitOpsApplication")
"""Kinds that are objects of a cluster, and are deleted as such."""


def held_by(facts: Facts) -> list[str]:
    """The finalizers that something waits for which was deleted."""
    return texts(facts.get("finalizers")) if said(facts.get("deleting_since")) else []


def protector(snapshot: Snapshot, entity: Entity) -> str | None:
    """What keeps a deleted claim or volume there on purpose, in words."""
    if entity.kind == "Pvc":
        for one in snapshot.into(entity.id, "mounts"):
            if one.kind == "Pod" and is_wanted(snapshot, one):
                return f"in use by pod {one.name}"
    if entity.kind == "PersistentVolume" and snapshot.fact(entity.id, "phase") == "Bound":
        return "bound to a claim"
    return None


def _tells(facts: Facts) -> str | None:
    if not said(facts.get("deleting_since")):
        return None
    holding = held_by(facts)
    if not holding:
        return TERMINATING
    more = f" and {len(holding) - 1} more" if len(holding) > 1 else ""
    return f"{TERMINATING}, held by finalizer {holding[0]}{more}"


def _sees(snapshot: Snapshot, entity: Entity) -> str | None:
    facts = snapshot.facts(entity.id)
    if entity.kind == "Namespace" and (
        said(facts.get("deleting_since")) or facts.get("phase") == TERMINATING
    ):
        held = _held_in(snapshot, entity)
        if held:
            such = f"{held[0].kind} {held[0].name}"
            things = counted(len(held), "thing")
            return f"{TERMINATING}, held by {things} with finalizers (such as {such})"
    if held_by(facts):
        why = protector(snapshot, entity)
        return f"{TERMINATING}, {why}" if why else None
    return None


def _held_in(snapshot: Snapshot, namespace: Entity) -> list[Entity]:
    place = (namespace.cluster, namespace.name)
    return [
        one
        for kind in OBJECTS
        if kind != "Namespace"
        for one in snapshot.in_place(kind, place)
        if held_by(snapshot.facts(one.id))
    ]


RULE = Rule(
    "finalizers",
    OBJECTS,
    "object deletion: metadata.deletionTimestamp with finalizers left keeps an object; claims in "
    "use and bound volumes are protected; a namespace ends after everything in it",
    tells=_tells,
    sees=_sees,
)
