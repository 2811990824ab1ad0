"""One change as a source tells of it, before it is known which entities it is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from heldout.ingest.fields import fields_of
from heldout.ingest.objects import K8sObject, mapping

LONGEST_VALUE = 2_000
MAX_FIELDS = 60


class CloudTarget(NamedTuple):
    """A resource of a cloud: the shape of its type where one is known, its id and ARN."""

    shape: str
    local: str
    arn: str = ""
    account: str = ""
    region: str = ""


class ClusterTarget(NamedTuple):
    """An object of a cluster; ``namespace`` is empty where it lives in none."""

    kind: str
    namespace: str
    name: str
    cluster: str = ""


Target = CloudTarget | ClusterTarget


class Moved(NamedTuple):
    """A field that went from one value to another; None where it was or is not there."""

    field: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class Change:
    """One change: ``key`` names it, so that the same one told twice is told once.

    ``attempted`` says why it did not happen, where it did not; then it moved nothing. ``moved``
    is of the first target. ``files`` are those that a commit touched.
    """

    key: str
    at: int
    type: str
    actor: str
    actor_kind: str
    source: str
    summary: str
    targets: tuple[Target, ...] = ()
    moved: tuple[Moved, ...] = ()
    attempted: str = ""
    repo: str = ""
    commit: str = ""
    pr: str = ""
    others: Mapping[Target, tuple[Moved, ...]] = field(default_factory=dict)


def flat(value: Any, prefix: str = "", depth: int = 0) -> dict[str, Any]:
    """A nested value as fields by their paths; lists and what is deep or long stay whole."""
    if not isinstance(value, Mapping) or depth > 6 or not value:
        return {prefix: value} if prefix else {}
    found: dict[str, Any] = {}
    for key, inner in value.items():
        found |= flat(inner, f"{prefix}.{key}" if prefix else str(key), depth + 1)
    return found


def moves(old: Any, new: Any) -> tuple[Moved, ...]:
    """The fields in which two states of one thing differ, by name; at most ``MAX_FIELDS``."""
    before, after = flat(old or {}), flat(new or {})
    names = sorted({*before, *after})
    found = [
        Moved(name, _short(before.get(name)), _short(after.get(name)))
        for name in names
        if before.get(name) != after.get(name)
    ]
    return tuple(found[:MAX_FIELDS])


def object_moves(old: K8sObject | None, new: K8sObject | None) -> tuple[Moved, ...]:
    """The fields in which two states of a Kubernetes object differ, as a world calls them.

    Where the world's fields are equal and the objects are not, the object's own paths are told.
    """
    before, after = (dict(fields_of(one)) if one else {} for one in (old, new))
    found = [
        Moved(name, _short(before.get(name)), _short(after.get(name)))
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name) and name not in ("namespace", "name")
    ]
    return tuple(found[:MAX_FIELDS]) or moves(
        *(_settings(one) if one else {} for one in (old, new))
    )


def _settings(item: K8sObject) -> dict[str, Any]:
    kept = {key: value for key, value in item.body.items()
            if key not in ("status", "apiVersion", "kind", "metadata")}  # fmt: skip
    metadata = mapping(item.body.get("metadata"))
    kept["metadata"] = {key: metadata[key] for key in ("labels", "annotations", "finalizers")
                        if key in metadata}  # fmt: skip
    return kept


def _short(value: Any) -> Any:
    if isinstance(value, str) and len(value) > LONGEST_VALUE:
        return value[:LONGEST_VALUE]
    return value
