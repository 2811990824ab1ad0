"""The rules by name: what each refuses, and the one sentence that an edit's author is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Rule(NamedTuple):
    """``summary`` for people; ``advice`` for the author of an edit, empty where the hint is told.

    The advice is the same whatever was hit, on whichever side: what a proposer learns from a
    rejection is the rule and its own line, never how close it came to what.
    """

    summary: str
    advice: str = ""


_NAME = "Say what kind of component, not which one"

RULES: Mapping[str, Rule] = {
    "incident-identifier": Rule("A name of an incident's system, in any case or spacing", _NAME),
    "similar-identifier": Rule("A name with typos, cut short, reordered or in halves", _NAME),
    "name-in-pieces": Rule(
        "A name by its initials, in halves on lines apart, or as a pattern", _NAME
    ),
    "encoded-identifier": Rule("A name or sentence behind an encoding", _NAME),
    "incident-value": Rule(
        "The old or new value of a cause, in any unit or in words",
        "State the method without the number, or compare with a healthy sibling's value",
    ),
    "incident-phrase": Rule(
        "Words copied from a truth, an alert, a change title or a judge",
        "Write the method in your own words; this sentence tells one incident's story",
    ),
    "shape": Rule(
        "An id, address, host, date, clock time or ticket",
        "Leave the example out; a method holds for any system and any day",
    ),
    "evaluation-talk": Rule("Talk about how the brain is measured, or about one incident"),
    "answer-table": Rule("A table or list that maps alerts to causes"),
    "edit-size": Rule("An edit or brain beyond the limits of size, or with many digits"),
    "brain-format": Rule("A file, skill or tool name that does not fit"),
    "reviewer": Rule("A reviewer's model objects, or gave no answer"),
    "brain-consistency": Rule("Lines that repeat or contradict each other"),
}
"""Rules that a project adds have no entry here; their hints are told as they are."""


def advice(rule: str, hint: str) -> str:
    """What the author of an edit is told about a finding."""
    known = RULES.get(rule)
    return known.advice if known and known.advice else hint
