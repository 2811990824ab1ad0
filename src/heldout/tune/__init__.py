"""The tuning job: failures on train into a gated, screened and confirmed proposal."""

from heldout.tune.acceptance import Decision, Effect, effect, judge_guard, judge_target
from heldout.tune.elsewhere import Elsewhere
from heldout.tune.job import new_job_id, resume_tune, tune
from heldout.tune.news import Standstill, remember_standstill, standstill
from heldout.tune.options import TuneOptions
from heldout.tune.player import Player
from heldout.tune.remeasure import remeasure
from heldout.tune.results import Accepted, TuneEvent, TuneResult

__all__ = [
    "Accepted",
    "Decision",
    "Effect",
    "Elsewhere",
    "Player",
    "Standstill",
    "TuneEvent",
    "TuneOptions",
    "TuneResult",
    "effect",
    "judge_guard",
    "judge_target",
    "new_job_id",
    "remeasure",
    "remember_standstill",
    "resume_tune",
    "standstill",
    "tune",
]
