"""Playing many investigations, keeping them, and reducing them to figures."""

from heldout.run.caps import Budget, Caps
from heldout.run.history import outcomes
from heldout.run.landing import ingest_landed
from heldout.run.plan import Arm, Limits, Outcome, Plan, RunResult, Terms
from heldout.run.play import play, resume
from heldout.run.player import Progress

__all__ = [
    "Arm",
    "Budget",
    "Caps",
    "Limits",
    "Outcome",
    "Plan",
    "Progress",
    "RunResult",
    "Terms",
    "ingest_landed",
    "outcomes",
    "play",
    "resume",
]
