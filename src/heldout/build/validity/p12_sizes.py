"""A world has the size of a real estate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heldout.build.validity import Point, Subject

RANGES: Mapping[str, tuple[int, int]] = {
    "entity": (1100, 2000),
    "change_event": (4000, 11_500),
    "log": (60_000, 165_000),
    "alert": (3, 60),
}
"""Least and most rows by table for an estate of scale 1."""


def check(subject: Subject) -> Sequence[str]:
    """Count rows; overlays on imported topologies and scaled-down worlds are exempt."""
    if subject.spec.origin == "overlay" or float(subject.spec.knobs.get("scale", 1)) < 1:
        return ()
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


POINT = Point("sizes", check)
