"""The tuning job as a Prefect flow: build, tune, and, by policy, score and report."""

from heldout import pipeline

pipeline.prefect_environment()

# Prefect reads its switches when it is imported.
from prefect import flow, task  # noqa: E402
from prefect.cache_policies import NO_CACHE  # noqa: E402

build = task(pipeline.build_set, name="build", cache_policy=NO_CACHE)
propose = task(pipeline.tune_brain, name="tune", cache_policy=NO_CACHE)
score = task(pipeline.score_brain, name="score", cache_policy=NO_CACHE)
report = task(pipeline.report_job, name="report", cache_policy=NO_CACHE)


@flow(name="tune", persist_result=False)
def tune(job: pipeline.Job | None = None) -> pipeline.JobResult:
    """Tune the brain for one model on the train half and leave a proposal."""
    return pipeline.run_stages(
        job or pipeline.Job(), build=build, tune=propose, score=score, report=report
    )


if __name__ == "__main__":
    pipeline.run_from_command_line(tune)
