"""How much the probes of one proposal may ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from heldout.settings import Settings


@dataclass(frozen=True, slots=True)
class ProbeOptions:
    """Which probes run and on how much.

    ``rename`` is the number of train incidents that are rendered again, ``ablation`` how many an
    edit's lines are dropped on; 0 switches either off. Both play an incident once: more incidents
    say more than repeats. ``investigations`` caps what they cost together; they then take fewer.
    The alert-only probe asks ``repeats`` times per incident and brain, one request each, and up to
    ``looks`` times where the answers differ; it has no cap.
    """

    closed_book: bool = True
    rename: int = 6
    ablation: int = 6
    repeats: int = 2
    looks: int = 3
    investigations: int = 100

    @classmethod
    def of(cls, settings: Settings) -> ProbeOptions:
        """The options that a project's settings give."""
        return cls(**settings.behaviour.model_dump())

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> ProbeOptions:
        """The options of a stored job."""
        return cls(**data)

    def plain(self) -> dict[str, Any]:
        """Plain data for the ledger."""
        return asdict(self)
