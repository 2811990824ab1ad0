"""The worlds of every set as a Prefect flow."""

from heldout import pipeline

pipeline.prefect_environment()

from prefect import flow, task  # noqa: E402 - Prefect reads its switches when it is imported

make = task(pipeline.build_set, name="build", persist_result=False)


@flow(name="build", persist_result=False)
def build(job: pipeline.Job | None = None) -> None:
    """Make what is missing and verify every digest."""
    make(job or pipeline.Job())


if __name__ == "__main__":
    build()
