"""How far a score is, over plans that are played at the same time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a score is. ``stage`` is worlds, floors, play or done."""

    stage: str
    done: int = 0
    total: int = 0
    passed: int = 0
    failed: int = 0
    invalid: int = 0
    in_flight: int = 0
    usd: float | None = 0.0
    eta_seconds: float | None = None
    note: str = ""


OnProgress = Callable[[Progress], None]


class Merged:
    """Sums the progress of plans that are played at the same time."""

    def __init__(self, tell: OnProgress, totals: Sequence[int]) -> None:
        self.tell = tell
        self.parts = [Progress("play", total=total) for total in totals]

    def update(self, index: int, progress: Any) -> None:
        """Take over one run's progress and report the sum."""
        names = {f.name for f in fields(Progress)} - {"stage", "note"}
        values = {name: getattr(progress, name) for name in names if hasattr(progress, name)}
        self.parts[index] = Progress("play", **values)
        prices = [part.usd for part in self.parts]
        etas = [part.eta_seconds for part in self.parts if part.eta_seconds is not None]
        self.tell(
            Progress(
                "play",
                done=sum(part.done for part in self.parts),
                total=sum(part.total for part in self.parts),
                passed=sum(part.passed for part in self.parts),
                failed=sum(part.failed for part in self.parts),
                invalid=sum(part.invalid for part in self.parts),
                in_flight=sum(part.in_flight for part in self.parts),
                usd=None if None in prices else sum(price or 0.0 for price in prices),
                eta_seconds=max(etas, default=None),
            )
        )
