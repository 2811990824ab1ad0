"""How edits are proposed: what a strategy is asked, and what it must be able to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from heldout.brain import APPEND, Brain
from heldout.edit import Edit
from heldout.propose.clusters import Cluster
from heldout.propose.memory import Rejected
from heldout.signatures import Answered, Client


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that a strategy may know.

    ``target_file`` is the file that edits belong in (a model's overlay, or a file of the base);
    ``files`` are the editable files as the model reads them. Frozen files are never shown.
    """

    brain: Brain
    target_file: str
    files: tuple[tuple[str, str], ...]
    cluster: Cluster
    memory: tuple[Rejected, ...]
    candidates: int
    max_lines: int
    seed: int


class Strategy(Protocol):
    """Writes candidate edits that answer one cluster of failures."""

    @property
    def name(self) -> str:
        """Short name, stored with every edit it wrote."""
        ...

    @property
    def reads_failures(self) -> bool:
        """False: no failure may be read for it, and its request holds none that was."""
        ...

    async def candidates(self, client: Client, request: Request) -> Answered[tuple[Edit, ...]]:
        """Candidates for one cluster; a failure says why there are none."""
        ...


def readable_files(
    brain: Brain, target_file: str, model: str = "", interface: str = ""
) -> tuple[tuple[str, str], ...]:
    """The files to show: editable base files, on-demand skills, this model's overlays, the target.

    Files of other models and interfaces are left out, frozen ones too: they name a team's services.
    """
    from heldout.brain import slug

    prefixes = (f"overlays/models/{slug(model)}/", f"overlays/interfaces/{interface}/")
    shown = [
        (name, text)
        for name, text in brain.all_files().items()
        if brain.editable(name)
        and (not name.startswith("overlays/") or name.startswith(prefixes) or name == target_file)
    ]
    return tuple(shown)


def usable(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Edits without doubles, in order."""
    return tuple({edit.id: edit for edit in edits}.values())


def signed(
    answer: Answered[tuple[Edit, ...]], request: Request, author: str
) -> Answered[tuple[Edit, ...]]:
    """The edits of an answer with their cluster and their author, each once."""
    if answer.value is None:
        return answer
    edits = [
        replace(
            without_marker(edit, request.target_file), cluster=request.cluster.key, author=author
        )
        for edit in answer.value
    ]
    return Answered(usable(edits), answer.spent, answer.failure)


def without_marker(edit: Edit, target_file: str) -> Edit:
    """The edit without the overlay's marker line in its texts; applying it puts that there."""
    ops = tuple(
        replace(op, text=op.text.replace(APPEND, "").strip("\n")) if op.file == target_file else op
        for op in edit.ops
    )
    return replace(edit, ops=ops)
