"""Cutting a run into shards: what is left of it, written down for workers without the ledger."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heldout.errors import UsageError
from heldout.run.caps import Budget, Caps
from heldout.run.crew import Progress, Tally
from heldout.run.landing import ingest_landed
from heldout.run.opening import Given, budget_of, opened
from heldout.run.plan import Plan
from heldout.run.player import attempts_of
from heldout.run.shards.folder import Folder
from heldout.run.shards.gathering import CUT, move_journals, relative
from heldout.run.shards.sheet import Sheet, deal
from heldout.run.slots import Slot, slots
from heldout.run.standing import Past, Standing, standing
from heldout.settings import Settings
from heldout.store import Ledger, Scrubber
from heldout.store.texts import brain_plain


@dataclass(frozen=True, slots=True)
class Cutting:
    """How a run is to be cut."""

    shards: int
    share: Path
    caps: Caps
    take_over: bool = False


@dataclass(frozen=True, slots=True)
class CutRun:
    """A run that was cut: where its shards are and what stood before. None are left of a whole."""

    run: str
    plan: Plan
    folder: Folder
    edition: str
    shards: int
    before: Progress
    notes: Sequence[str] = ()
    """What was said when an earlier cut was gathered."""


def require_cuttable(plan: Plan) -> None:
    """Only a train run of its own can be cut (:class:`UsageError`).

    A score is one process that opens the held-out half and counts the look; a job's runs are short
    and decide what it plays next.
    """
    if plan.purpose != "train" or plan.job or any(case.side == "test" for case in plan.cases):
        raise UsageError(
            "only a run of 'heldout run' can be cut into shards",
            where=f"a run for {plan.purpose}",
            mend="A score stays one process: it alone opens the held-out half",
        )


async def cut_run(
    run: str, plan: Plan, ledger: Ledger, settings: Settings, given: Given, cutting: Cutting
) -> CutRun:
    """Cut what is left of a stored run, and write its sheet; a missing key is raised before.

    Shards of an earlier cut must have been gathered.
    """
    ingest_landed(ledger, settings.landing)
    budget = budget_of(cutting.caps, plan, ledger, settings, run)
    async with opened(plan, settings, budget, given):
        pass  # What is wrong with keys, judge or program is told here and not by each worker.
    every, past = slots(plan), attempts_of(ledger, run)
    found = standing(every, past)
    shards = deal([slot for slot, _ in found.pending], cutting.shards)
    folder = Folder(cutting.share, run)
    edition = secrets.token_hex(8)
    if shards:
        sheet = _sheet(run, plan, ledger, shards, past, edition, budget)
        move_journals(settings.state / "journal" / run, folder.journals)
        folder.write_sheet(sheet, Scrubber()(sheet.model_dump_json()))
        where = relative(cutting.share, settings.root)
        detail = {"share": where, "edition": edition, "shards": len(shards)}
        ledger.append("run_events", [{"run": run, "status": CUT, "detail_json": detail}])
        ledger.flush()
    before = _progress(len(every), found, budget.usd)
    return CutRun(run, plan, folder, edition, len(shards), before)


def _sheet(
    run: str,
    plan: Plan,
    ledger: Ledger,
    shards: Sequence[Sequence[Slot]],
    past: Sequence[Past],
    edition: str,
    budget: Budget,
) -> Sheet:
    began = ledger.read("SELECT manifest_json FROM runs WHERE run = ?", [run])[0]["manifest_json"]
    wanted = {slot.key for shard in shards for slot in shard}
    left, count = budget.left(), len(shards)
    return Sheet(
        run=run,
        edition=edition,
        began_with=json.loads(began)["repeats"],
        manifest=plan.manifest(),
        brains=tuple(brain_plain(arm.brain) for arm in plan.arms),
        shards=tuple(tuple(slot.key for slot in shard) for shard in shards),
        past=tuple(one[:4] for one in past if one.key in wanted),
        max_usd=None if left.max_usd is None else left.max_usd / count,
        max_tokens=None if left.max_tokens is None else left.max_tokens // count,
        max_seconds=budget.caps.max_seconds,
    )


def _progress(total: int, found: Standing, usd: float | None) -> Progress:
    tally = Tally(total, usd)
    tally.results += found.results
    return tally.progress()
