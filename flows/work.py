"""One shard of a run that was cut, as a Prefect flow, for the machines of a work pool."""

from heldout import pipeline

pipeline.prefect_environment()

# Prefect reads its switches when it is imported.
from prefect import flow, task  # noqa: E402
from prefect.cache_policies import NO_CACHE  # noqa: E402

play = task(pipeline.work_by_name, name="shard", cache_policy=NO_CACHE)


@flow(name="work", persist_result=False)
def work(shard: str, run: str = "", project: str = "", share: str = "") -> str:
    """Play one shard, such as 2/4; its files in the shared folder are gathered by 'resume'."""
    return play(shard, run, project, share)
