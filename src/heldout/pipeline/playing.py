"""Playing train incidents with one brain, beside any job: begin, go on, play more repeats."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from heldout.environments import REPAIR
from heldout.errors import UsageError
from heldout.pipeline.progress import SILENT, Say, progress_words
from heldout.pipeline.stages import build_repairs
from heldout.settings import Mode, Settings, Wire

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from heldout.run import Caps, Plan, RunResult, Terms
    from heldout.store import Ledger
    from heldout.store.queries import RunRow

    Starter = Callable[..., Awaitable[RunResult]]


@dataclass(frozen=True, slots=True)
class Spending:
    """What a run may spend in all, over however many commands; ``None`` is heldout.toml's.

    Seconds are those of one command.
    """

    max_usd: float | None = None
    max_tokens: int | None = None
    max_seconds: float | None = None

    def caps(self, settings: Settings) -> Caps:
        """These caps, and the project's where none is given."""
        from heldout.run import Caps

        run = settings.run
        return Caps(
            run.max_usd if self.max_usd is None else self.max_usd,
            run.max_tokens if self.max_tokens is None else self.max_tokens,
            run.max_seconds if self.max_seconds is None else self.max_seconds,
        )


@dataclass(frozen=True, slots=True)
class Playing:
    """What ``heldout run`` was asked for; empty means the default."""

    model: str = ""
    brain: Path | None = None
    base_url: str = ""
    set: str = ""
    repeats: int | None = None
    incidents: tuple[str, ...] = ()
    seed: int | None = None
    mode: str = ""
    wire: str = ""
    tools: str = ""
    agent_command: str = ""
    spending: Spending = field(default_factory=Spending)
    workers: int = 1


class Played(NamedTuple):
    """What came of a run, in words; ``valid`` is false when too much of it was invalid."""

    text: str
    valid: bool


def play_train(settings: Settings, asked: Playing, say: Say = SILENT) -> Played:
    """Play train incidents with one brain and say what came of it."""
    from heldout.pipeline.sharing import Spread, play_with_workers
    from heldout.run import play
    from heldout.split import declare_process

    declare_process("run")
    if settings.set == REPAIR:
        build_repairs(settings)
    plan = _plan(settings, asked)
    start: Starter = play
    if asked.workers > 1:
        start = partial(play_with_workers, spread=Spread(asked.workers))
    return asyncio.run(_watched(settings, say, start, plan, asked.spending))


class Shards(NamedTuple):
    """A run that was cut for workers: the shards, as they are named to 'heldout work'."""

    run: str
    share: str
    shards: tuple[str, ...]
    text: str


def cut_train(settings: Settings, asked: Playing, shards: int, share: Path | None = None) -> Shards:
    """Begin a run, or take up one that was stopped, and cut it into shards for other processes."""
    from heldout.behaviour import RunWatch
    from heldout.canaries import read_watch
    from heldout.environments import open_environment
    from heldout.pipeline.sharing import share_of
    from heldout.run import cut
    from heldout.run.opening import Given
    from heldout.run.shards import Cutting
    from heldout.split import declare_process
    from heldout.store import Ledger

    declare_process("run")
    plan = _plan(settings, asked)
    folder = share_of(settings, share)
    cutting = Cutting(shards, folder, asked.spending.caps(settings))
    given = Given(open_environment(plan.terms.tools))
    canaries = read_watch(settings)
    with Ledger.open(settings.ledger) as ledger:
        watch = RunWatch(canaries, ledger)
        done = asyncio.run(cut(plan, ledger, settings, cutting=cutting, given=given))
        watch.check(done.run)  # It may have brought in what an earlier cut left.
    names = tuple(f"{number}/{done.shards}" for number in range(1, done.shards + 1))
    left = done.before.total - done.before.done
    lines = [_head(done.run, plan), *done.notes]
    if names:
        lines += [
            f"cut into {done.shards} shards of about {left / done.shards:.3g} investigations",
            "play each, on any machine with this project and this folder:",
            f"  heldout work {done.run[:8]} --shard {names[0]} --share {folder}",
            f"and when all to {names[-1]} have ended: heldout resume {done.run[:8]}",
        ]
    else:
        lines.append("nothing is left of it to play")
    return Shards(done.run, str(folder), names, "\n".join(lines))


def resume_run(
    settings: Settings,
    run: str = "",
    *,
    repeats: int | None = None,
    spending: Spending | None = None,
    workers: int = 1,
    take_over: bool = False,
    say: Say = SILENT,
) -> Played:
    """Go on with a run that belongs to no job, by default the newest that was stopped.

    ``repeats`` (in all) plays more of them. What the shards of one that was cut have landed is
    brought in; ``take_over`` plays here what they still lack. No such run is a :class:`UsageError`.
    """
    from heldout.pipeline.sharing import Spread, play_with_workers
    from heldout.run import resume
    from heldout.split import declare_process
    from heldout.store import Ledger

    declare_process("run")
    with Ledger.open(settings.ledger) as ledger:
        row = _own_run(ledger, run)
    start: Starter = partial(resume, repeats=repeats, take_over=take_over)
    if workers > 1:
        start = partial(play_with_workers, spread=Spread(workers, repeats, take_over))
    return asyncio.run(_watched(settings, say, start, row.run, spending or Spending()))


def _own_run(ledger: Ledger, run: str) -> RunRow:
    from heldout.store import queries

    if run:
        row = queries.run(ledger, run)
        if row.purpose == "score":
            raise UsageError(
                "a score's repeats are fixed before its first call",
                where=f"run {row.run}",
                mend="'heldout score --resume' goes on with one that was stopped",
            )
        if row.job or row.purpose != "train":
            raise UsageError(
                f"it belongs to job {row.job}" if row.job else "a measurement played it",
                where=f"run {row.run}",
                mend="Resume the job, or give the command again that measured",
            )
        return row
    stopped = ("started", "resumed", "capped", "cut", "gathered")
    found = [
        row
        for row in queries.runs(ledger, purpose="train")
        if not row.job and row.status in stopped
    ]
    if not found:
        raise UsageError(
            "no job was stopped before its end, nor a run",
            mend="'heldout status' shows where each model stands",
        )
    return found[-1]


def _plan(settings: Settings, asked: Playing) -> Plan:
    from heldout.brain import load_brain
    from heldout.build import cases
    from heldout.run import Arm, Limits, Plan

    name = asked.set or settings.set
    train = cases(settings, name, "train")
    unknown = set(asked.incidents) - {case.incident.id for case in train}
    if unknown or not train:
        known = ", ".join(case.incident.id for case in train) or "none"
        which = f" '{min(unknown)}'" if unknown else ""
        raise UsageError(
            f"no such train incident{which}", where=name, mend=f"Train incidents: {known}"
        )
    chosen = tuple(c for c in train if not asked.incidents or c.incident.id in asked.incidents)
    limits = settings.limits
    terms = _terms(settings, asked)
    return Plan(
        purpose="train",
        set=name,
        model=asked.model or _model(settings, terms),
        cases=chosen,
        arms=(Arm("brain", load_brain(asked.brain or settings.brain)),),
        repeats=asked.repeats or settings.run.repeats,
        seed=settings.run.seed if asked.seed is None else asked.seed,
        limits=Limits(limits.max_steps, limits.max_tokens, limits.max_seconds, limits.max_usd),
        concurrency=settings.run.concurrency,
        max_invalid=settings.run.max_invalid,
        base_url=asked.base_url or settings.models.base_url,
        terms=terms,
    )


def _terms(settings: Settings, asked: Playing) -> Terms:
    """How the model is asked: as heldout.toml says, but for what the command says."""
    from heldout.run import Terms

    given: dict[str, Any] = {"mode": asked.mode, "wire": asked.wire}
    for name, known in (("mode", get_args(Mode)), ("wire", get_args(Wire))):
        if given[name] and given[name] not in known:
            raise UsageError(
                f"--{name}: there is no '{given[name]}'", mend=f"Take one of {', '.join(known)}"
            )
    given |= {"tools": asked.tools, "agent_command": asked.agent_command}
    return replace(Terms.of(settings), **{name: one for name, one in given.items() if one})


def _model(settings: Settings, terms: Terms) -> str:
    """The agent of heldout.toml; a program that none is named for goes by its file's name."""
    named = settings.models.agent
    if not terms.agent_command or not named.startswith("sim/"):
        return named
    words = [Path(word).stem for word in terms.agent_command.split() if not word.startswith("-")]
    scripts = [word for word in words if not word.startswith("python")]
    return f"program/{re.sub(r'[^A-Za-z0-9._-]+', '-', (scripts or words or ['agent'])[0])}"


async def _watched(
    settings: Settings,
    say: Say,
    start: Starter,
    what: Plan | str,
    spending: Spending,
) -> Played:
    """Begin or go on, look for canaries in what was said, and put the result into words."""
    from heldout.behaviour import RunWatch
    from heldout.canaries import read_watch
    from heldout.environments import open_environment
    from heldout.store import Ledger

    canaries = await asyncio.to_thread(read_watch, settings)
    with Ledger.open(settings.ledger) as ledger:
        watch = RunWatch(canaries, ledger)
        tools = _tools(ledger, what) if isinstance(what, str) else what.terms.tools
        result: RunResult = await start(
            what,
            ledger,
            settings,
            interface=open_environment(tools),
            on_progress=lambda state: say(progress_words(state)),
            caps=spending.caps(settings),
        )
        watch.check(result.run)
        return _said(ledger, result)


def _tools(ledger: Ledger, run: str) -> str:
    """The packs of tools that a stored run was played with."""
    from heldout.store import queries

    terms = queries.run(ledger, run).manifest.get("terms", {})
    return str(terms.get("tools", "native"))


def _said(ledger: Ledger, result: RunResult) -> Played:
    from heldout.judge.calibration import standing
    from heldout.run.judging import choice_of
    from heldout.run.reduce import final, invalid_share, run_status, summaries
    from heldout.store import queries

    plan = result.plan
    spent = queries.cost(ledger, run=result.run)
    usd = "unknown" if spent.total_usd is None else f"{spent.total_usd:.2f}"
    lines = []
    for arm in summaries(result.outcomes, plan):
        whole = len(plan.cases)
        lines += [
            f"solved {arm.solved:.3g} of {whole} incidents ({arm.reducer} of {plan.repeats} "
            f"repeats) · {arm.passed} passed, {arm.failed} failed, {arm.invalid} invalid · "
            f"{usd} USD · {arm.seconds:.1f} s",
            f"coverage {arm.coverage:.0%}: {arm.passed + arm.failed} of {arm.planned} valid · "
            f"invalid {invalid_share(result.outcomes):.0%} of those started, "
            f"{plan.max_invalid:.0%} allowed",
        ]
    ends = list(final(result.outcomes).values())
    status = run_status(result.outcomes, plan, result.absent)
    paused = sum(one.reason == "cap" for one in ends)
    if paused or result.absent:
        why = (queries.run(ledger, result.run).status_detail or {}).get("why") or "stopped"
        lines.append(
            f"{why}: {result.absent} not started, {paused} stopped midway; "
            f"'heldout resume {result.run[:8]}' goes on"
        )
    unjudged = sum(one.reason == "judge" for one in ends)
    if unjudged:
        lines.append(
            f"the judge gave no verdict on {unjudged}; 'heldout resume {result.run[:8]}' asks it "
            "again and plays nothing twice"
        )
    reasons = {one.reason for one in ends} - {"", "cap", "judge"}
    if reasons:
        named = ", ".join(sorted(reasons))
        lines.append(f"invalid because of {named}; mend that, take another --seed")
    lines += [*result.notes, *standing(ledger, choice_of(plan.terms), plan.model)]
    return Played("\n".join([_head(result.run, plan), *lines]), status != "error")


def _head(run: str, plan: Plan) -> str:
    return f"run {run} · {plan.model} · brain {plan.arms[0].brain.hash[:12]}"
