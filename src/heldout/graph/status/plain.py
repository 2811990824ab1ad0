"""What something says of its own state in one word."""

from __future__ import annotations

from heldout.graph.status.rule import Facts, Rule

_FIELDS = ("status", "state", "phase")
_LONGEST = 80


def _tells(facts: Facts) -> str | None:
    for field in _FIELDS:
        value = facts.get(field)
        if isinstance(value, str) and value:
            return value[:_LONGEST]
    return None


RULE = Rule(
    "plain",
    (),
    "the field status, state or phase of the thing itself, as its API gives it",
    tells=_tells,
)
