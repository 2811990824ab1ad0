"""A decision on a proposal as a Prefect flow: given with the run, or asked in a form."""

from typing import Literal

from heldout import pipeline

pipeline.prefect_environment()

# Prefect reads its switches when it is imported.
from prefect import flow, task  # noqa: E402
from prefect.artifacts import create_markdown_artifact  # noqa: E402
from prefect.cache_policies import NO_CACHE  # noqa: E402
from prefect.flow_runs import suspend_flow_run  # noqa: E402
from prefect.input import RunInput  # noqa: E402

decide = task(pipeline.do_as_said, name="decide", cache_policy=NO_CACHE)


@flow(name="review", persist_result=False)
def review(
    proposal: str,
    decision: Literal["", "accept", "accept and score", "reject"] = "",
    name: str = "",
    reason: str = "",
    project: str = "",
    minutes: int = 1440,
) -> str:
    """Accept or reject one proposal; without a decision a form asks, and silence applies nothing.

    While the form waits the run is suspended: it holds no process, and begins anew with the answer.
    """
    asked = pipeline.show_proposal(project, proposal)
    create_markdown_artifact(asked.text, key=pipeline.page_key("brain-diff", asked.model))
    form = RunInput.subclass_from_base_model_type(pipeline.Word)
    # Only the text is given beforehand: a field with a value would be taken for an answer.
    shown = form.with_initial_data(description=asked.text)
    word = pipeline.given_word(decision, name, reason) or suspend_flow_run(
        wait_for_input=shown, timeout=60 * minutes
    )
    return decide(project, asked, word)
