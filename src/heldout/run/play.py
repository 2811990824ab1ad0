"""Playing a plan: many investigations in one event loop, none of them lost or paid for twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from heldout.interface import Interface
from heldout.run.attempt import Investigate, Parts
from heldout.run.caps import Budget, Caps, Client, require_priced
from heldout.run.crew import OnProgress
from heldout.run.judging import Judge, judge_of, judge_pin
from heldout.run.manifest import (
    as_extended,
    extend,
    pinned,
    read_manifest,
    require_access,
    run_id,
    store_manifest,
)
from heldout.run.month import open_month
from heldout.run.plan import Plan, RunResult
from heldout.run.player import Player
from heldout.run.programs import NoClient, program_of, require_known_tools
from heldout.settings import Settings
from heldout.store import Ledger
from heldout.store import queries as stored

ClientFactory = Callable[[Plan], Client]


async def play(
    plan: Plan,
    ledger: Ledger,
    settings: Settings,
    *,
    interface: Interface,
    client_factory: ClientFactory | None = None,
    on_progress: OnProgress | None = None,
    caps: Caps | Budget | None = None,
    judge: Judge | None = None,
) -> RunResult:
    """Play every slot of a plan and return all outcomes.

    The same plan again is the same run: what it has finished is not played again (a score always
    is a run of its own). Raises :class:`StoreError` when work cannot be kept; what was finished
    lies in the landing folder then, and :func:`resume` goes on.
    """
    require_access(plan)
    if judge is None:
        plan = replace(plan, pins={"judge": judge_pin(plan.terms), **plan.pins})
    plan = pinned(plan, settings, interface)
    run, nonce = run_id(plan)
    # First of all: a missing key begins no run.
    client = (client_factory or partial(_open_client, settings))(plan)
    try:
        budget = _budget(caps, plan, ledger, settings, run)
        if client_factory is None:
            _require_priced(plan, settings, budget)
        async with judge_of(plan, settings, budget, judge) as judging:
            store_manifest(ledger, run, nonce, plan, settings.root)
            plan = as_extended(ledger, run, plan)
            parts = Parts(_investigate(plan, settings), judging, client, interface)
            return await Player(run, plan, ledger, settings, parts, budget, on_progress).play()
    finally:
        await client.aclose()


async def resume(
    run: str,
    ledger: Ledger,
    settings: Settings,
    *,
    interface: Interface,
    client_factory: ClientFactory | None = None,
    on_progress: OnProgress | None = None,
    caps: Caps | Budget | None = None,
    judge: Judge | None = None,
    repeats: int | None = None,
) -> RunResult:
    """Play what a run still lacks, configured only by its stored manifest and brains.

    ``run`` may be the beginning of the run's id. ``repeats`` gives a plain run more of them.
    """
    row = stored.run(ledger, run)
    plan = read_manifest(ledger, row, settings, interface)
    require_access(plan)
    budget = _budget(caps, plan, ledger, settings, row.run)
    if client_factory is None:
        _require_priced(plan, settings, budget)
    client = (client_factory or partial(_open_client, settings))(plan)
    try:
        plan = plan if repeats is None else extend(ledger, row, plan, repeats)
        async with judge_of(plan, settings, budget, judge) as judging:
            parts = Parts(_investigate(plan, settings), judging, client, interface)
            player = Player(row.run, plan, ledger, settings, parts, budget, on_progress)
            return await player.play(resumed=True)
    finally:
        await client.aclose()


def _budget(
    caps: Caps | Budget | None, plan: Plan, ledger: Ledger, settings: Settings, run: str
) -> Budget:
    """What may still be spent: what the job, or a run of its own, cost before counts."""
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
