"""A world has the size of a real estate, and comes out with the digests its spec pins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heldout.build.validity.points import Point
from heldout.build.validity.subject import Subject
from heldout.truth import truth_digest

RANGES: Mapping[str, tuple[int, int]] = {
    "entity": (1100, 2000),
    "change_event": (4000, 11_500),
    "log": (60_000, 165_000),
    "alert": (3, 60),
}
"""Least and most rows by table for an estate of scale 1."""


def check(subject: Subject) -> Sequence[str]:
    """Count rows and compare digests.

    Overlays on imported topologies and scaled-down worlds are exempt from the sizes.
    """
    return [*_sizes(subject), *_digests(subject)]


def _sizes(subject: Subject) -> list[str]:
    if subject.spec.origin == "overlay" or float(subject.spec.knobs.get("scale", 1)) < 1:
        return []
    found = []
    tables = subject.view.tables
    for name, (least, most) in RANGES.items():
        if name == "log":
            count = sum(len(block.ts) for block in tables.logs) + len(tables.lines)
        else:
            count = len(next(iter(tables.columns[name].values())))
        if not least <= count <= most:
            found.append(f"{count} rows of {name}, outside {least} to {most}")
    return found


def _digests(subject: Subject) -> list[str]:
    """What a frozen spec pins is what it makes."""
    spec = subject.spec
    found = []
    if spec.world_digest and subject.refused is None and subject.digest != spec.world_digest:
        found.append("the world differs from the digest in its spec")
    if spec.truth_digest and truth_digest(subject.truth) != spec.truth_digest:
        found.append("the truth differs from the digest in its spec")
    return found


POINT = Point("sizes", check)
