"""Proving trajectories: play the actions again, and compare all that the code gives."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import heldout
from heldout.errors import UsageError
from heldout.repair.episode import MAX_STEPS, SLA_MINUTES, Episode
from heldout.repair.grade import grade
from heldout.repair.pairing import Notebook, all_tools
from heldout.repair.reward import Rewards
from heldout.repair.sandbox.runner import Sandbox, SandboxError
from heldout.repair.tasks import task
from heldout.repair.tools import TOOLS
from heldout.repair.trajectory import (
    StepRow,
    Trajectory,
    altered,
    environment,
    lines_of,
    opening,
    read,
    step_row,
)
from heldout.split import HeldoutAccess

Status = Literal["proved", "altered", "other version", "not played"]

_COMPARED = ("text", "is_error", "minute", "tree", "arguments", "number", "chain")


@dataclass(frozen=True, slots=True)
class Verified:
    """What came of one row; ``findings`` name what differs and where.

    A row that is proved can have one too: that it was played under other limits than are usual.
    """

    where: str
    task: str
    status: Status
    findings: tuple[str, ...] = ()

    @property
    def proved(self) -> bool:
        """Whether everything is what the code gives."""
        return self.status == "proved"


def verify_file(path: Path) -> Iterator[Verified]:
    """Each row of a file, in order; a file without one is a :class:`UsageError`."""
    count = 0
    for number, line in lines_of(path):
        count += 1
        where = f"{path.name}:{number}"
        try:
            row = read(line)
        except UsageError as wrong:
            yield Verified(where, "", "altered", (str(wrong.what),))
            continue
        yield verify(row, where)
    if not count:
        raise UsageError("it holds no trajectory", where=str(path), mend="Name another file")


def verify(row: Trajectory, where: str = "") -> Verified:
    """Prove one row. A task of the held-out half needs a process that may open it."""
    if row.environment != environment():
        said = (
            f"it was played by heldout {row.heldout} (environment {row.environment}), this is "
            f"{heldout.__version__} ({environment()}): other code gives other answers"
        )
        return Verified(where, row.task, "other version", (said,))
    try:
        known = task(row.task)
        found = altered(row)
    except UsageError as wrong:
        return Verified(where, row.task, "altered", (wrong.what,))
    if found:
        return Verified(where, row.task, "altered", found)
    if known.half == "test":
        HeldoutAccess()
    try:
        found = _played(row)
    except SandboxError as broken:
        return Verified(where, row.task, "not played", (broken.what,))
    return Verified(where, row.task, "altered" if found else "proved", found or _limits(row))


def _limits(row: Trajectory) -> tuple[str, ...]:
    if (row.sla_minutes, row.max_steps) == (SLA_MINUTES, MAX_STEPS):
        return ()
    return (f"limits: {row.sla_minutes:g} minutes and {row.max_steps} steps, not the usual ones",)


def _played(row: Trajectory) -> tuple[str, ...]:
    """What differs when the row's actions are played; an own failure is a SandboxError."""
    rewards = None if row.rewards is None else Rewards()
    tools = all_tools(Notebook()) if row.mode == "pair" else TOOLS
    with Sandbox() as sandbox:
        episode = Episode(
            task(row.task).instance(),
            sandbox,
            sla_minutes=row.sla_minutes,
            max_steps=row.max_steps,
            tools=tools,
            watch=rewards,
        )
        shown = opening(episode)
        if sandbox.tier != "jail":
            # Whoever made the row wrote the code in it: it is let run nowhere but in a jail.
            raise SandboxError("this machine has no jail, and a row's code runs nowhere else")
        if shown != row.opening:
            return ("opening: what was shown at the beginning is not what the code shows",)
        for one in row.steps:
            different = _step(episode, one)
            if different:
                return (different,)
        return tuple(_end(row, episode, rewards))


def _step(episode: Episode, wanted: StepRow) -> str:
    """Play one step; what of it is not as the row says, or nothing."""
    before = len(episode.steps)
    episode.call(wanted.tool, wanted.arguments)
    if episode.unscored:
        raise SandboxError(episode.unscored)
    if len(episode.steps) == before:
        return f"step {wanted.number}: the episode had ended ({episode.ended})"
    given = step_row(episode.steps[-1])
    different = [name for name in _COMPARED if getattr(given, name) != getattr(wanted, name)]
    if not different:
        return ""
    what = "observation" if different[0] == "text" else different[0]
    return f"step {wanted.number} ({wanted.tool}): its {what} is not what the code gives"


def _end(row: Trajectory, episode: Episode, rewards: Rewards | None) -> Iterator[str]:
    """What of end, grade and rewards is not as the row says. No proper figure is told."""
    ended = episode.ended or "closed"
    if ended != row.ended:
        yield f"end: the episode ends with '{ended}'"
    found = rewards.settle(episode) if rewards is not None else grade(episode)
    if found.unscored:
        raise SandboxError(found.unscored)
    given = found.as_dict()
    for name in sorted({*given, *row.grade}):
        if _text(given.get(name)) != _text(row.grade.get(name)):
            yield f"grade: '{name}' is not what the code gives"
    if rewards is not None and not _equal(rewards.steps, row.rewards or ()):
        yield "rewards: they are not what the code gives"


def _text(value: object) -> str:
    """A value told apart from those that merely equal it, such as True and 1."""
    return json.dumps(value, sort_keys=True)


def _equal(one: list[float | None], two: tuple[float | None, ...]) -> bool:
    return len(one) == len(two) and all(
        a == b or (a is not None and b is not None and math.isclose(a, b, abs_tol=1e-12))
        for a, b in zip(one, two, strict=True)
    )
