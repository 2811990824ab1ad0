"""What a tuning job tells while it runs and when it ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from heldout.brain import Brain
from heldout.edit import Edit

Status = Literal["saturated", "budget", "nothing_new", "aborted"]
"""``saturated``: train has no failure left; ``budget``: rounds, lines or a cap are used up;
``nothing_new``: no failure cluster is left that an edit could be found for; ``aborted``: an edit
held material of the held-out half, so the pipeline leaks."""


@dataclass(frozen=True, slots=True)
class TuneEvent:
    """One thing that happened, for a terminal or a log. ``progress`` comes with ``data``."""

    kind: str
    message: str
    data: Any = None


OnEvent = Callable[[TuneEvent], None]


@dataclass(frozen=True, slots=True)
class Accepted:
    """An edit that passed gate and screen, with what it did on its target and elsewhere."""

    edit: Edit
    round: int
    reason: str
    target: Mapping[str, Any]
    guard: Mapping[str, Any]
    targets: tuple[str, ...] = ()
    """The incidents that it was written for."""
    closed_book: Mapping[str, Any] = field(default_factory=dict)
    """What the model says with the alert alone, before and after this edit; empty if not asked."""
    review: Mapping[str, Any] = field(default_factory=dict)
    """What a reviewer's model said of its lines; empty if none was asked."""

    def plain(self) -> dict[str, Any]:
        """Plain data for the proposal: the edit and the evidence beside it."""
        return {
            "id": self.edit.id,
            "edit": self.edit.plain(),
            "round": self.round,
            "cluster": self.edit.cluster,
            "why": self.reason,
            "target": dict(self.target),
            "regression": dict(self.guard),
            "closed_book": dict(self.closed_book),
            "review": dict(self.review),
        }


@dataclass(frozen=True, slots=True)
class TuneResult:
    """How a job ended. ``proposal`` is empty when there is nothing to show to a reviewer.

    ``usd`` is ``None`` where a price is unknown; it, ``tokens`` and ``investigations`` cover the
    whole job, earlier sittings included; ``seconds`` is this sitting's wall time.
    """

    job: str
    status: Status
    reason: str
    proposal: str
    before: Brain
    after: Brain
    accepted: tuple[Accepted, ...]
    rejected: Mapping[str, int]
    """Refused drafts by the kind of refusal: form, gate, screen, behaviour."""
    rounds: int
    train: tuple[int, int]
    """Solved and all train incidents, as last measured before the confirmation."""
    investigations: int
    tokens: int
    usd: float | None
    seconds: float
    evidence: Mapping[str, Any] = field(default_factory=dict)
