"""The main job from specs to report, for the command line and the flows alike; no Prefect here."""

from heldout.pipeline.asking import Asked, Word, do_as_said, given_word, show_proposal
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
from heldout.pipeline.showing import (
    form_of,
    job_facts,
    job_markdown,
    page_key,
    proposal_markdown,
    train_table,
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
    report_of,
    resume_job,
    score_by_name,
    score_now,
)

__all__ = [
    "Asked",
    "Job",
    "JobResult",
    "Playing",
    "Scoring",
    "Shards",
    "Spending",
    "Tuned",
    "Watched",
    "Watching",
    "Word",
    "Working",
    "do_as_said",
    "given_word",
    "show_proposal",
    "build_set",
    "canary_by_name",
    "compare_by_name",
    "cut_by_name",
    "cut_train",
    "find_news",
    "form_of",
    "gather_by_name",
    "job_facts",
    "job_markdown",
    "page_key",
    "play_train",
    "prefect_environment",
    "proposal_markdown",
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
    "train_table",
    "tune_brain",
    "watch_provider",
    "work_by_name",
    "work_shard",
]
