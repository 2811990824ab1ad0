"""The tuning job as a Prefect flow: build, tune, and, by policy, score and report."""

from heldout import pipeline

pipeline.prefect_environment()

from prefect import flow, task  # noqa: E402 - Prefect reads its switches when it is imported

build = task(pipeline.build_set, name="build", persist_result=False)
propose = task(pipeline.tune_brain, name="tune", persist_result=False)
score = task(pipeline.score_brain, name="score", persist_result=False)
report = task(pipeline.report_job, name="report", persist_result=False)


@flow(name="tune", persist_result=False)
def tune(job: pipeline.Job | None = None) -> pipeline.JobResult:
    """Tune the brain for one model on the train half and leave a proposal."""
    return pipeline.run_stages(
        job or pipeline.Job(), build=build, tune=propose, score=score, report=report
    )


if __name__ == "__main__":
    pipeline.run_from_command_line(tune)
