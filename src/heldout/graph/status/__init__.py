"""What state a thing is in, derived from facts by the rules that Kubernetes follows.

One set of rules for simulated and for imported worlds, and for the checks of health: imported
manifests carry no status. A rule is one file with a :class:`Rule`; ``RULES`` says in which order
they are asked, and the first that tells something counts. Nothing follows from what is absent:
where no rule tells anything the state is ``unknown``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from heldout.graph.snapshot import Entity, Snapshot
from heldout.graph.status import (
    admission,
    dns,
    endpoints,
    finalizers,
    jobs,
    nodes,
    plain,
    pods,
    probes,
    quota,
    rollout,
    scheduling,
    termination,
    traffic,
    volumes,
)
from heldout.graph.status.endpoints import (
    is_ready,
    readiness,
    ready_endpoints,
    selected_pods,
    selects_pods,
)
from heldout.graph.status.expected import expected_pod
from heldout.graph.status.labels import label_match
from heldout.graph.status.quota import refused_by_quota
from heldout.graph.status.rule import LONGEST, UNKNOWN, Rule
from heldout.graph.status.scheduling import schedulable_on

__all__ = [
    "RULES",
    "UNKNOWN",
    "Rule",
    "expected_pod",
    "is_ready",
    "label_match",
    "readiness",
    "ready_endpoints",
    "refused_by_quota",
    "schedulable_on",
    "selected_pods",
    "selects_pods",
    "status_from_facts",
    "status_of",
]

RULES: tuple[Rule, ...] = (
    finalizers.RULE,
    termination.RULE,
    probes.RULE,
    dns.POD,
    scheduling.RULE,
    volumes.POD,
    pods.RULE,
    nodes.RULE,
    quota.RULE,
    admission.REFUSED,
    rollout.RULE,
    jobs.JOB,
    jobs.CRON_JOB,
    admission.WEBHOOK,
    dns.SERVICE,
    traffic.RULE,
    endpoints.RULE,
    volumes.RULE,
    dns.SETTINGS,
    plain.RULE,
)
"""Every rule, what ends a thing before what ails it, and what explains before what only counts."""


@lru_cache(maxsize=256)
def _of_kind(kind: str) -> tuple[Rule, ...]:
    return tuple(rule for rule in RULES if not rule.kinds or kind in rule.kinds)


def status_from_facts(kind: str, facts: Mapping[str, Any]) -> str:
    """The status that an entity's own facts tell, of any moment."""
    for rule in _of_kind(kind):
        told = rule.tells(facts)
        if told:
            return _line(told)
    return UNKNOWN


def status_of(snapshot: Snapshot, entity: Entity) -> str:
    """The status of one entity now, ``unknown`` where nothing tells it."""
    facts = snapshot.facts(entity.id)
    for rule in _of_kind(entity.kind):
        told = rule.sees(snapshot, entity) or rule.tells(facts)
        if told:
            return _line(told)
    return UNKNOWN


def _line(text: str) -> str:
    """One line of bounded length: what it quotes may be of any shape."""
    return " ".join(text.split())[:LONGEST] or UNKNOWN
