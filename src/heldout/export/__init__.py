"""What can be taken away from the ledger, of the train half only: one file a format."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from heldout.canaries import Watch
from heldout.errors import UsageError
from heldout.export.chat import Chat
from heldout.export.inspect_log import InspectLog
from heldout.export.lines import Guard
from heldout.export.rl import Rewards
from heldout.export.source import Exported, Source
from heldout.export.tables import Tables
from heldout.export.trajectories import Trajectories
from heldout.export.writing import staged
from heldout.settings import Settings
from heldout.store import Ledger


class Format(Protocol):
    """One way to write runs down."""

    name: str

    def write(self, source: Source, path: Path, guard: Guard) -> int:
        """Write ``path``, which does not exist yet; return how many investigations it holds."""
        ...


FORMATS = ("chat", "rl", "parquet", "inspect", "trajectory")


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be exported. ``everything`` lets failed conversations into ``chat`` too.

    Without ``runs`` Parquet holds every run over train; the other formats need one.
    """

    kind: str
    runs: tuple[str, ...]
    out: Path
    arm: str = ""
    everything: bool = False
    force: bool = False

    def format(self) -> Format:
        """The format that was named."""
        made: dict[str, Format] = {
            "chat": Chat(everything=self.everything),
            "rl": Rewards(),
            "parquet": Tables(),
            "inspect": InspectLog(),
            "trajectory": Trajectories(),
        }
        if self.kind not in made:
            raise UsageError(f"'{self.kind}' is no format", mend=f"Known: {', '.join(FORMATS)}")
        return made[self.kind]


def export(settings: Settings, ledger: Ledger, order: Order, watch: Watch) -> int:
    """Write runs of the train half to ``order.out`` and return how many investigations it holds.

    A run that touches the held-out half is a :class:`~heldout.errors.SplitViolation`, a canary in
    what would be written a :class:`~heldout.errors.CanaryFound`; then nothing is written.
    """
    form = order.format()
    if not order.runs and order.kind != "parquet":
        raise UsageError("which run?", mend="Name one or more with --run")
    source = Source(settings, ledger, order.runs, order.arm)
    guard = Guard(watch)
    with staged(order.out, force=order.force) as path:
        return form.write(source, path, guard)


__all__ = [
    "FORMATS",
    "Exported",
    "Format",
    "Order",
    "Source",
    "export",
]
