"""One score's held-out traps by domain, trap and difficulty, with a warning where they are few."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heldout.build.labels import Labels, label, read_labels
from heldout.errors import HeldoutError
from heldout.score import Score
from heldout.settings import Settings
from heldout.stats import Interval, tango_interval

FEW = 10
"""Paired incidents below which a group has no rate worth printing."""
KINDS = ("domain", "trap", "difficulty")
UNLABELLED = "not labelled"
_ORDER = ("never", "seldom", "often", "always", UNLABELLED)


@dataclass(frozen=True, slots=True)
class Segment:
    """Held-out traps that have something in common. Counts are of paired incidents.

    ``seen_in_train`` is ``None`` where the question has no meaning.
    """

    kind: str
    name: str
    incidents: int
    paired: int
    before: int
    after: int
    fixed: int
    broken: int
    seen_in_train: bool | None = None

    @property
    def difference(self) -> Interval | None:
        """After minus before, Tango's score interval; ``None`` without a pair."""
        return tango_interval(self.fixed, self.broken, self.paired) if self.paired else None

    @property
    def few(self) -> bool:
        """True when a share of them would say next to nothing."""
        return self.paired < FEW

    @property
    def warning(self) -> str:
        """What stands in the place of a rate; empty for a group of some size."""
        if not self.paired:
            return "none paired"
        return "few" if self.few else ""


@dataclass(frozen=True, slots=True)
class Segments:
    """The groups of one score, and what must be said of them as a whole."""

    rows: tuple[Segment, ...]
    notes: tuple[str, ...]


def segments_of(settings: Settings, score: Score) -> Segments:
    """Domains and traps as the score counted them, difficulty from the set's labels."""
    rows = [
        Segment(
            one.kind, one.name, one.incidents, one.paired, one.before, one.after, one.fixed,
            one.broken, one.seen_in_train,
        )
        for kind in KINDS
        for one in score.breakdown
        if one.kind == kind
    ]  # fmt: skip
    labels, note = _labels(settings, score.set)
    if labels is not None:
        rows += _by_difficulty(score, labels)
    if not rows:
        return Segments((), ())
    notes = [
        f"{len(rows)} groups, without a test: some stand out by chance alone. An incident may be "
        "in several."
    ]
    if any(row.few for row in rows):
        notes.insert(0, f"few: fewer than {FEW} incidents. Read the counts; a rate says nothing.")
    if not any(row.kind == "domain" for row in rows):
        notes.append("By domain: not recorded by the version that made this score.")
    return Segments(tuple(rows), (*notes, note))


def _labels(settings: Settings, name: str) -> tuple[Labels | None, str]:
    try:
        labels = read_labels(settings.set_dir(name))
    except HeldoutError as error:
        return None, f"By difficulty: {error.what}."
    if labels is None:
        return None, "By difficulty: the set has no labels ('heldout build --harden-against')."
    return labels, (
        f"Difficulty: how often {labels.model} solved it in {labels.repeats} repeats on "
        f"{labels.measured}, apart from any score. What was never solved can only rise, and some "
        "of what it rises is luck."
    )


def _by_difficulty(score: Score, labels: Labels) -> Iterable[Segment]:
    groups: dict[str, list[str]] = {}
    for one in score.incidents:
        if one.trap:
            rate = labels.rates.get(one.incident)
            name = UNLABELLED if rate is None else label(rate)
            groups.setdefault(name, []).append(one.cell)
    for name in sorted(groups, key=_ORDER.index):
        cells = groups[name]
        fixed, broken, both = (cells.count(cell) for cell in ("fixed", "broken", "both"))
        shown = name if name == UNLABELLED else f"{name} solved"
        yield Segment(
            "difficulty", shown, len(cells), len(cells) - cells.count("unpaired"), both + broken,
            both + fixed, fixed, broken,
        )  # fmt: skip
