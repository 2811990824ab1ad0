"""Why a pod's containers ended: killed for memory, crashing, and how often they were restarted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.graph.reading import record
from heldout.graph.status.pods import pod_state
from heldout.graph.status.rule import Facts, Rule, counted, said, whole

KILLED = "OOMKilled"


def last_end(facts: Facts) -> Mapping[str, Any]:
    """The container that ended and says why: one killed for memory before others, else the most
    often restarted; empty where none does.
    """
    every = [record(one) for one in record(facts.get("container_states")).values()]
    told = [one for one in every if _reason(one)]
    told.sort(key=lambda one: (_reason(one) != KILLED, -(whole(one.get("restarts")) or 0)))
    return told[0] if told else {}


def _reason(state: Mapping[str, Any]) -> str:
    now = said(state.get("reason")) if state.get("state") == "terminated" else ""
    return now or said(state.get("last_reason"))


def _tells(facts: Facts) -> str | None:
    head, ended = pod_state(facts), last_end(facts)
    reason = _reason(ended)
    # What went well once, or crashed before a pod that is ready now, is no state of it.
    if head is None or reason in ("", "Completed", head):
        return None
    if reason != KILLED and facts.get("ready") is not False:
        return None
    parts = [head, f"last {reason}"]
    code = whole(ended.get("exit_code" if ended.get("state") == "terminated" else "last_exit_code"))
    if code is not None and reason != KILLED:
        parts[1] += f" (exit {code})"
    restarts = whole(ended.get("restarts"))
    if restarts:
        parts.append(counted(restarts, "restart"))
    return ", ".join(parts)


RULE = Rule(
    "termination",
    ("Pod",),
    "container statuses: state and lastState.terminated with reason (OOMKilled is the kernel's "
    "kill at the limit; exit code 137 alone is not), restartCount, back-off of the kubelet",
    tells=_tells,
)
