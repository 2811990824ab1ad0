"""The judge of a run: what its terms ask for, opened, and counted against the run's caps."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from heldout.environments import REPAIR
from heldout.errors import UsageError
from heldout.interface import Submission
from heldout.judge import JudgeChoice, Verdict, judge_exact, judge_hash, open_judge, require_judge
from heldout.judge.repair import judge_repair, repair_hash
from heldout.run.caps import Budget, CappedClient
from heldout.run.plan import Plan, Terms
from heldout.settings import Settings
from heldout.truth import Truth

Judge = Callable[[Submission, Truth], "Verdict | Awaitable[Verdict]"]


def choice_of(terms: Terms) -> JudgeChoice:
    """The judge that a run's terms name."""
    return JudgeChoice(terms.judge, terms.judge_models, terms.judge_base_url, terms.judge_wire)


def judge_pin(terms: Terms) -> str:
    """The judge's hash, for a manifest."""
    if terms.tools == REPAIR:
        return repair_hash()
    return judge_hash(choice_of(terms))


@asynccontextmanager
async def judge_of(
    plan: Plan, settings: Settings, budget: Budget, given: Judge | None = None
) -> AsyncIterator[Judge]:
    """The run's judge, closed at the end; ``given`` stands in the place of what the terms say.

    A judge that cannot be (no model named, a simulated one) is a UsageError, a missing key a
    ConfigError, both before anything is played. What judging costs counts against the run's caps.
    """
    choice = choice_of(plan.terms)
    if plan.terms.tools == REPAIR and given is None:
        if choice.by != "exact":
            raise UsageError(
                "a repair is judged by running it, not by a model", mend="Set judge.by to exact"
            )
        yield judge_repair
        return
    if given is not None or choice.by == "exact":
        yield given or judge_exact
        return
    require_judge(choice, plan.model)
    panel = open_judge(
        choice,
        concurrency=plan.concurrency,
        around=lambda client: CappedClient(client, budget, counts=True),
        prices=settings.prices,
    )
    try:
        yield panel
    finally:
        await panel.aclose()
