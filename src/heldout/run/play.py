"""Playing a plan: many investigations in one event loop, none of them lost or paid for twice."""

from __future__ import annotations

from dataclasses import replace

from heldout.interface import Interface
from heldout.run.caps import Budget, Caps
from heldout.run.crew import OnProgress
from heldout.run.judging import Judge, judge_pin
from heldout.run.manifest import (
    as_extended,
    extend,
    pinned,
    read_manifest,
    require_access,
    run_id,
    store_manifest,
)
from heldout.run.opening import ClientFactory, Given, budget_of, opened
from heldout.run.plan import Plan, RunResult
from heldout.run.player import Player
from heldout.run.shards.cutting import CutRun, Cutting, cut_run, require_cuttable
from heldout.run.shards.gathering import gather
from heldout.settings import Settings
from heldout.store import Ledger
from heldout.store import queries as stored

__all__ = ["ClientFactory", "cut", "play", "resume"]


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
    given = Given(interface, client_factory, judge)
    plan, run, nonce = _named(plan, settings, given)
    gathered = gather(ledger, settings, run, as_extended(ledger, run, plan))
    budget = budget_of(caps, plan, ledger, settings, run)
    # First of all: a missing key begins no run.
    async with opened(plan, settings, budget, given) as parts:
        store_manifest(ledger, run, nonce, plan, settings.root)
        plan = as_extended(ledger, run, plan)
        done = frozenset(gathered.attempts)
        player = Player(run, plan, ledger, settings, parts, budget, on_progress, done)
        result = await player.play()
    return replace(result, notes=gathered.notes())


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
    take_over: bool = False,
) -> RunResult:
    """Play what a run still lacks, configured only by its stored manifest and brains.

    ``run`` may be the beginning of the run's id. ``repeats`` gives a plain run more of them. What
    workers of a run that is cut have landed is brought in first; ``take_over`` also plays what
    their shards still lack.
    """
    row = stored.run(ledger, run)
    plan = read_manifest(ledger, row, settings, interface)
    require_access(plan)
    gathered = gather(ledger, settings, row.run, plan, take_over=take_over)
    budget = budget_of(caps, plan, ledger, settings, row.run)
    async with opened(plan, settings, budget, Given(interface, client_factory, judge)) as parts:
        plan = plan if repeats is None else extend(ledger, row, plan, repeats)
        done = frozenset(gathered.attempts)
        player = Player(row.run, plan, ledger, settings, parts, budget, on_progress, done)
        result = await player.play(resumed=True)
    return replace(result, notes=gathered.notes())


async def cut(
    what: Plan | str,
    ledger: Ledger,
    settings: Settings,
    *,
    cutting: Cutting,
    given: Given,
    repeats: int | None = None,
) -> CutRun:
    """Cut a plan, or what a stored run still lacks, into shards that workers play.

    What is wrong is raised before anything is written, as by :func:`play` and :func:`resume`.
    """
    if isinstance(what, str):
        row = stored.run(ledger, what)
        run, plan = row.run, read_manifest(ledger, row, settings, given.interface)
        require_cuttable(plan)
        gathered = gather(ledger, settings, run, plan, take_over=cutting.take_over)
        plan = plan if repeats is None else extend(ledger, row, plan, repeats)
    else:
        require_cuttable(what)
        plan, run, nonce = _named(what, settings, given)
        gathered = gather(ledger, settings, run, as_extended(ledger, run, plan))
        async with opened(plan, settings, Budget(cutting.caps), given):
            store_manifest(ledger, run, nonce, plan, settings.root)
        plan = as_extended(ledger, run, plan)
    done = await cut_run(run, plan, ledger, settings, given, cutting)
    return replace(done, notes=gathered.notes())


def _named(plan: Plan, settings: Settings, given: Given) -> tuple[Plan, str, str]:
    """The plan with its pins, its run's id and nonce."""
    require_access(plan)
    if given.judge is None:
        plan = replace(plan, pins={"judge": judge_pin(plan.terms), **plan.pins})
    plan = pinned(plan, settings, given.interface)
    return plan, *run_id(plan)
