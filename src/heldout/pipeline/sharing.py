"""A run played by several processes: cut into shards, played by workers, gathered by one."""

from __future__ import annotations

import asyncio
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from heldout.pipeline.progress import SILENT, Say, progress_words
from heldout.settings import Settings, load_settings
from heldout.terminal import visible

if TYPE_CHECKING:
    from asyncio.subprocess import Process

    from heldout.interface import Interface
    from heldout.pipeline.playing import Shards
    from heldout.run import Caps, Plan, RunResult
    from heldout.run.crew import OnProgress, Progress
    from heldout.run.shards import CutRun, ShardState, Sheet
    from heldout.store import Ledger

_LOOK_EVERY = 0.5
"""Seconds between two looks at where the workers stand."""


@dataclass(frozen=True, slots=True)
class Working:
    """What ``heldout work`` was asked for; empty means the default."""

    run: str = ""
    shard: str = "1/1"
    share: Path | None = None
    base_url: str = ""
    agent_command: str = ""


@dataclass(frozen=True, slots=True)
class Spread:
    """How a run is spread over worker processes; the rest is for one that began earlier."""

    workers: int
    repeats: int | None = None
    take_over: bool = False


class Worked(NamedTuple):
    """What came of one shard, in words; ``valid`` is false when nothing of it was."""

    text: str
    valid: bool


def share_of(settings: Settings, share: Path | None = None) -> Path:
    """The shared folder: the one named, else the project's own."""
    return (share or settings.state / "share").absolute()


def work_shard(settings: Settings, asked: Working, say: Say = SILENT) -> Worked:
    """Play one shard of a run that was cut, without a ledger, and say what came of it."""
    from heldout.build import cases
    from heldout.environments import open_environment
    from heldout.errors import UsageError
    from heldout.run.opening import Given
    from heldout.run.shards import Allowed, Folder, Shard, Worker, plan_of_sheet
    from heldout.split import declare_process

    declare_process("run")
    shard = Shard.parse(asked.shard)
    folder = Folder.find(share_of(settings, asked.share), asked.run)
    sheet = folder.sheet()
    if sheet is None:
        raise UsageError("the run was gathered meanwhile", where=f"run {folder.run}")
    interface = open_environment(sheet.tools)
    plan = plan_of_sheet(
        sheet,
        lambda name: cases(settings, name, "train"),
        settings,
        interface,
        Allowed(asked.base_url, asked.agent_command),
    )
    worker = Worker(folder, sheet, shard, plan)
    play = worker.play(settings, Given(interface), lambda state: say(progress_words(state)))
    return _worked(sheet, shard, asyncio.run(play))


def _worked(sheet: Sheet, shard: object, state: ShardState) -> Worked:
    usd = "unknown" if state.usd is None else f"{state.usd:.2f}"
    lines = [
        f"shard {shard} of run {sheet.run}: {state.done} of {state.total} finished · "
        f"{state.passed} passed, {state.failed} failed, {state.invalid} invalid · {usd} USD"
    ]
    if state.why:
        lines.append(f"{state.why}: {state.total - state.done} not started")
    return Worked("\n".join(lines), not (state.invalid and not state.passed + state.failed))


async def play_with_workers(
    what: Plan | str,
    ledger: Ledger,
    settings: Settings,
    *,
    interface: Interface,
    on_progress: OnProgress,
    caps: Caps,
    spread: Spread,
) -> RunResult:
    """Play a plan, or what a run still lacks, with worker processes on this machine.

    This process holds the ledger. When every worker has ended, whatever way, it brings in what they
    landed, and plays what they left itself.
    """
    from heldout.run import cut, resume
    from heldout.run.opening import Given
    from heldout.run.shards import Cutting

    done = await cut(
        what,
        ledger,
        settings,
        cutting=Cutting(spread.workers, share_of(settings), caps, spread.take_over),
        given=Given(interface),
        repeats=spread.repeats,
    )
    notes = await _Workers(settings, done, on_progress).play() if done.shards else []
    result = await resume(
        done.run,
        ledger,
        settings,
        interface=interface,
        on_progress=on_progress,
        caps=caps,
        take_over=True,
    )
    return replace(result, notes=(*done.notes, *notes, *result.notes))


class _Workers:
    """The worker processes of one cut run."""

    def __init__(self, settings: Settings, done: CutRun, on_progress: OnProgress) -> None:
        self._settings = settings
        self._done = done
        self._on_progress = on_progress
        self._began = time.monotonic()

    async def play(self) -> list[str]:
        """Wait for them all; what those that failed said, as sentences."""
        numbers = range(1, self._done.shards + 1)
        running: list[Process] = []
        try:
            running += [await self._start(number) for number in numbers]
            ended = asyncio.gather(*(one.communicate() for one in running))
            while not ended.done():
                await asyncio.wait([ended], timeout=_LOOK_EVERY)
                self._on_progress(self._progress())
            said = await ended
        finally:
            for one in running:
                if one.returncode is None:
                    one.terminate()
            await asyncio.gather(*(one.wait() for one in running))
        return [
            f"worker {number} {_end(one.returncode, complaint)}; what it left was played here"
            for number, one, (_, complaint) in zip(numbers, running, said, strict=True)
            if one.returncode
        ]

    async def _start(self, number: int) -> Process:
        done = self._done
        words = ["work", done.run, "--shard", f"{number}/{done.shards}", "--quiet"]
        words += ["--share", str(done.folder.share), "--project", str(self._settings.root)]
        # The ledger's word on these is good: they were given to this command or an earlier one.
        words += ["--base-url", done.plan.base_url]
        words += ["--agent-command", done.plan.terms.agent_command]
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "heldout.cli.main",
            *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )

    def _progress(self) -> Progress:
        """What was done before, and what the shards say."""
        before = self._done.before
        states = shard_states(self._done)
        fresh = sum(one.done for one in states)
        prices = [before.usd, *(one.usd for one in states)]
        known = [price for price in prices if price is not None]
        left = before.total - before.done - fresh
        elapsed = time.monotonic() - self._began
        return replace(
            before,
            done=before.done + fresh,
            passed=before.passed + sum(one.passed for one in states),
            failed=before.failed + sum(one.failed for one in states),
            invalid=before.invalid + sum(one.invalid for one in states),
            in_flight=sum(one.in_flight for one in states),
            usd=sum(known) if len(known) == len(prices) else None,
            eta_seconds=elapsed / fresh * left if fresh else None,
        )


def shard_states(done: CutRun) -> list[ShardState]:
    """Where the shards that were begun stand."""
    from heldout.run.shards import Shard

    shards = [Shard(number + 1, done.shards) for number in range(done.shards)]
    states = [done.folder.state(done.edition, shard) for shard in shards]
    return [state for state in states if state is not None]


def _end(code: int, complaint: bytes) -> str:
    """How a worker ended that did not end well."""
    if code < 0:
        return f"was ended by signal {-code}"
    lines = complaint.decode("utf-8", "replace").strip().splitlines() or ["it did not say why"]
    return f"ended with code {code}: {visible(lines[-1].removeprefix('error: '), 300).rstrip('.')}"


def cut_by_name(
    project: str = "",
    model: str = "",
    repeats: int | None = None,
    shards: int = 4,
    share: str = "",
) -> Shards:
    """Cut a run of the train half with the brain in use; empty means the project's own."""
    from heldout.pipeline.playing import Playing, cut_train

    asked = Playing(model=model, repeats=repeats)
    return cut_train(_settings(project), asked, shards, Path(share) if share else None)


def work_by_name(shard: str, run: str = "", project: str = "", share: str = "") -> str:
    """Play one shard; returns what came of it, in words."""
    asked = Working(run, shard, Path(share) if share else None)
    return work_shard(_settings(project), asked).text


def gather_by_name(run: str, project: str = "") -> str:
    """Bring in what the shards of a run landed, play what they lack, say what came of it."""
    from heldout.pipeline.playing import resume_run

    return resume_run(_settings(project), run, take_over=True).text


def _settings(project: str) -> Settings:
    return load_settings(Path(project) if project else None)
