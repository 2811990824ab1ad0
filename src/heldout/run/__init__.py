"""Playing many investigations, keeping them, and reducing them to figures."""

from heldout.run.caps import Budget, Caps
from heldout.run.crew import Progress
from heldout.run.history import outcomes
from heldout.run.landing import ingest_landed
from heldout.run.month import Month, open_month
from heldout.run.plan import Arm, Limits, Outcome, Plan, RunResult, Terms
from heldout.run.play import cut, play, resume

__all__ = [
    "Arm",
    "Budget",
    "Caps",
    "Limits",
    "Month",
    "Outcome",
    "Plan",
    "Progress",
    "RunResult",
    "Terms",
    "cut",
    "ingest_landed",
    "open_month",
    "outcomes",
    "play",
    "resume",
]
