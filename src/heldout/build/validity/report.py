"""Validating a whole set: every incident with its twins, then all side by side, and a summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from heldout.build.similarity import THRESHOLD, groups, most_alike
from heldout.build.validity.entry import Entry, examine
from heldout.build.validity.p09_shortcuts import (
    FEWEST_TRAPS,
    LEAST_ON_CONTROLS,
    MOST_RIGHT,
    MOST_TOLD_APART,
    NEAREST,
    Probe,
    floors,
    probes,
    surface,
)
from heldout.build.validity.points import points, set_findings
from heldout.build.validity.subject import Subject
from heldout.build.worlds import make, mapped
from heldout.errors import HeldoutError
from heldout.split import read_split
from heldout.truth import Spec

BROKEN = "broken"
"""What an incident is filed under that cannot be made at all."""


@dataclass(frozen=True, slots=True)
class ValidityReport:
    """What the gate found in a set. ``findings`` are sentences led by incident and point.

    ``passed_over`` counts recorded incidents, which have no twins and no generator to ask.
    """

    name: str
    entries: tuple[Entry, ...]
    findings: tuple[str, ...]
    passed_over: int = 0
    discards: Mapping[str, int] = field(default_factory=dict)

    @property
    def valid(self) -> int:
        """How many incidents no point objects to."""
        return sum(not one.found for one in self.entries) + self.passed_over

    def lines(self) -> list[str]:
        """For people: points, discards, shortcuts, floors, likeness, and how many are valid."""
        return [
            f"{self.name}: {len(self.entries)} incidents examined with their twins"
            + (f", {self.passed_over} recorded ones passed over" if self.passed_over else ""),
            *self._point_lines(),
            *self._discard_lines(),
            *self._probe_lines(),
            *self._pair_lines(),
            *(f"  finding: {one}" for one in self.findings),
            f"{self.valid} valid incidents",
        ]

    def _point_lines(self) -> list[str]:
        objects = Counter(one.split(" ", 1)[1].split(":")[0] for one in self.findings)
        rows = [
            f"  {number:>2} {name:<12} {objects[name]:>3} findings"
            for number, name in enumerate(points(), 1)
        ]
        if objects[BROKEN]:
            rows.append(f"     {BROKEN:<12} {objects[BROKEN]:>3} findings")
        return rows

    def _discard_lines(self) -> list[str]:
        if not self.discards:
            return []
        ranked = sorted(self.discards.items(), key=lambda one: (-one[1], one[0]))
        total = sum(self.discards.values())
        return [
            f"  discarded while the set was made: {total}",
            *(f"     {count:>3} x {why}" for why, count in ranked),
        ]

    def _probe_lines(self) -> list[str]:
        judged = sum(one.is_trap for one in self.entries) >= FEWEST_TRAPS
        word = "at most" if judged else "not judged in so small a set; else at most"
        rows = [f"  right answers by a shortcut ({word} {MOST_RIGHT:.0%} of traps)"]
        rows += [_line(one) for one in probes(self.entries)]
        rows.append(f"     '{NEAREST}' must be right on {LEAST_ON_CONTROLS:.0%} of onset controls")
        rows.append("  right answers by a floor, through the tools")
        rows += [
            f"{_line(one)}, {one.others_right} of {one.others} other controls"
            for one in floors(self.entries)
        ]
        apart = surface(self.entries)
        shown = "not measured" if apart is None else f"AUC {apart:.3f}"
        rows.append(
            f"  causes told from ordinary changes by their surface: {shown} "
            f"(at most {MOST_TOLD_APART:.2f}, chance is 0.50)"
        )
        return rows

    def _pair_lines(self) -> list[str]:
        portraits = [one.portrait for one in self.entries]
        sides = {one.spec.id: one.side for one in self.entries}
        sizes = Counter(groups(portraits).values()).values()
        return [
            f"  groups of alike incidents: {len(sizes)}, the largest of {max(sizes, default=0)}; "
            f"most alike across the sides: {most_alike(portraits, sides):.2f} "
            f"(below {THRESHOLD:.2f})"
        ]


def _line(probe: Probe) -> str:
    share = f"{probe.traps_right:>3} of {probe.traps} traps ({probe.share:.0%})"
    controls = f"{probe.controls_right} of {probe.controls} onset controls"
    return f"     {probe.name:<32} {share:<22} {controls}"


class _Task(NamedTuple):
    """One incident to examine, as a worker process gets it."""

    spec: Spec
    directory: Path
    folder: Path | None
    side: int


def validate_set(
    specs: Sequence[Spec],
    directory: Path,
    workers: int = 2,
    *,
    worlds: Path | None = None,
    discards: Mapping[str, int] | None = None,
) -> ValidityReport:
    """Examine the incidents of the set in ``directory`` in ``workers`` processes.

    With ``worlds`` (the cache of written worlds) those that stand there are looked at through the
    tools as they are. Nothing is raised for an invalid incident: the report says what is wrong.
    """
    split = read_split(directory)
    chosen = [spec for spec in specs if spec.is_drawn]
    tasks = [
        _Task(spec, directory, _folder(worlds, spec), int(split.side_of(spec.id) == "test"))
        for spec in chosen
    ]
    entries: list[Entry] = []
    found: list[str] = []
    for task, result in zip(tasks, mapped(_examined, tasks, workers), strict=True):
        if isinstance(result, str):
            found.append(f"{task.spec.id} {BROKEN}: {result}")
        else:
            entries.append(result)
            found += [f"{task.spec.id} {one}" for one in result.found]
    found += [f"{directory.name} {one}" for one in set_findings(entries)]
    return ValidityReport(
        directory.name, tuple(entries), tuple(found), len(specs) - len(chosen), discards or {}
    )


def _folder(worlds: Path | None, spec: Spec) -> Path | None:
    if worlds is None or not spec.world_digest:
        return None
    folder = worlds / spec.world_digest
    return folder if folder.is_dir() else None


def _examined(task: _Task) -> Entry | str:
    try:
        made = make(task.spec, task.directory)
    except HeldoutError as error:
        return str(error)
    return examine(Subject(task.spec, made, folder=task.folder), task.side)
