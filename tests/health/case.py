"""How a case is written: the change that makes a fault in a healthy town, and look-alikes of it.

A fault starts from the healthy town. A look-alike is applied to a town with or without the fault,
and must leave nothing to find.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.health.town import Town

Change = Callable[[Town], Any]


@dataclass(frozen=True)
class Case:
    """A check, its fault, how often it is told, and legal things that look like it."""

    check: str
    fault: Change
    alike: dict[str, Change]
    """What each look-alike is, with what is changed on top of the fault."""


CASES: list[Case] = []


def case(check: str, fault: Change, **alike: Change) -> None:
    """Add a case."""
    CASES.append(Case(check, fault, alike))


def healthy(*changes: Change) -> Change:
    """A look-alike that needs no fault: the marker makes the test start from a healthy town."""

    def apply(town: Town) -> None:
        for change in changes:
            change(town)

    apply.from_healthy = True  # type: ignore[attr-defined]
    return apply


def scaled_down(town: Town, name: str) -> None:
    """A workload with no pods by choice."""
    for pod in town.pods(name):
        town.items.remove(pod)
    for maker in town.makers(name):
        maker["spec"]["replicas"] = 0
        maker["status"] = {}


def unlisted(kind: str) -> Change:
    """As if this kind had not been asked for at all."""

    def apply(town: Town) -> None:
        town.items[:] = [one for one in town.items if one["kind"] != kind]

    return apply


def envs(town: Town) -> list[list[dict[str, Any]]]:
    return [spec["containers"][0]["env"] for spec in town.specs(town.app)]


def server(town: Town, name: str) -> list[dict[str, Any]]:
    return [spec["containers"][0] for spec in town.specs(name)]


def bare_listing(town: Town) -> None:
    """A listing without anything that shows it to be whole."""
    town.drop("ConfigMap", "kube-root-ca.crt")
    town.drop("ServiceAccount", "default")


def unready(town: Town, name: str) -> None:
    for pod in town.pods(name):
        pod["status"]["conditions"][0]["status"] = "False"
    for maker in town.makers(name):
        maker["status"]["readyReplicas"] = 0
