"""What a plan is played with: the agent's loop, its client, the judge, and what may be spent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from heldout.interface import Interface
from heldout.run.attempt import Investigate, Parts
from heldout.run.caps import Budget, Caps, Client, require_priced
from heldout.run.judging import Judge, judge_of
from heldout.run.month import open_month
from heldout.run.plan import Plan
from heldout.run.programs import NoClient, program_of, require_known_tools
from heldout.settings import Settings
from heldout.store import Ledger
from heldout.store import queries as stored

ClientFactory = Callable[[Plan], Client]


@dataclass(frozen=True, slots=True)
class Given:
    """What the caller plays with; a client and a judge only where not the plan's own."""

    interface: Interface
    client_factory: ClientFactory | None = None
    judge: Judge | None = None


@asynccontextmanager
async def opened(
    plan: Plan, settings: Settings, budget: Budget, given: Given
) -> AsyncIterator[Parts]:
    """The parts of a plan, closed at the end; a missing key is raised before anything is played."""
    client = (given.client_factory or partial(_open_client, settings))(plan)
    try:
        if given.client_factory is None:
            _require_priced(plan, settings, budget)
        async with judge_of(plan, settings, budget, given.judge) as judging:
            yield Parts(_investigate(plan, settings), judging, client, given.interface)
    finally:
        await client.aclose()


def budget_of(
    caps: Caps | Budget | None, plan: Plan, ledger: Ledger, settings: Settings, run: str
) -> Budget:
    """What may still be spent, by the caps given and the month's.

    What the job, or a run of its own, cost before counts.
    """
    if isinstance(caps, Budget):
        return caps
    month = open_month(settings, ledger)
    if caps is None:
        return Budget(Caps(), within=month)
    spent = stored.cost(ledger, job=plan.job) if plan.job else stored.cost(ledger, run=run)
    return Budget(caps, usd=spent.total_usd, tokens=spent.total_tokens, within=month)


def _require_priced(plan: Plan, settings: Settings, budget: Budget) -> None:
    """Refuse a cap in USD where a model's price is unknown; a program says itself what it spent."""
    terms = plan.terms
    models = () if terms.agent_command else (plan.model,)
    judges = terms.judge_models if terms.judge == "llm" else ()
    require_priced(settings, (*models, *judges), *budget.usd_caps)


def _open_client(settings: Settings, plan: Plan) -> Client:
    if plan.terms.agent_command:
        program_of(plan, settings)  # What is wrong with it begins no run either.
        return NoClient()
    require_known_tools(plan)
    from heldout.llm import open_client  # The SDK behind it takes half a second to import.

    return open_client(
        plan.model,
        base_url=plan.base_url,
        concurrency=plan.concurrency,
        wire=plan.terms.wire,
        prices=settings.prices,
    )


def _investigate(plan: Plan, settings: Settings) -> Investigate:
    if plan.terms.agent_command:
        return program_of(plan, settings)
    from heldout.agent import NotebookOptions, investigate, mode_of

    terms = plan.terms
    mode = mode_of(terms.mode, NotebookOptions(terms.notebook_tokens))
    return partial(investigate, mode=mode)
