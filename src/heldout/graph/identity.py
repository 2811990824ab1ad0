"""One object under several ids: what was deleted and applied again keeps its history.

An object is known by its kind, cluster, namespace and name; each time it is made anew it gets an id
of its own. Entities that agree in all four and whose lives do not overlap are *incarnations* of one
object. The tools join them: the history of an incarnation takes in that of the ones before it.

A world says so in its tables. ``gone`` is when the old incarnation was deleted and ``born`` when
the new one was applied, ``gone <= born``:

``entity``         the old one's ``last_seen`` is ``gone``, the new one's ``first_seen`` is
                   ``born``; kind, name and cluster are equal, and so is the fact ``namespace`` or
                   what the two are ``part_of``
``fact``, ``edge`` what held of the old one ends at ``gone``; every fact of the new one, changed
                   or not, begins at ``born`` with the applying change as its ``event_id``
``change_event``   one that deletes at ``gone`` and one that applies at ``born``; a replacement is
                   one event for both
``change_target``  the old one with role ``deleted``, the new one with role ``applied``
``change_diff``    of the applying event and the new one, the rows of :func:`reapplied_diff`; the
                   deletion has none
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

APART = ("namespace", "custom_kind")
"""Fields that tell entities of one kind, name and cluster apart."""

_HOMES = ("Namespace", "CloudAccount", "Region", "Vpc")
"""What an entity without a namespace may be part of and be told apart by."""


class FieldDiff(NamedTuple):
    """One field's step; ``None`` where it was or is absent."""

    field: str
    old: Any
    new: Any


def reapplied_diff(
    old_facts: Mapping[str, Any], new_facts: Mapping[str, Any]
) -> tuple[FieldDiff, ...]:
    """What differs between an object as it was deleted and as it was applied, by field.

    Takes the decoded values of both incarnations by field; a field that only one of them has
    differs from ``None``.
    """
    return tuple(
        FieldDiff(field, old_facts.get(field), new_facts.get(field))
        for field in sorted(old_facts.keys() | new_facts.keys())
        if old_facts.get(field) != new_facts.get(field)
    )


class Life(NamedTuple):
    """One incarnation, from its first to its last moment in microseconds."""

    id: str
    first_seen: int
    last_seen: int


class Incarnations:
    """Which entities are one object. An entity without others has no entry here."""

    def __init__(self, chains: Iterable[Sequence[Life]]) -> None:
        self._chains: dict[str, tuple[Life, ...]] = {}
        for chain in chains:
            if len(chain) > 1:
                self._chains.update(dict.fromkeys((life.id for life in chain), tuple(chain)))

    def all(self, entity: str) -> tuple[Life, ...]:
        """Every incarnation of the object, oldest first; empty where there is only this one."""
        return self._chains.get(entity, ())

    def until(self, entity: str) -> tuple[str, ...]:
        """The ids of the earlier incarnations, oldest first, and of this one."""
        ids = [life.id for life in self.all(entity)]
        return (*ids[: ids.index(entity)], entity) if ids else (entity,)

    def successor(self, entity: str) -> str | None:
        """The incarnation that came after this one, ``None`` where none did."""
        ids = [life.id for life in self.all(entity)]
        after = ids[ids.index(entity) + 1 :] if ids else []
        return after[0] if after else None

    def same(self, one: str, other: str) -> bool:
        """Whether two ids are of one object."""
        return one == other or any(life.id == other for life in self.all(one))

    def at(self, entity: str, moment: int) -> str | None:
        """This incarnation or the earlier one that existed at ``moment``, ``None`` where none did.

        An entity without earlier incarnations is its own at any time.
        """
        ids = self.until(entity)
        for life in reversed(self.all(entity)[: len(ids)]):
            if life.first_seen <= moment:
                replaced = self.successor(life.id) is not None
                return None if replaced and moment >= life.last_seen else life.id
        return ids[0]

    @property
    def replaced(self) -> frozenset[str]:
        """Every entity that a later incarnation replaced."""
        return frozenset(one for one in self._chains if self.successor(one) is not None)


def chained(lives: Iterable[Life]) -> list[list[Life]]:
    """Lives of one key in chains; those that overlap are different things.

    Each life continues the one that ended last before it began.
    """
    chains: list[list[Life]] = []
    for life in sorted(lives, key=lambda one: (one.first_seen, one.last_seen, one.id)):
        ended = [chain for chain in chains if chain[-1].last_seen <= life.first_seen]
        if ended:
            max(ended, key=lambda chain: (chain[-1].last_seen, chain[-1].id)).append(life)
        else:
            chains.append([life])
    return chains


class Named(NamedTuple):
    """What an entity is known by, and its life."""

    kind: str
    name: str
    cluster: str
    life: Life


def incarnations(
    entities: Iterable[Named], homes: Callable[[Collection[str]], Mapping[str, str]]
) -> Incarnations:
    """Which of the entities are one object.

    ``homes`` tells of given ids where they live (see :func:`homes_of`); it is asked only about
    those that share kind, name and cluster, if there are any.
    """
    alike: dict[tuple[str, str, str], list[Life]] = {}
    for one in entities:
        alike.setdefault((one.kind, one.name, one.cluster), []).append(one.life)
    groups = [lives for lives in alike.values() if len(lives) > 1]
    known = homes([life.id for lives in groups for life in lives]) if groups else {}
    chains: list[list[Life]] = []
    for lives in groups:
        by_home: dict[str, list[Life]] = {}
        for life in lives:
            by_home.setdefault(known.get(life.id, ""), []).append(life)
        chains += [chain for together in by_home.values() for chain in chained(together)]
    return Incarnations(chains)


def homes_of(
    facts: Iterable[tuple[str, str, str]], belongs: Iterable[tuple[str, str, str]]
) -> dict[str, str]:
    """Where entities live: the namespace, else what they are part of; and their custom kind.

    Takes (entity, field, JSON) of their facts at any time, and (entity, kind, name) of whatever
    they are or were part of.
    """
    found: dict[str, set[str]] = {}
    placed = set()
    for entity, field, value in facts:
        if field in APART:
            found.setdefault(entity, set()).add(f"{field} {value}")
            placed.update([entity] * (field == "namespace"))
    for entity, kind, name in belongs:
        if kind in _HOMES and entity not in placed:
            found.setdefault(entity, set()).add(f"{kind} {name}")
    return {entity: "\n".join(sorted(texts)) for entity, texts in found.items()}
