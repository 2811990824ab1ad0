"""The main job from specs to report, for the command line and the flows alike; no Prefect here."""

from heldout.pipeline.demo import run_from_command_line
from heldout.pipeline.environment import prefect_environment
from heldout.pipeline.job import Job, JobResult, Tuned, settings_of
from heldout.pipeline.playing import Playing, Spending, play_train, resume_run
from heldout.pipeline.stages import build_set, report_job, run_stages, score_brain, tune_brain
from heldout.pipeline.verbs import (
    Scoring,
    compare_by_name,
    decide_by_name,
    report_of,
    resume_job,
    score_by_name,
    score_now,
)

__all__ = [
    "Job",
    "JobResult",
    "Playing",
    "Scoring",
    "Spending",
    "Tuned",
    "build_set",
    "compare_by_name",
    "decide_by_name",
    "play_train",
    "prefect_environment",
    "report_job",
    "report_of",
    "resume_job",
    "resume_run",
    "run_from_command_line",
    "run_stages",
    "score_brain",
    "score_by_name",
    "score_now",
    "settings_of",
    "tune_brain",
]
