"""What a dump lists completely: only there does a name that is missing mean that nothing has it.

A cluster keeps some objects of its own in every namespace, without labels. A list that has one of
them was not narrowed by a label selector, so it holds all of each of its kinds in that namespace;
of a kind that it does not hold at all, nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from heldout.ingest.objects import CLUSTER_WIDE, K8sObject, mapping

ALWAYS_THERE: frozenset[tuple[str, str]] = frozenset(
    {("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")}
)
"""Kind and name of what a cluster keeps in every namespace."""

Listed = dict[str, set[str]]
"""By namespace, the kinds that were listed completely; those without a namespace under ``""``."""


def is_page(document: Any) -> bool:
    """Whether a document says that it is only a page of a longer list."""
    metadata = mapping(mapping(document).get("metadata"))
    return bool(metadata.get("continue") or metadata.get("remainingItemCount"))


def is_list(document: Any) -> bool:
    """Whether a document is a list of objects, and not only a page of a longer one."""
    return isinstance(mapping(document).get("items"), list) and not is_page(document)


def listed_in(objects: Iterable[K8sObject]) -> Listed:
    """What one list of objects holds completely."""
    held = [(one.entity_kind, one.place, one.name) for one in objects]
    whole = {place for kind, place, name in held if (kind, name) in ALWAYS_THERE}
    if not whole:
        return {}
    kinds = {kind for kind, _, _ in held} - {"CustomResource"}
    found: Listed = dict.fromkeys(whole, kinds - CLUSTER_WIDE)
    found[""] = kinds & CLUSTER_WIDE
    return found


def join(one: Listed, other: Mapping[str, Iterable[str]]) -> None:
    """Add what another list holds."""
    for place, kinds in other.items():
        one.setdefault(place, set()).update(kinds)
