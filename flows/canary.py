"""The weekly canary as a Prefect flow: has the provider changed the model?"""

from heldout import pipeline

pipeline.prefect_environment()

# Prefect reads its switches when it is imported.
from prefect import flow, task  # noqa: E402
from prefect.artifacts import create_markdown_artifact  # noqa: E402
from prefect.cache_policies import NO_CACHE  # noqa: E402
from prefect.events import emit_event  # noqa: E402

play = task(pipeline.canary_by_name, name="canary", cache_policy=NO_CACHE)


@flow(name="canary", persist_result=False)
def canary(project: str = "", model: str = "", fail_on_drift: bool = False) -> str:
    """Play the canary once; with ``fail_on_drift`` a change fails the run, for notifications."""
    said = play(project, model)
    facts = said.facts()
    create_markdown_artifact(said.markdown(), key=pipeline.page_key("canary", facts["model"]))
    resource = {"prefect.resource.id": f"heldout.canary.{said.canary.run}"}
    emit_event(
        "heldout.canary.ended", resource={**resource, "heldout.word": facts["word"]}, payload=facts
    )
    if fail_on_drift:
        said.require()
    return said.text


if __name__ == "__main__":
    print(canary())
