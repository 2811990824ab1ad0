"""What a rule of status is, and how facts of odd types are read by all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from heldout.graph.snapshot import Entity, Snapshot

UNKNOWN = "unknown"
LONGEST = 160
"""Of a status no more is told: names and reasons come from outside and may be of any length."""

Facts = Mapping[str, Any]


def untold(_facts: Facts) -> str | None:
    """What a rule tells that needs more than an entity's own facts."""
    return None


def unseen(_snapshot: Snapshot, _entity: Entity) -> str | None:
    """What a rule sees that needs an entity's own facts alone."""
    return None


@dataclass(frozen=True, slots=True)
class Rule:
    """How the state of some kinds follows from facts; ``None`` where they do not tell it.

    ``tells`` reads an entity's own facts, of any moment; ``sees`` also what stands around it now,
    and comes first. No ``kinds`` are all. ``source`` is what of Kubernetes the rule follows.
    """

    name: str
    kinds: tuple[str, ...]
    source: str
    tells: Callable[[Facts], str | None] = untold
    sees: Callable[[Snapshot, Entity], str | None] = unseen


def whole(value: Any) -> int | None:
    """The value if it is a whole number; truth is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def said(value: Any) -> str:
    """The value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def counted(number: int, one: str, more: str = "") -> str:
    """A number with its word."""
    return f"{number} {one if number == 1 else more or one + 's'}"
