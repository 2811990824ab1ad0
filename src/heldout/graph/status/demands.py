"""What a pod, or a template of pods, asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.graph.quantities import amount
from heldout.graph.reading import record, texts
from heldout.graph.status.rule import Facts

_TOTALS = {"cpu": ("cpu_request", "cpu_limit"), "memory": ("memory_request", "memory_limit")}


def requests_of(facts: Facts) -> list[Mapping[str, Any]]:
    """What each container of a pod requests; a limit alone is also the request."""
    known = record(facts.get("container_resources"))
    names = texts(facts.get("containers")) or list(known)
    return [
        {**record(record(known.get(name)).get("limits")),
         **record(record(known.get(name)).get("requests"))}
        for name in names
    ]  # fmt: skip


def requested(facts: Facts, resource: str) -> float:
    """What all containers request of one resource; what is not declared adds nothing.

    Where the containers were not observed one by one, the total counts.
    """
    if isinstance(facts.get("container_resources"), Mapping):
        return sum(amount(one.get(resource)) or 0.0 for one in requests_of(facts))
    for field in _TOTALS.get(resource, ()):
        total = amount(facts.get(field))
        if total is not None:
            return total
    return 0.0
