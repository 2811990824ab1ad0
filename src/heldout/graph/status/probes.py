"""A probe that calls a port which its container does not have."""

from __future__ import annotations

from typing import NamedTuple

from heldout.graph.reading import record, rows
from heldout.graph.status.rule import Facts, Rule, said

_GATES = ("readinessProbe", "startupProbe")
"""Probes without whose success a container never becomes ready."""


class Called(NamedTuple):
    """A port that a probe calls: a name, or a number written as text."""

    container: str
    probe: str
    port: str

    @property
    def is_number(self) -> bool:
        """Whether the port is a number, which nobody has to declare."""
        return self.port.isdigit()


def _called(facts: Facts) -> list[Called]:
    return [
        Called(str(one.get("container")), str(one.get("probe")), str(one.get("port")))
        for one in rows(facts.get("probe_ports"))
    ]


def _declared(facts: Facts, container: str, field: str) -> list[str]:
    return [
        str(one[field])
        for one in rows(facts.get("container_ports"))
        if str(one.get("container")) == container and one.get(field) is not None
    ]


def lost_ports(facts: Facts) -> list[Called]:
    """Probes whose port is a name that their own container gives to no port."""
    return [
        one
        for one in _called(facts)
        if not one.is_number and one.port not in _declared(facts, one.container, "name")
    ]


def undeclared_ports(facts: Facts) -> list[Called]:
    """Probes that call a number beside all that their container declares.

    Declaring is optional, so this proves nothing; it explains what was seen not to be ready.
    """
    found = []
    for one in _called(facts):
        declared = _declared(facts, one.container, "port")
        if one.is_number and declared and one.port not in declared:
            found.append(one)
    return found


def never_ready(facts: Facts) -> bool:
    """Whether a probe that must succeed first cannot, so that the pod runs and is never ready."""
    return any(one.probe in _GATES for one in lost_ports(facts))


def _tells(facts: Facts) -> str | None:
    if facts.get("phase") != "Running" or facts.get("ready") is not False:
        return None
    if said(facts.get("reason")):
        return None
    for one in lost_ports(facts):
        if _is_suspect(facts, one):
            return f"Running, not ready: {one.probe} calls port '{one.port}', no port has that name"
    for one in undeclared_ports(facts):
        if _is_suspect(facts, one):
            declared = ", ".join(_declared(facts, one.container, "port")[:3])
            return (
                f"Running, not ready: {one.probe} calls port {one.port}, its container declares "
                f"{declared}"
            )
    return None


def _is_suspect(facts: Facts, one: Called) -> bool:
    """Whether the probe keeps its container from being ready, as far as that is known."""
    state = record(record(facts.get("container_states")).get(one.container))
    return one.probe in _GATES and state.get("ready") is not True


RULE = Rule(
    "probes",
    ("Pod",),
    "kubelet's prober: a named port must be one of the container's, an error counts as no result, "
    "and readiness starts as failed; numbers need not be declared, so one that differs from all "
    "declared ports explains a pod that was seen not to be ready and proves nothing else",
    tells=_tells,
)
