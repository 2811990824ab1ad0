"""Judging a stored run again, from its submissions and the truths; nothing is played."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from heldout.interface import Submission
from heldout.judge import (
    JudgeChoice,
    NoVerdict,
    Verdict,
    judge_exact,
    judge_hash,
    open_judge,
    require_judge,
)
from heldout.run.attempt import CRASHED
from heldout.run.history import TraceReader
from heldout.run.judging import Judge
from heldout.run.records import spent_columns
from heldout.settings import Settings
from heldout.signatures.records import Spent
from heldout.split import HeldoutAccess
from heldout.stats import Interval, cohen_kappa
from heldout.store import Ledger, now_us, queries
from heldout.store.queries import InvestigationRow, RunRow
from heldout.transcript import counted, held_out, require_open
from heldout.truth import read_truth

ROLE = "rejudge"
"""The role of a process that judges a scored run again."""


@dataclass(frozen=True, slots=True)
class Changed:
    """An investigation of which the new verdict differs from the run's own."""

    incident: str
    arm: str
    repeat: int
    before: str
    now: str


@dataclass(frozen=True, slots=True)
class Again:
    """What judging a run again came to. ``kept`` were judged so before and were not asked again."""

    run: str
    judge: str
    judged: int
    kept: int
    invalid: int
    own: tuple[int, int]
    """Passes and fails of the run's own verdicts, over what has an opinion now."""
    new: tuple[int, int]
    kappa: Interval
    changed: tuple[Changed, ...]
    spent: Spent
    why_invalid: str = ""


@dataclass(frozen=True, slots=True)
class _Task:
    row: InvestigationRow
    truth_file: Path
    truth_digest: str


async def judge_again(
    settings: Settings,
    ledger: Ledger,
    run: str,
    choice: JudgeChoice,
    *,
    concurrency: int = 8,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Again:
    """Judge every investigation of a run that counts, and append the verdicts.

    What this very judge (by hash) has judged before is kept. A scored run needs a process of role
    ``rejudge`` and a score that has ended. Investigations without a submission (the agent crashed,
    the provider failed) have nothing to be judged.
    """
    row = queries.run(ledger, run)
    require_judge(choice, row.model, named=settings.judge.models)
    require_open(ledger, row)
    if held_out(row):
        HeldoutAccess()
    mark = judge_hash(choice)[:16]
    tasks = _tasks(ledger, row, settings.root)
    open_ones = [task for task in tasks if _given(task.row, mark) is None]
    reader = TraceReader(ledger)
    gate, done = asyncio.Semaphore(concurrency), 0
    failures: list[NoVerdict] = []

    async def one(judge: Judge, task: _Task) -> Spent:
        nonlocal done
        async with gate:
            submission = reader.read(task.row.trace or b"").submission
            try:
                verdict = await _verdict(judge, submission, task)
            except NoVerdict as error:
                failures.append(error)
                return error.spent
            ledger.append("verdicts", [_verdict_row(task.row, verdict, mark)])
            done += 1
            on_progress(done, len(open_ones))
            return verdict.spent

    async with _opened(settings, choice, concurrency) as judge:
        spent = await _all(partial(one, judge), open_ones)
    await ledger.aflush()
    return _summed(ledger, row, choice, mark, (len(tasks) - len(open_ones), spent, failures))


@asynccontextmanager
async def _opened(
    settings: Settings, choice: JudgeChoice, concurrency: int
) -> AsyncIterator[Judge]:
    if choice.by == "exact":
        yield judge_exact
        return
    panel = open_judge(choice, concurrency=concurrency, prices=settings.prices)
    try:
        yield panel
    finally:
        await panel.aclose()


async def _all(one: Callable[[_Task], Any], tasks: Sequence[_Task]) -> list[Spent]:
    running = [asyncio.ensure_future(one(task)) for task in tasks]
    try:
        return list(await asyncio.gather(*running))
    except BaseException:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        raise


async def _verdict(judge: Judge, submission: Submission, task: _Task) -> Verdict:
    truth = read_truth(task.truth_file, digest=task.truth_digest)
    verdict = judge(submission, truth)
    return await verdict if inspect.isawaitable(verdict) else verdict


def _tasks(ledger: Ledger, run: RunRow, root: Path) -> list[_Task]:
    cases = {str(case["incident"]): case for case in run.cases}
    rows = counted(ledger, queries.investigations(ledger, run.run))
    return [
        _Task(
            row,
            root / str(cases[row.incident]["truth_file"]),
            str(cases[row.incident]["truth_digest"]),
        )
        for row in rows
        if row.trace and row.verdicts and not row.reason and row.verdicts[0].judge != CRASHED
    ]


def _given(row: InvestigationRow, mark: str) -> str | None:
    """The result that a judge of this hash gave before, as a further opinion."""
    given = [one.result for one in row.verdicts[1:] if one.criteria.get("judge_hash") == mark]
    return given[-1] if given else None


def _verdict_row(row: InvestigationRow, verdict: Verdict, mark: str) -> dict[str, Any]:
    return {
        "run": row.run,
        "incident": row.incident,
        "arm": row.arm,
        "repeat": row.repeat,
        "attempt": row.attempt,
        "judge": verdict.judge,
        "result": verdict.result,
        "reasoning": verdict.reasoning,
        "criteria_json": {**verdict.criteria, "judge_hash": mark},
        "at": now_us(),
        **spent_columns(verdict.spent),
    }


def _summed(
    ledger: Ledger,
    run: RunRow,
    choice: JudgeChoice,
    mark: str,
    did: tuple[int, list[Spent], list[NoVerdict]],
) -> Again:
    kept, spent, failures = did
    pairs: list[tuple[str, str]] = []
    changed = []
    for row in counted(ledger, queries.investigations(ledger, run.run)):
        now = _given(row, mark)
        if now is None:
            continue
        own = row.verdicts[0].result
        pairs.append((own, now))
        if own != now:
            changed.append(Changed(row.incident, row.arm, row.repeat, own, now))
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    return Again(
        run=run.run,
        judge=choice.words(),
        judged=len(spent) - len(failures),
        kept=kept,
        invalid=len(failures),
        own=(first.count("pass"), first.count("fail")),
        new=(second.count("pass"), second.count("fail")),
        kappa=cohen_kappa(pairs),
        changed=tuple(changed),
        spent=sum(spent, Spent()),
        why_invalid=failures[0].what if failures else "",
    )
