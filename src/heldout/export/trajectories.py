"""Runs of the repair environment as trajectories that anybody can prove.

The ledger keeps what the harness saw. A trajectory is what the environment itself says when the
calls are made once more: with chain, grade and the reward of each step.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from heldout.agent.trace import Step, Trace
from heldout.environments import REPAIR
from heldout.errors import ConfigError, UsageError
from heldout.export.lines import Guard, write_lines
from heldout.export.source import Exported, Source
from heldout.repair.episode import Episode
from heldout.repair.reward import Rewards
from heldout.repair.sandbox.runner import Sandbox
from heldout.repair.tasks import task
from heldout.repair.tools import TOOLS
from heldout.repair.trajectory import Provenance, Trajectory, record, require_train


class Trajectories:
    """One line an episode that counts, whether it passed or failed.

    An invalid one is left out. Where the environment answers otherwise than it did in the run it is
    a :class:`~heldout.errors.ConfigError`, since it has changed since.
    """

    name = "trajectory"

    def write(self, source: Source, path: Path, guard: Guard) -> int:
        """Write the file and return how many rows it has."""
        for run in source.runs:
            if run.set != REPAIR:
                raise UsageError(
                    f"run {run.run} played no repairs", mend="Name runs with --interface repair"
                )
        return write_lines(path, _rows(source), guard)


def _rows(source: Source) -> Iterator[dict[str, Any]]:
    for one in source.investigations():
        if one.valid and one.trace is not None:
            row = _played(one, one.trace)
            require_train([row])
            found: dict[str, Any] = json.loads(row.line())
            yield found


def _played(one: Exported, trace: Trace) -> Trajectory:
    rewards = Rewards()
    known = task(one.row.incident)
    with Sandbox() as sandbox:
        episode = Episode(known.instance(), sandbox, watch=rewards)
        for step in trace.steps:
            if not _harness(step):
                _again(episode, step, one)
        grade = rewards.settle(episode)
        return record(episode, known, grade, rewards=rewards, provenance=_provenance(one, trace))


def _harness(step: Step) -> bool:
    """Whether the harness answered and the environment never heard of it.

    Its errors are objects, those of the environment are words.
    """
    if step.tool not in TOOLS:
        return True
    try:
        error = json.loads(step.answer).get("error")
    except (ValueError, AttributeError):
        return False
    return isinstance(error, dict)


def _again(episode: Episode, step: Step, one: Exported) -> None:
    text, error, _ = episode.call(step.tool, step.args)
    if (text, error) != (step.answer, step.is_error):
        raise ConfigError(
            f"step {step.index + 1} ({step.tool}) is answered otherwise than in this run",
            where=f"run {one.run.run}, {one.row.incident}",
            mend="Export it with the heldout that played it",
        )


def _provenance(one: Exported, trace: Trace) -> Provenance:
    return Provenance(
        agent=one.row.arm,
        model=one.row.model,
        brain=one.row.brain,
        run=one.row.run,
        usd=trace.usd,
        tokens=trace.input_tokens + trace.output_tokens,
        seconds=trace.seconds,
    )
