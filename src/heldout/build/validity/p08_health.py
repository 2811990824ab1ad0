"""Checks of declared state cry no wolf, and give no cause away that its record does not admit."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from heldout.build.validity.points import Point
from heldout.build.validity.subject import Subject
from heldout.graph import check_health
from heldout.graph.schema import WorldTables
from heldout.graph.snapshot import Edge, Entity, Snapshot
from heldout.simulate import Generated


def check(subject: Subject) -> Sequence[str]:
    """No finding in the healthy twin, and in the world none but what the fault declares."""
    declared = subject.plot.binding.fault.health
    found = [f"the world shows: {text}" for text in _findings(subject.made, declared)]
    healthy = _findings(subject.twin("no_cause"), ())
    return found + [f"the healthy twin shows: {text}" for text in healthy]


def _findings(made: Generated, declared: Collection[str]) -> list[str]:
    found = check_health(snapshot(made.tables))
    return [f"{one.check} {one.text}" for one in found if one.check not in declared][:3]


def snapshot(tables: WorldTables) -> Snapshot:
    """The state of a world's tables at its now."""
    columns = tables.columns
    names = ("src", "pred", "dst", "valid_from", "valid_to", "observed_at", "provenance",
             "confidence", "source")  # fmt: skip
    facts: dict[str, dict[str, str]] = {}
    fact = columns["fact"]
    for entity, field, value, end, seen in zip(
        fact["entity_id"], fact["field"], fact["value_json"], fact["valid_to"],
        fact["observed_at"], strict=True,
    ):  # fmt: skip
        if end > tables.now and seen <= tables.now:
            facts.setdefault(entity, {})[field] = value
    return Snapshot(
        [Entity(*row) for row in zip(*(columns["entity"][n] for n in Entity._fields), strict=True)],
        [Edge(*row) for row in zip(*(columns["edge"][name] for name in names), strict=True)],
        lambda: facts,
        tables.now,
    )


POINT = Point("health", check)
