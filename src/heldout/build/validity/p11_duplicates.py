"""Near-duplicates stand on one side, and no name of a cause stands on both."""

from __future__ import annotations

from collections.abc import Sequence

from heldout.build.similarity import crossings
from heldout.build.validity.entry import Entry
from heldout.build.validity.points import Point


def across(entries: Sequence[Entry]) -> Sequence[str]:
    """Every pair of incidents on different sides."""
    sides = {one.spec.id: one.side for one in entries}
    return crossings([one.portrait for one in entries], sides)


POINT = Point("duplicates", across=across)
