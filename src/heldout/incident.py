"""An incident as the agent's side of the house may know it: id, alert, world."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Incident:
    """One incident; ``world`` is the directory of its frozen world, ``digest`` its digest."""

    id: str
    set: str
    alert: str
    world: Path
    digest: str
