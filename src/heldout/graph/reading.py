"""Facts of any shape read as what they should be: observed material may say anything."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from heldout.graph.snapshot import Entity, Snapshot

Place = tuple[str, str]


def record(value: Any) -> Mapping[str, Any]:
    """The value if it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def rows(value: Any) -> list[Mapping[str, Any]]:
    """The mappings of a list, in order."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def texts(value: Any) -> list[str]:
    """The texts of a list, in order."""
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def moment(value: Any) -> int | None:
    """Microseconds of an ISO time; ``None`` where it is none."""
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    found = found.replace(tzinfo=UTC) if found.tzinfo is None else found
    return int(found.timestamp() * 1_000_000)


def minutes_since(snapshot: Snapshot, value: Any) -> float | None:
    """Minutes from an ISO time to the snapshot's now; ``None`` where it is no time."""
    then = moment(value)
    return None if then is None else (snapshot.now - then) / 60_000_000


def is_listed(snapshot: Snapshot, kind: str, place: Place) -> bool:
    """Whether all there is of a kind in a (cluster, namespace) is known."""
    cluster, namespace = place
    homes = (
        [snapshot.named("Namespace", (cluster, ""), namespace)]
        if namespace
        else [one for one in snapshot.of_kind("Cluster") if one.name == cluster]
    )
    return any(
        home is not None and kind in texts(snapshot.fact(home.id, "listed")) for home in homes
    )


def said_place(entity: Entity, said: Mapping[str, Any]) -> Place:
    """Where what a reference names should be."""
    namespace = said.get("namespace")
    return entity.cluster, namespace if isinstance(namespace, str) else ""
