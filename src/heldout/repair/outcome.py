"""What an episode leaves behind for a judge: enough to build its code again and to probe it.

It travels in a submission as JSON. The harness writes it, never the agent; what the agent wrote
stands in it as files, which only ever run in the sandbox.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from heldout.errors import JudgeError
from heldout.repair.episode import EndReason, Episode
from heldout.repair.report import IncidentReport
from heldout.repair.sandbox.runner import Sandbox
from heldout.repair.tasks import task


class _Left(BaseModel):
    model_config = ConfigDict(extra="forbid")

    task: str
    files: dict[str, str]
    taken_back: str
    restored: bool
    minute: float
    hints: int
    shown: list[str]
    viewed: list[str]
    ended: EndReason
    report: IncidentReport | None


def leave(episode: Episode, name: str) -> str:
    """What an episode of a task leaves: changed files, what was taken back, time, report."""
    base, tree = episode.workspace.base, episode.workspace.tree
    report = episode.report
    said: dict[str, Any] = {
        "task": name,
        "files": {
            path: tree.files[path] for path in tree if base.files.get(path) != tree.files[path]
        },
        "taken_back": episode.taken_back,
        "restored": episode.restored,
        "minute": episode.minute,
        "hints": episode.hints,
        "shown": sorted(set(report.evidence) & episode.shown) if report else [],
        "viewed": sorted(episode.viewed),
        "ended": episode.ended,
        "report": report.model_dump(include=set(IncidentReport.model_fields)) if report else None,
    }
    return json.dumps(said, sort_keys=True)


def again(left: str, sandbox: Sandbox) -> Episode:
    """The episode as it was left, ready to be graded; text of another shape is a JudgeError."""
    try:
        said = _Left.model_validate_json(left)
    except ValidationError as error:
        raise JudgeError(
            "what the episode left cannot be read",
            mend="It was written by another version; play it again",
        ) from error
    episode = Episode(task(said.task).instance(), sandbox)
    for path, text in said.files.items():
        episode.workspace.put(path, text)
    episode.taken_back, episode.restored = said.taken_back, said.restored
    episode.minute, episode.hints = said.minute, said.hints
    episode.shown, episode.viewed = set(said.shown), set(said.viewed)
    episode.ended, episode.report = said.ended, said.report
    return episode
