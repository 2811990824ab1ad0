"""One score of the held-out half as a Prefect flow."""

from heldout import pipeline

pipeline.prefect_environment()

from prefect import flow, task  # noqa: E402 - Prefect reads its switches when it is imported

play = task(pipeline.score_by_name, name="score", persist_result=False)


@flow(name="score", persist_result=False)
def score(project: str = "", model: str = "", before: str = "", after: str = "") -> str:
    """Open the held-out half once and return the report's path."""
    return play(project, model, before, after)


if __name__ == "__main__":
    print(score())
