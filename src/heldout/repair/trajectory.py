"""Trajectories: one episode as a row that says enough to be played again and proved.

A row is JSON on one line: task, what was shown at the beginning, every step with its answer and the
chain over all before it, the grade, and a seal over the whole row. Chain and seal are no signature:
who alters a row can make both anew. What proves a row is its replay
(:mod:`heldout.repair.verifying`); chain and seal name what was altered without one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import heldout
from heldout.errors import UsageError
from heldout.repair.episode import Episode, Step, beginning, linked
from heldout.repair.grade import Grade
from heldout.repair.reward import Rewards
from heldout.repair.tasks import Task, task
from heldout.split import HeldoutAccess

FORMAT: Literal["heldout-repair/1"] = "heldout-repair/1"
MAX_LINE = 8_000_000
"""Characters of a row that are read; an episode's answers together stay far below."""

_MOUNTS = frozenset({"interface.py", "outcome.py", "playing.py", "trajectory.py", "verifying.py"})
"""Files of the package that no answer or grade depends on."""


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class StepRow(_Row):
    """One call: what was asked, what was shown, and the chain over it and all before."""

    number: int
    tool: str
    arguments: dict[str, Any]
    text: str
    is_error: bool
    minute: float
    tree: str
    chain: str

    def step(self) -> Step:
        """The step as an episode keeps it."""
        return Step(**self.model_dump())


class Provenance(_Row):
    """Who played, as far as is known; nothing of it can be proved by a replay."""

    agent: str = ""
    model: str = ""
    brain: str = ""
    run: str = ""
    usd: float | None = None
    tokens: int | None = None
    seconds: float | None = None


class Trajectory(_Row):
    """One episode. ``rewards`` are those of its steps where they were asked for."""

    format: Literal["heldout-repair/1"] = FORMAT
    heldout: str
    environment: str
    task: str
    half: Literal["train", "test"]
    mode: Literal["single", "pair"] = "single"
    tier: Literal["jail", "limits"]
    sla_minutes: int | float
    max_steps: int = Field(gt=0, le=1000)
    opening: str
    steps: tuple[StepRow, ...]
    ended: str
    grade: dict[str, Any]
    rewards: tuple[float | None, ...] | None = None
    provenance: Provenance = Field(default_factory=Provenance)
    seal: str = ""

    @property
    def score(self) -> float | None:
        """The grade from 0 to 1, None where the environment failed."""
        found = self.grade.get("score")
        return float(found) if isinstance(found, int | float) else None

    def line(self) -> str:
        """The row as it is written: JSON, keys in order, nothing between them."""
        return _plain(self.model_dump(mode="json"))

    def sealed(self) -> Trajectory:
        """The same with its seal."""
        return self.model_copy(update={"seal": self.proper_seal()})

    def proper_seal(self) -> str:
        """The seal that its content asks for."""
        plain = {name: one for name, one in self.model_dump(mode="json").items() if name != "seal"}
        return hashlib.sha256(_plain(plain).encode()).hexdigest()


def record(
    episode: Episode,
    one: Task,
    grade: Grade,
    *,
    rewards: Rewards | None = None,
    mode: Literal["single", "pair"] = "single",
    provenance: Provenance | None = None,
) -> Trajectory:
    """The row of an episode that was played and graded, and is still open."""
    return Trajectory(
        heldout=heldout.__version__,
        environment=environment(),
        task=one.id,
        half=one.half,
        mode=mode,
        tier=episode.sandbox.tier,
        sla_minutes=episode.sla_minutes,
        max_steps=episode.max_steps,
        opening=opening(episode),
        steps=tuple(step_row(step) for step in episode.steps),
        ended=episode.ended or "closed",
        grade=json.loads(json.dumps(grade.as_dict())),
        rewards=None if rewards is None else tuple(rewards.steps),
        provenance=provenance or Provenance(),
    ).sealed()


def opening(episode: Episode) -> str:
    """What an episode showed at its beginning, whatever was done since."""
    fresh = Episode(
        episode.instance,
        episode.sandbox,
        sla_minutes=episode.sla_minutes,
        max_steps=episode.max_steps,
    )
    return json.dumps(fresh.observation(), sort_keys=True)


def step_row(step: Step) -> StepRow:
    """A step as a row holds it."""
    return StepRow(
        number=step.number,
        tool=step.tool,
        arguments=dict(step.arguments),
        text=step.text,
        is_error=step.is_error,
        minute=float(step.minute),
        tree=step.tree,
        chain=step.chain,
    )


@cache
def environment() -> str:
    """Digest of everything that answers and grades are made by; other code, another digest."""
    found: dict[str, str] = {}
    _collect(files("heldout.repair"), "", found)
    return hashlib.sha256(_plain(found).encode()).hexdigest()[:16]


def _collect(folder: Traversable, prefix: str, found: dict[str, str]) -> None:
    for one in sorted(folder.iterdir(), key=lambda each: each.name):
        if one.is_dir() and one.name not in ("__pycache__", "canaries"):
            _collect(one, f"{prefix}{one.name}/", found)
        elif one.name.endswith((".py", ".sql")) and prefix + one.name not in _MOUNTS:
            found[prefix + one.name] = hashlib.sha256(one.read_bytes()).hexdigest()


def altered(row: Trajectory) -> tuple[str, ...]:
    """What of a row does not fit its chain or seal; nothing is run."""
    known = task(row.task)
    found: list[str] = []
    before = beginning(known.instance())
    for at, one in enumerate(row.steps, 1):
        step = one.step()
        if one.number != at:
            found.append(f"step {at}: it is numbered {one.number}; steps were moved or taken out")
        if linked(before, step) != one.chain:
            found.append(f"step {at}: it does not fit the chain")
        before = one.chain
    if row.half != known.half:
        found.append(f"half: the task stands in the {known.half} half")
    if not found and row.seal != row.proper_seal():
        found.append("seal: something besides the steps was altered")
    return tuple(found)


def read(line: str) -> Trajectory:
    """A row out of its line; what is none, or not as it was written, is a :class:`UsageError`."""
    if len(line) > MAX_LINE:
        raise UsageError("the line is longer than any trajectory", mend="Export it again")
    try:
        row = Trajectory.model_validate_json(line)
    except ValidationError as wrong:
        first = wrong.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the line"
        raise UsageError(
            f"no trajectory: {_place(where)}: {first['msg'][:160]}", mend="Export it again"
        ) from None
    if row.line() != line:
        raise UsageError(
            "it is not written as trajectories are: something was altered that its reading hides",
            mend="Export it again",
        )
    return row


def _place(where: str) -> str:
    """``steps.3.text`` as ``step 4, text``."""
    parts = where.split(".")
    if parts[0] == "steps" and len(parts) > 1 and parts[1].isdigit():
        return ", ".join([f"step {int(parts[1]) + 1}", *parts[2:]])
    return where


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers; one that is no text is a :class:`UsageError`."""
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise UsageError(
            f"it cannot be read ({error.strerror})", where=str(path), mend="Name another file"
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(
            f"byte {error.start} is no text", where=str(path), mend="Export it again"
        ) from error
    for number, line in enumerate(text.split("\n"), 1):
        if line:
            yield number, line


def require_train(rows: Iterable[Trajectory]) -> None:
    """Let rows of the held-out half out of score processes alone.

    Elsewhere it is a :class:`~heldout.errors.SplitViolation`.
    """
    if any("test" in (row.half, task(row.task).half) for row in rows):
        HeldoutAccess()


def _plain(value: Mapping[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
