"""A quota of the namespace that refuses a workload's next pod."""

from __future__ import annotations

from typing import Any

from heldout.graph.quantities import amount
from heldout.graph.reading import record
from heldout.graph.snapshot import Entity, Snapshot
from heldout.graph.status.demands import requests_of
from heldout.graph.status.rollout import MAKERS, short_of_pods
from heldout.graph.status.rule import Facts, Rule

_MEMORY_DEMANDS = (
    ("requests.memory", "memory_request"),
    ("memory", "memory_request"),
    ("limits.memory", "memory_limit"),
)
_COUNTED = {"pods": "", "count/pods": "", "requests.cpu": "cpu", "cpu": "cpu",
            "requests.memory": "memory", "memory": "memory"}  # fmt: skip
"""Demands of a quota and what a pod adds to them; empty: one."""


def refused_by_quota(facts: Facts, hard: Any, *, has_defaults: bool) -> str | None:
    """The quota's demand for which a workload's next pod is refused, ``None`` where it is not.

    A declared limit also serves as the request. A field that was not observed refuses nothing.
    """
    limits = record(hard)
    if has_defaults or facts.get("replicas") == 0:
        return None
    for demand, field in _MEMORY_DEMANDS:
        if demand not in limits or field not in facts or facts[field]:
            continue
        if field == "memory_request" and facts.get("memory_limit"):
            continue
        return demand
    return None


def exceeded(facts: Facts, hard: Any, used: Any) -> str | None:
    """The quota's demand for which one more pod is too many, by what is in use already."""
    limits, taken = record(hard), record(used)
    for demand, resource in _COUNTED.items():
        most, now = amount(limits.get(demand)), amount(taken.get(demand))
        if most is None or now is None:
            continue
        asked = 1.0
        if resource:
            asked = sum(amount(one.get(resource)) or 0.0 for one in requests_of(facts))
        if asked > 0 and now + asked > most:
            return demand
    return None


def fills_in(facts: Facts) -> bool:
    """Whether a LimitRange gives memory to containers that declare none."""
    return bool(facts.get("default_memory") or facts.get("default_request_memory"))


def has_defaults(snapshot: Snapshot, place: tuple[str, str]) -> bool:
    """Whether a LimitRange of a (cluster, namespace) gives memory to what declares none."""
    return any(fills_in(snapshot.facts(one.id)) for one in snapshot.in_place("LimitRange", place))


def _sees(snapshot: Snapshot, maker: Entity) -> str | None:
    facts = snapshot.facts(maker.id)
    head = short_of_pods(facts)
    if head is None:
        return None
    place = snapshot.namespace(maker)
    defaults = has_defaults(snapshot, place)
    for quota in snapshot.in_place("ResourceQuota", place):
        known = snapshot.facts(quota.id)
        if known.get("scopes"):
            continue
        demand = refused_by_quota(facts, known.get("hard"), has_defaults=defaults)
        if demand is not None:
            return f"{head}: quota {quota.name} demands {demand}, the template declares none"
        demand = exceeded(facts, known.get("hard"), known.get("used"))
        if demand is not None:
            used, most = record(known.get("used")).get(demand), record(known.get("hard"))[demand]
            return f"{head}: quota {quota.name} is full, {used} of {most} {demand} in use"
    return None


RULE = Rule(
    "quota",
    MAKERS,
    "ResourceQuota admission: a pod must declare what the quota counts (a LimitRange may fill it "
    "in, a limit is also the request) and must fit into what is left; quotas with scopes count "
    "some pods only and are left out",
    sees=_sees,
)
