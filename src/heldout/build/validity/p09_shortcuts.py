"""No shortcut finds the cause of a trap, and on onset controls the nearest change is the cause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from heldout.build.validity.entry import Entry
from heldout.build.validity.points import Point
from heldout.build.validity.probes import PROBES, Scene, nearest_to_onset
from heldout.build.validity.subject import Subject
from heldout.build.validity.surface import told_apart

NEAREST = "nearest to onset"
MOST_RIGHT = 0.10
"""Share of traps that a shortcut or a floor may solve."""
LEAST_ON_CONTROLS = 0.90
"""Share of onset controls on which the nearest change must be the cause."""
MOST_TOLD_APART = 0.60
"""Chance to rank a cause above an ordinary change of its type by their surface; 0.5 is none."""
FEWEST_TRAPS = 40
"""With fewer traps the shares say little, and nothing is judged by them."""


class Probe(NamedTuple):
    """How often one rule is right: on traps, on onset controls, and on all other controls."""

    name: str
    traps_right: int
    traps: int
    controls_right: int
    controls: int
    others_right: int = 0
    others: int = 0

    @property
    def share(self) -> float:
        """Of traps, 0 where there are none."""
        return self.traps_right / self.traps if self.traps else 0.0


def check(subject: Subject) -> Sequence[str]:
    """The one probe that each incident must pass by itself; the others are for a whole set."""
    if subject.spec.kind not in ("trap", "onset_control"):
        return ()
    right = nearest_to_onset(Scene(subject)) == subject.truth.culprit_change
    if subject.spec.kind == "trap" and right:
        return ("the change nearest to onset is the cause",)
    if subject.spec.kind == "onset_control" and not right:
        return ("the change nearest to onset is not the cause",)
    return ()


def probes(entries: Sequence[Entry]) -> list[Probe]:
    """Every shortcut over a set."""
    return [_counted(name, entries, [one.hits.get(name, False) for one in entries])
            for name in PROBES]  # fmt: skip


def floors(entries: Sequence[Entry]) -> list[Probe]:
    """Every floor over a set, by what it points at."""
    played = [one for one in entries if one.floors]
    names = played[0].floors if played else ()
    return [_counted(name, played, [one.floors[name] for one in played]) for name in names]


def _counted(name: str, entries: Sequence[Entry], right: Sequence[bool]) -> Probe:
    kinds: dict[str, list[bool]] = {"trap": [], "onset_control": [], "": []}
    for one, hit in zip(entries, right, strict=True):
        kinds[one.spec.kind if one.spec.kind in kinds else ""].append(hit)
    counts = [number for hits in kinds.values() for number in (sum(hits), len(hits))]
    return Probe(name, *counts)


def surface(entries: Sequence[Entry]) -> float | None:
    """How well a classifier tells causes of traps from ordinary changes, other groups' lead."""
    return told_apart([one.lineup for one in entries if one.is_trap and one.lineup is not None])


def across(entries: Sequence[Entry]) -> Sequence[str]:
    """Judge a set of at least 40 traps by its shortcuts, floors and the classifier."""
    found = []
    shortcuts = probes(entries)
    nearest = next(one for one in shortcuts if one.name == NEAREST)
    if nearest.controls and nearest.controls_right < LEAST_ON_CONTROLS * nearest.controls:
        found.append(
            f"'{NEAREST}' is right on only {nearest.controls_right} of {nearest.controls} onset "
            "controls"
        )
    if sum(one.is_trap for one in entries) < FEWEST_TRAPS:
        return found
    found += [
        f"'{one.name}' is right on {one.traps_right} of {one.traps} traps"
        for one in (*shortcuts, *floors(entries))
        if one.share > MOST_RIGHT
    ]
    apart = surface(entries)
    if apart is not None and apart > MOST_TOLD_APART:
        found.append(f"a classifier tells causes from ordinary changes with AUC {apart:.2f}")
    return found


POINT = Point("shortcuts", check, across)
