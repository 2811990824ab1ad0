"""A decision on a proposal as a Prefect flow, for a form or an automation."""

from typing import Literal

from heldout import pipeline

pipeline.prefect_environment()

# Prefect reads its switches when it is imported.
from prefect import flow, task  # noqa: E402
from prefect.cache_policies import NO_CACHE  # noqa: E402

decide = task(pipeline.decide_by_name, name="decide", cache_policy=NO_CACHE)


@flow(name="review", persist_result=False)
def review(
    proposal: str, decision: Literal["accept", "reject"], name: str, reason: str, project: str = ""
) -> str:
    """Accept or reject one proposal; name and reason are stored with the diff's hash."""
    return decide(project, proposal, decision, name, reason)
