"""One run of the train half, cut into shards that tasks play, as a Prefect flow."""

from heldout import pipeline

pipeline.prefect_environment()

# Prefect reads its switches when it is imported.
from prefect import flow, task, unmapped  # noqa: E402
from prefect.cache_policies import NO_CACHE  # noqa: E402
from prefect.futures import wait  # noqa: E402
from prefect.task_runners import ThreadPoolTaskRunner  # noqa: E402

cut = task(pipeline.cut_by_name, name="cut", cache_policy=NO_CACHE)
play = task(pipeline.work_by_name, name="shard", cache_policy=NO_CACHE)
gather = task(pipeline.gather_by_name, name="gather", cache_policy=NO_CACHE)


@flow(name="run", persist_result=False, task_runner=ThreadPoolTaskRunner(max_workers=16))
def run(
    project: str = "",
    model: str = "",
    repeats: int | None = None,
    shards: int = 4,
    share: str = "",
) -> str:
    """Play the train half and say what came of it; another task runner plays it elsewhere."""
    left = cut(project, model, repeats, shards, share)
    wait(play.map(list(left.shards), unmapped(left.run), unmapped(project), unmapped(left.share)))
    return gather(left.run, project)


if __name__ == "__main__":
    print(run())
