"""The tuning job: failures on train into a gated, screened and confirmed proposal."""

from heldout.tune.acceptance import Decision, Effect, decide, effect
from heldout.tune.job import new_job_id, resume_tune, tune
from heldout.tune.options import TuneOptions
from heldout.tune.results import Accepted, TuneEvent, TuneResult

__all__ = [
    "Accepted",
    "Decision",
    "Effect",
    "TuneEvent",
    "TuneOptions",
    "TuneResult",
    "decide",
    "effect",
    "new_job_id",
    "resume_tune",
    "tune",
]
