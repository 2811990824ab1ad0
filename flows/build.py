"""The worlds of every set as a Prefect flow."""

from heldout import pipeline

pipeline.prefect_environment()

# Prefect reads its switches when it is imported.
from prefect import flow, task  # noqa: E402
from prefect.cache_policies import NO_CACHE  # noqa: E402

make = task(pipeline.build_set, name="build", cache_policy=NO_CACHE)


@flow(name="build", persist_result=False)
def build(job: pipeline.Job | None = None) -> None:
    """Make what is missing and verify every digest."""
    make(job or pipeline.Job())


if __name__ == "__main__":
    build()
