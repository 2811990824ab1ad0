"""One fault: what it does to a healthy cluster, what is the cause, and which channel carries it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from heldout.ingest.cases.sregym.cluster import Change, Cluster, Key

Channel = Literal["graph", "change", "logs", "metrics", "none"]
TIERS = ("graph", "logs", "metrics")
"""What a capture holds: objects and changes; events and logs too; series too."""
Tier = Literal["graph", "logs", "metrics"]


@dataclass(frozen=True, slots=True)
class Cause:
    """What a fault did: the object at fault, others that may be named, the changes to blame.

    A ``key`` of kind ``*`` is everything of that name. Without changes none may be blamed.
    """

    key: Key
    also: tuple[Key, ...] = ()
    changes: tuple[Change, ...] = ()
    field: str = ""
    affected: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of the lite list by its ``number`` in it and its registry id.

    ``channel`` is the first one that names the cause. ``synthetic`` is what was made up within
    bounds, empty where everything follows from the public injector. ``miss`` says why it is
    expected to be missed, with all channels; ``telling`` are names that tell, each with one that
    does not.
    """

    number: int
    name: str
    app: str
    family: str
    channel: Channel
    rule: str
    mechanism: str
    terms: tuple[tuple[str, ...], ...]
    inject: Callable[[Cluster], Cause]
    domain: str = "kubernetes"
    synthetic: str = ""
    miss: str = ""
    telling: dict[str, str] = field(default_factory=dict)


@cache
def faults() -> dict[str, Fault]:
    """Every fault by its registry id, in the order of the list."""
    from heldout.ingest.cases.sregym import faults as package
    from heldout.ingest.importer import registered

    found = sorted(registered(package, "FAULT").values(), key=lambda one: one.number)
    return {one.name: one for one in found}
