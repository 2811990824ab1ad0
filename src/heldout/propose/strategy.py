"""How edits are proposed: one protocol, one file per strategy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from heldout.brain import Brain
from heldout.edit import Edit
from heldout.errors import UsageError
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

    async def candidates(self, client: Client, request: Request) -> Answered[tuple[Edit, ...]]:
        """Candidates for one cluster; a failure says why there are none."""
        ...


def strategy(name: str) -> Strategy:
    """A strategy by name; an unknown one is a :class:`UsageError`."""
    from heldout.propose.reflect import Reflect

    known: dict[str, Strategy] = {one.name: one for one in (Reflect(),)}
    if name not in known:
        raise UsageError(
            f"there is no strategy '{name}'", mend=f"Known: {', '.join(sorted(known))}"
        )
    return known[name]


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
