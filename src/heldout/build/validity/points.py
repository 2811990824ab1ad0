"""What a point of the gate is, and how the points are found and run."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heldout.build.validity.entry import Entry
    from heldout.build.validity.subject import Subject


def _nothing(_: object) -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Point:
    """One point of the gate: its name, what it finds wrong with an incident, and with a set.

    An empty answer is a good one.
    """

    name: str
    check: Callable[[Subject], Sequence[str]] = _nothing
    across: Callable[[Sequence[Entry]], Sequence[str]] = _nothing


@cache
def points() -> Mapping[str, Point]:
    """Every point by name, in the order of their files (``p01_replay.py`` and so on)."""
    package = import_module("heldout.build.validity")
    found = {}
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda one: one.name):
        if info.name[0] == "p" and info.name[1:3].isdigit():
            point: Point = import_module(f"{package.__name__}.{info.name}").POINT
            found[point.name] = point
    return found


def findings(subject: Subject) -> list[str]:
    """Everything that is wrong with one incident, each sentence led by its point's name."""
    return [
        f"{name}: {sentence}"
        for name, point in points().items()
        for sentence in point.check(subject)
    ]


def set_findings(entries: Sequence[Entry]) -> list[str]:
    """Everything that is wrong with a set as a whole, each sentence led by its point's name."""
    return [
        f"{name}: {sentence}"
        for name, point in points().items()
        for sentence in point.across(entries)
    ]
