"""Playing the canary: choose or continue its series, play, compare, keep what it says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from heldout.behaviour import RunWatch
from heldout.canaries import Watch
from heldout.drift.comparing import Canary, Rows, compare
from heldout.drift.series import next_sitting
from heldout.errors import CapReached
from heldout.interface import Interface
from heldout.run import Progress, open_month, play, resume
from heldout.run.judging import Judge
from heldout.run.play import ClientFactory
from heldout.settings import Settings
from heldout.split import Case
from heldout.store import Ledger, now_us, queries

KIND = "canary"


@dataclass(frozen=True, slots=True)
class CanaryOptions:
    """What was asked for. ``restart`` begins a series anew, with the brain in use."""

    restart: bool = False
    on_progress: Callable[[Progress], None] | None = None
    client_factory: ClientFactory | None = None
    judge: Judge | None = None
    watch: Watch | None = None
    now: Callable[[], int] = now_us


async def run_canary(
    settings: Settings,
    ledger: Ledger,
    *,
    model: str,
    cases: Sequence[Case],
    interface: Interface,
    options: CanaryOptions = CanaryOptions(),
) -> Canary:
    """Play the canary of a model once and say what has moved since its earlier runs.

    ``cases`` are the set's train incidents; nothing of the held-out half is opened. Raises
    :class:`CapReached` where the month is used up or its cap cuts the run short: it can be gone on
    with by the same command within a day.
    """
    month = open_month(settings, ledger)
    if month is not None:
        month.require()
    series = next_sitting(
        settings, ledger, model, cases, interface, now=options.now(), restart=options.restart
    )
    start = partial(resume, series.resume) if series.resume else partial(play, series.plan)
    played = await start(
        ledger,
        settings,
        interface=interface,
        client_factory=options.client_factory,
        on_progress=options.on_progress,
        judge=options.judge,
    )
    if options.watch is not None:
        await asyncio.to_thread(RunWatch(options.watch, ledger).check, played.run)
    row = queries.run(ledger, played.run)
    if row.status == "capped":
        why = (row.status_detail or {}).get("why") or "a cap is reached"
        raise CapReached(
            why,
            where=f"canary run {row.run}",
            mend="Raise it in heldout.toml's [month] and give the command again within a day",
        )
    earlier = [one for one in series.earlier if one.status == "finished" and one.run != row.run]
    said = compare(
        row,
        counted(ledger, row.run),
        [counted(ledger, one.run) for one in earlier],
        begins=series.begins,
        usd=queries.cost(ledger, run=row.run).total_usd,
        min_coverage=settings.score.min_coverage,
    )
    _remember(ledger, said)
    return said


def counted(ledger: Ledger, run: str) -> Rows:
    """The valid investigations of a run, one for each slot: its first valid attempt."""
    chosen: dict[tuple[str, int], queries.InvestigationRow] = {}
    for row in queries.investigations(ledger, run):
        if row.verdicts and row.verdicts[0].result != "invalid":
            chosen.setdefault((row.incident, row.repeat), row)
    return list(chosen.values())


def _remember(ledger: Ledger, said: Canary) -> None:
    row = {
        "job": f"canary-{said.run}",
        "kind": KIND,
        "status": said.word,
        "model": said.model,
        "set": said.set,
        "before_hash": said.brain,
        "detail_json": said.plain(),
    }
    ledger.append("jobs", [row])
    ledger.flush()
