"""One score of the held-out half as a Prefect flow."""

from heldout import pipeline

pipeline.prefect_environment()

# Prefect reads its switches when it is imported.
from prefect import flow, task  # noqa: E402
from prefect.cache_policies import NO_CACHE  # noqa: E402

play = task(pipeline.score_by_name, name="score", cache_policy=NO_CACHE)


@flow(name="score", persist_result=False)
def score(project: str = "", model: str = "", before: str = "", after: str = "") -> str:
    """Open the held-out half once and return the report's path."""
    return play(project, model, before, after)


if __name__ == "__main__":
    print(score())
