"""Opening the held-out half: in a process of its own, counted, and never into a brain.

``start`` is what a job calls; it runs ``python -m heldout.score`` and maps its errors back.
``run_score`` is what that process does. ``Score`` is what both leave in the ledger.
"""

from heldout.score.clearance import Clearance
from heldout.score.job import Given, detectable_before, run_score
from heldout.score.looks import Looks
from heldout.score.process import ScoreResult, start
from heldout.score.progress import Progress
from heldout.score.request import ScoreRequest, endpoint_hash, page_text, wished
from heldout.score.result import (
    ArmRow,
    Breakdown,
    Controls,
    EvidenceClass,
    IncidentResult,
    Score,
    read_score,
)

__all__ = [
    "ArmRow",
    "Breakdown",
    "Clearance",
    "Controls",
    "EvidenceClass",
    "Given",
    "IncidentResult",
    "Looks",
    "Progress",
    "Score",
    "ScoreRequest",
    "ScoreResult",
    "detectable_before",
    "endpoint_hash",
    "page_text",
    "read_score",
    "run_score",
    "start",
    "wished",
]
