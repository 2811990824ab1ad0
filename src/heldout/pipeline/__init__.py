"""The main job from specs to report, for the command line and the flows alike; no Prefect here."""

from heldout.pipeline.canary import Watched, Watching, canary_by_name, watch_provider
from heldout.pipeline.demo import run_from_command_line
from heldout.pipeline.environment import prefect_environment
from heldout.pipeline.job import Job, JobResult, Tuned, settings_of
from heldout.pipeline.playing import (
    Playing,
    Shards,
    Spending,
    cut_train,
    play_train,
    resume_run,
)
from heldout.pipeline.sharing import (
    Working,
    cut_by_name,
    gather_by_name,
    work_by_name,
    work_shard,
)
from heldout.pipeline.stages import (
    build_set,
    find_news,
    report_job,
    run_stages,
    score_brain,
    tune_brain,
)
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
    "Shards",
    "Spending",
    "Tuned",
    "Watched",
    "Watching",
    "Working",
    "build_set",
    "canary_by_name",
    "compare_by_name",
    "cut_by_name",
    "cut_train",
    "decide_by_name",
    "find_news",
    "gather_by_name",
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
    "watch_provider",
    "work_by_name",
    "work_shard",
]
