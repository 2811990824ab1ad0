"""The repair environment as an :class:`~heldout.interface.Interface`, in process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heldout.graph import world_meta
from heldout.graph.files import MANIFEST
from heldout.interface import Submission, ToolAnswer, ToolSpec
from heldout.repair.episode import Episode
from heldout.repair.grade import Grade, grade
from heldout.repair.outcome import leave
from heldout.repair.reward import Rewards
from heldout.repair.sandbox.runner import Sandbox, Tier
from heldout.repair.tasks import task
from heldout.repair.tools import TOOLS

NAME = "repair"
TASK = "task"
"""In the manifest of a task's world: its id."""


class RepairSession:
    """One episode as a harness sees it: calls and a submission; the grade is made apart."""

    def __init__(self, episode: Episode, name: str) -> None:
        self.episode = episode
        self._name = name

    def call(self, tool: str, args: Mapping[str, Any]) -> ToolAnswer:
        """Answer one call."""
        text, error, ids = self.episode.call(tool, args)
        return ToolAnswer(text, error, ids, final=bool(self.episode.ended))

    @property
    def rewards(self) -> Rewards | None:
        """The rewards of the steps so far, where the interface was asked for them."""
        watch = self.episode.watch
        return watch if isinstance(watch, Rewards) else None

    def opening(self) -> str:
        """What stands at the beginning: the alert and what dashboards show."""
        return json.dumps(self.episode.observation(), sort_keys=True)

    def finish(self) -> Submission | None:
        """The report in the fields that every environment shares."""
        report = self.episode.report
        if report is None:
            return None
        return Submission(
            root_cause_entity=f"{report.service}/{report.file}:{report.symbol}",
            root_cause_change=report.introduced_by or None,
            mechanism=report.mechanism,
            affected=tuple(report.affected),
            evidence_ids=tuple(report.evidence),
            ruled_out=tuple(report.symptoms),
            recommended_fix=report.summary,
            complete=self.episode.ended == "submitted",
            artifact=leave(self.episode, self._name),
        )

    def grade(self) -> Grade:
        """What the episode was worth; runs the hidden probes."""
        return grade(self.episode)

    def close(self) -> None:
        """End the episode and its sandbox."""
        self.episode.close()


def task_of(task_ref: str) -> str:
    """The task's id, which the world of a task keeps in its manifest."""
    path = Path(task_ref)
    return world_meta(path).meta.get(TASK, "") if (path / MANIFEST).is_file() else task_ref


class RepairInterface:
    """Opens tasks by their ids. ``tier`` is what the sandbox is asked for.

    ``rewards`` are for trainers: each session then keeps the reward of its steps, which probes
    after every change and is shown to no agent.
    """

    acts = frozenset({"edit_lines", "revert_edit", "rollback_migration"})
    """Tools after which the same call may be answered otherwise."""

    def __init__(self, tier: Tier = "jail", *, rewards: bool = False) -> None:
        self._tier = tier
        self._rewards = rewards

    @property
    def name(self) -> str:
        """Short name, part of a run's manifest and of brain overlays."""
        return NAME

    def tool_specs(self) -> tuple[ToolSpec, ...]:
        """The tools, in stable order."""
        return tuple(tool.spec() for tool in TOOLS.values())

    def open(self, task_ref: str, seed: int) -> RepairSession:
        """Open one task, by its id or its world's folder; ``seed`` decides nothing.

        A task is the same whenever it is opened. One of the held-out half opens only in a process
        whose role may see that.
        """
        name = task_of(task_ref)
        watch = Rewards() if self._rewards else None
        episode = Episode(task(name).instance(), Sandbox(tier=self._tier), watch=watch)
        return RepairSession(episode, name)
