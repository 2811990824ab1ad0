"""The closed vocabulary in which a report is read: faults, traps, kinds, what woke the cause."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from heldout.build.pool import usable
from heldout.floors import rank
from heldout.simulate.fault import Fault, faults
from heldout.simulate.trap import traps
from heldout.truth import KINDS
from heldout.truth.specs import Kind

TRIGGERS: Mapping[str, str] = {
    "load": "more traffic or work than before",
    "restart": "processes or pods that started anew",
    "node": "nodes that were added, drained or replaced",
    "event": "something that came by itself: an expiry, a schedule, a failover, another party",
    "none": "nothing further: it bit when it landed",
    "unknown": "the report does not say",
}
"""What woke a cause."""
KIND_TEXTS: Mapping[Kind, str] = {
    "trap": "a change of ours that lay dormant or is easily missed",
    "onset_control": "a change of ours that took effect at once: the newest one is to blame",
    "no_change": "no change of ours explains it: load, a provider, hardware",
    "no_fault": "nothing was broken, or it was over before anybody looked",
    "unanswerable": "a change of ours, but what is recorded cannot prove it",
}
NONE = "none"
"""Instead of a fault: none works this way."""


class Near(NamedTuple):
    """A fault that comes near to a report: its name, and its mechanism in a sentence."""

    fault: str
    mechanism: str


def trigger_of(fault: Fault) -> str:
    """The word of :data:`TRIGGERS` for what wakes a fault."""
    if fault.trigger.load > 1:
        return "load"
    return {"pod": "restart", "node": "node"}.get(fault.trigger.type, "event")


def kinds_of(fault: str) -> list[Kind]:
    """The kinds of incident that a fault can make."""
    return [kind for kind in KINDS if any(one.name == fault for one in usable(kind))]


@cache
def choosable() -> tuple[Fault, ...]:
    """Faults that an incident of some kind can be made of, by name."""
    return tuple(one for name, one in faults().items() if kinds_of(name))


def plain_mechanism(fault: Fault) -> str:
    """A fault's mechanism without its placeholders."""
    text = fault.mechanism
    for name, word in (("said", fault.said), ("old", "one value"), ("new", "another")):
        text = text.replace("{" + name + "}", word)
    return text.replace("{holder}", "it").replace("{seat}", "the service")


def trap_texts() -> dict[str, str]:
    """Every trap with what it does, in the sentence that leads its module."""
    return {
        name: (sys.modules[trap.compose.__module__].__doc__ or "").strip().split("\n")[0]
        for name, trap in traps().items()
    }


def vocabulary() -> dict[str, Any]:
    """Everything that an answer may be made of, as plain data for a prompt or a page."""
    return {
        "faults": [
            {
                "name": one.name, "mechanism": plain_mechanism(one), "domain": one.domain,
                "family": one.family, "kinds": kinds_of(one.name), "woken_by": trigger_of(one),
            }
            for one in choosable()
        ],
        "traps": trap_texts(),
        "triggers": dict(TRIGGERS),
        "kinds": dict(KIND_TEXTS),
    }  # fmt: skip


def nearest(text: str, count: int = 5) -> list[Near]:
    """The faults whose records share most with a text, by the words that few records have.

    It ranks, it does not judge: whether one of them works the same way is for a reader to say.
    """
    known = choosable()
    scores = rank(text, [_document(one) for one in known])
    order = sorted(range(len(known)), key=lambda at: (-scores[at], known[at].name))
    return [Near(known[at].name, plain_mechanism(known[at])) for at in order[:count]]


def _document(fault: Fault) -> str:
    parts = (
        fault.mechanism, fault.fix, fault.said, fault.field, fault.family, fault.source,
        fault.trigger.prose, fault.trigger.summary, *fault.logs,
        *(term for terms in fault.terms for term in terms),
    )  # fmt: skip
    return " ".join(parts)
