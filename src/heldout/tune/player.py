"""Runs of one job: plans with everything pinned, one budget over all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heldout.behaviour import RunWatch, Setup
from heldout.errors import CapReached, ProviderUnavailable
from heldout.interface import Interface
from heldout.run.caps import Budget
from heldout.run.plan import Arm, Plan, Purpose, RunResult, Terms
from heldout.run.play import ClientFactory, play
from heldout.run.reduce import run_status
from heldout.settings import Settings
from heldout.split import Case
from heldout.store import Ledger
from heldout.tune.options import TuneOptions
from heldout.tune.results import OnEvent, TuneEvent

_LABELS = {
    "train": "train",
    "screen": "screening",
    "confirm": "confirming on train",
    "probe": "probing",
}


@dataclass(slots=True)
class Player:
    """Plays train cases for a job. The same plan again costs nothing: its results are stored."""

    settings: Settings
    ledger: Ledger
    interface: Interface
    model: str
    set: str
    options: TuneOptions
    pins: Mapping[str, str]
    budget: Budget
    client_factory: ClientFactory | None = None
    on_event: OnEvent | None = None
    watch: RunWatch | None = None

    async def play(
        self,
        purpose: Purpose,
        cases: Sequence[Case],
        arms: Sequence[Arm],
        *,
        repeats: int,
        seed: int,
        setup: Setup | None = None,
    ) -> RunResult:
        """Play a plan to its end, in the job's environment or in another ``setup``.

        One that a cap cut short is a :class:`CapReached`; one in which too much is invalid to go
        by is a :class:`ProviderUnavailable`; one that left a canary is a :class:`CanaryFound`.
        """
        plan = Plan(
            purpose=purpose,
            set=self.set,
            model=self.model,
            cases=tuple(cases),
            arms=tuple(arms),
            repeats=repeats,
            seed=seed,
            limits=setup.limits if setup else self.options.limits,
            concurrency=self.options.concurrency,
            max_invalid=self.options.max_invalid,
            base_url=self.options.base_url,
            job=self.options.job,
            terms=Terms.of(self.settings),
            pins={**self.pins, "setup": setup.name} if setup else self.pins,
        )
        tell, label = self.on_event, _LABELS.get(purpose, purpose)
        more: dict[str, Any] = {}
        if self.client_factory is not None:
            more["client_factory"] = self.client_factory
        if setup is not None:
            more["judge"] = setup.judge
        result = await play(
            plan,
            self.ledger,
            self.settings,
            interface=setup.interface if setup else self.interface,
            on_progress=(lambda now: tell(TuneEvent("progress", label, now))) if tell else None,
            caps=self.budget,
            **more,
        )
        if self.watch is not None:
            self.watch.check(result.run)
        status = run_status(result.outcomes, result.plan, result.absent)
        if result.absent or status == "capped":
            why = self.budget.reached() or "a cap of the job is reached"
            raise CapReached(why, mend="Raise it and resume the job")
        if status == "error":
            invalid = sorted({one.reason for one in result.outcomes if one.reason})
            raise ProviderUnavailable(
                f"too many investigations are invalid ({', '.join(invalid)})",
                where=f"run {result.run}",
                mend="See what failed with 'heldout status', then resume the job",
            )
        return result

    def checkpoint(self) -> None:
        """Raise :class:`CapReached` where a cap is reached before the next step is begun."""
        why = self.budget.reached()
        if why:
            raise CapReached(why, mend="Raise it and resume the job")


async def in_thread(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Run something that blocks (the gate's pipe) beside the event loop."""
    return await asyncio.to_thread(function, *args, **kwargs)
