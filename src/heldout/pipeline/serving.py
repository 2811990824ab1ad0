"""Serving one train incident to somebody else's agent, and judging what it submitted."""

from __future__ import annotations

import asyncio
import json
import signal
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.errors import UsageError
from heldout.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.serve.process import Served, Serving
    from heldout.split import Case

_AFTER_SUBMISSION = 3.0
"""Seconds that an HTTP server stays for its client after the submission."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What ``heldout serve`` was asked for; ``port`` is ``None`` for stdio, 0 for any free one."""

    incident: str
    set: str = ""
    tools: str = ""
    port: int | None = None
    sregym: bool = False


def serve_incident(settings: Settings, asked: Offer, note: Callable[[str], None]) -> Path:
    """Serve until the client is done, judge, and keep the record; returns the record's file.

    This process judges and never serves: the world is served by a child that knows no truth.
    ``note`` must not print to standard output, which belongs to the protocol.
    """
    from heldout.build import cases
    from heldout.split import declare_process

    declare_process("run")
    name = asked.set or settings.set
    if asked.sregym and asked.port is None:
        raise UsageError("--sregym needs --http PORT", mend="SREGym's clients speak HTTP")
    train = {case.incident.id: case for case in cases(settings, name, "train")}
    case = train.get(asked.incident)
    if case is None:
        raise UsageError(
            f"no such train incident '{asked.incident}'",
            where=name,
            mend=f"Train incidents: {', '.join(train) or 'none'}",
        )
    served = asyncio.run(_served(settings, case, asked, note))
    return _judged(settings, case, asked, served, note)


async def _served(
    settings: Settings, case: Case, asked: Offer, note: Callable[[str], None]
) -> Served:
    from heldout.environments import open_environment
    from heldout.errors import WorldError
    from heldout.serve.process import Serving
    from heldout.serve.sitting import Assignment

    tools = asked.tools or settings.agent.tools
    open_environment(tools)  # A wrong name is this process's to refuse.
    limits = settings.limits
    assignment = Assignment(
        world=str(case.incident.world),
        alert=case.incident.alert,
        tools=tools,
        max_steps=limits.max_steps,
        max_seconds=limits.max_seconds,
        transport="stdio" if asked.port is None else "http",
        port=asked.port or 0,
        sregym=asked.sregym,
    )
    serving = await Serving.start(assignment)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    address = await (serving.url() if asked.port is not None else serving.base())
    if asked.port is not None:
        note(f"serving {case.incident.id} on {address}; it ends with the submission or Ctrl-C")
    await _until_done(serving, stop, over_http=asked.port is not None)
    if asked.port is None:
        serving.terminate()
    served = await serving.stop()
    if served.broken and served.submission is None:
        raise WorldError(f"the serving process failed: {served.broken}", mend="Serve it again")
    return served


async def _until_done(serving: Serving, stop: asyncio.Event, *, over_http: bool) -> None:
    waiting = [asyncio.create_task(stop.wait()), asyncio.create_task(serving.gone.wait())]
    if over_http:
        waiting.append(asyncio.create_task(serving.submitted.wait()))
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    if over_http and serving.submitted.is_set():
        await asyncio.wait(waiting[:2], timeout=_AFTER_SUBMISSION,
                           return_when=asyncio.FIRST_COMPLETED)  # fmt: skip
    for task in waiting:
        task.cancel()


def _judged(
    settings: Settings, case: Case, asked: Offer, served: Served, note: Callable[[str], None]
) -> Path:
    from heldout.judge import judge_exact
    from heldout.store import Scrubber
    from heldout.truth import read_truth

    record: dict[str, Any] = {
        "incident": case.incident.id,
        "set": case.incident.set,
        "tools": asked.tools or settings.agent.tools,
        "world": case.incident.digest,
        "limit": served.limit,
        "steps": served.steps,
        "submission": served.submission.as_dict() if served.submission else None,
        "verdict": None,
    }
    said = "nothing was submitted"
    if served.submission is not None:
        truth = read_truth(case.truth_file, digest=case.truth_digest)
        verdict = judge_exact(served.submission, truth)
        record["verdict"] = {"result": verdict.result, "reasoning": verdict.reasoning}
        said = verdict.result  # The reasoning tells the answer: it stands in the file only.
    folder = settings.state / "served"
    folder.mkdir(parents=True, exist_ok=True)
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    path = folder / f"{stamp}-{case.incident.id}.json"
    part = path.with_suffix(".part")
    part.write_text(Scrubber()(json.dumps(record, indent=1)), encoding="utf-8")
    part.replace(path)
    note(f"{len(served.steps)} calls · {said}")
    return path
