"""The effect of one change on train, on fresh repeats: for a diff that a person amended."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from heldout.behaviour import RunWatch
from heldout.brain import Brain
from heldout.canaries import read_watch
from heldout.errors import UsageError
from heldout.interface import Interface
from heldout.run.caps import Budget, Caps
from heldout.run.month import open_month
from heldout.settings import Settings
from heldout.split import Case
from heldout.store import Ledger
from heldout.tune.confirming import confirm
from heldout.tune.context import Context, Gate, State
from heldout.tune.log import JobLog
from heldout.tune.options import TuneOptions
from heldout.tune.player import Player
from heldout.tune.probing import probe_whole
from heldout.tune.results import OnEvent


class _NoProposer:
    """Nothing is proposed here, so asking is a mistake of ours."""

    async def complete(self, request: Any) -> Any:
        raise UsageError("an amended diff is measured, not proposed", mend="Report this")


async def remeasure(
    settings: Settings,
    ledger: Ledger,
    *,
    model: str,
    before: Brain,
    after: Brain,
    cases: Sequence[Case],
    gate: Gate,
    interface: Interface,
    options: TuneOptions,
    on_event: OnEvent | None = None,
) -> dict[str, Any]:
    """Play train with the brain before and after; the same evidence that a tuning job leaves.

    ``options.job`` names the job that the runs are booked to. Raises what a provider or the store
    raises, and ``CapReached`` when a cap of the job cut it short.
    """
    ordered = tuple(sorted(cases, key=lambda case: case.incident.id))
    player = Player(
        settings=settings,
        ledger=ledger,
        interface=interface,
        model=model,
        set=ordered[0].incident.set,
        options=options,
        pins={"settings": settings.digest()},
        budget=Budget(
            Caps(options.max_usd, options.max_tokens, options.max_seconds),
            within=open_month(settings, ledger),
        ),
        on_event=on_event,
        watch=RunWatch(await asyncio.to_thread(read_watch, settings), ledger),
    )
    job = Context(
        options,
        model,
        interface.name,
        before,
        ordered,
        JobLog(ledger, options.job),
        player,
        _NoProposer(),
        gate,
        on_event,
    )
    evidence = await confirm(job, State(after))
    return {**evidence, "behaviour": await probe_whole(job, after, evidence)}
