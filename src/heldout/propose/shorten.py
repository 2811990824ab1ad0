"""Size is part of the objective: what the tuning added, said in fewer lines."""

from __future__ import annotations

from dataclasses import replace

from heldout.brain import APPEND, Brain
from heldout.edit import Edit
from heldout.propose.strategy import without_marker
from heldout.signatures import Answered, Client, compress

SHORTEN = "shorten"
"""Author and cluster of an edit that shortens."""


def grown(base: Brain, brain: Brain, target_file: str) -> tuple[str, ...]:
    """The lines of the target file that tuning wrote.

    A model's overlay is written by tuning alone, so all of it counts, earlier jobs' lines included;
    of a base file, the lines that the job's first brain did not have.
    """
    lines = [line for line in brain.all_files().get(target_file, "").splitlines() if line.strip()]
    if target_file.startswith("overlays/"):
        return tuple(line for line in lines if line.strip() != APPEND)
    old = set(base.all_files().get(target_file, "").splitlines())
    return tuple(line for line in lines if line not in old)


async def shorten(
    client: Client, target_file: str, lines: tuple[str, ...], *, seed: int
) -> Answered[Edit]:
    """Ask for an edit that makes the lines fewer; it sees nothing else, whatever the strategy."""
    answer = await compress(client, target_file=target_file, lines=lines, seed=seed)
    if answer.value is None:
        return answer
    edit = replace(without_marker(answer.value, target_file), cluster=SHORTEN, author=SHORTEN)
    return Answered(edit, answer.spent)


def no_shortening(edit: Edit, target_file: str, lines: tuple[str, ...]) -> str:
    """Why an edit is none that shortens ``lines``, empty if it is one."""
    known = {line.strip(): line for line in lines}
    freed = 0
    for op in edit.ops:
        if op.action not in {"replace", "delete"}:
            return f"it would {op.action.replace('_', ' ')} text"
        if op.file != target_file or op.anchor.strip() not in known:
            return "it touches what the tuning did not add"
        freed += len(known[op.anchor.strip()]) - len(op.text if op.action == "replace" else "")
    return "" if freed > 0 and edit.growth() <= 0 else "it makes nothing shorter"
