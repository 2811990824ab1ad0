"""The tuning job as a Prefect flow: news, build, tune, score and report."""

from heldout import pipeline

pipeline.prefect_environment()

# Prefect reads its switches when it is imported.
from prefect import flow, task  # noqa: E402
from prefect.artifacts import create_markdown_artifact, create_table_artifact  # noqa: E402
from prefect.cache_policies import NO_CACHE  # noqa: E402
from prefect.deployments import run_deployment  # noqa: E402
from prefect.events import emit_event  # noqa: E402

news = task(pipeline.find_news, name="news", cache_policy=NO_CACHE)
build = task(pipeline.build_set, name="build", cache_policy=NO_CACHE)
score = task(pipeline.score_brain, name="score", cache_policy=NO_CACHE)
report = task(pipeline.report_job, name="report", cache_policy=NO_CACHE)


@task(name="tune", cache_policy=NO_CACHE)
def propose(job: pipeline.Job, progress: object = None, resume: str = "") -> pipeline.Tuned:
    """Tune, and leave what came of it beside the run."""
    tuned = pipeline.tune_brain(job, resume=resume)
    model = pipeline.settings_of(job).models.agent
    create_table_artifact(pipeline.train_table(job, tuned), key=pipeline.page_key("train", model))
    create_markdown_artifact(
        pipeline.proposal_markdown(job, tuned), key=pipeline.page_key("brain-diff", model)
    )
    return tuned


@flow(name="tune", persist_result=False)
def tune(job: pipeline.Job | None = None) -> pipeline.JobResult:
    """Tune the brain for one model on the train half and leave a proposal."""
    asked = job or pipeline.Job()
    done = pipeline.run_stages(
        asked, news=news, build=build, tune=propose, score=score, report=report
    )
    facts = pipeline.job_facts(asked, done)
    create_markdown_artifact(
        pipeline.job_markdown(asked, done), key=pipeline.page_key("run-report", facts["model"])
    )
    resource = {"prefect.resource.id": f"heldout.job.{done.tuned.job}", "heldout.word": done.word}
    emit_event("heldout.tune.ended", resource=resource, payload=facts)
    if asked.review == "form" and done.waits:
        run_deployment(
            "review/review", parameters=pipeline.form_of(asked, done), timeout=0, as_subflow=False
        )
    return done


if __name__ == "__main__":
    pipeline.run_from_command_line(tune)
