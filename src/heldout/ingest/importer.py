"""What reads one kind of material into a world, and how it is found: one file each in ``kinds``."""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from heldout.errors import UsageError

if TYPE_CHECKING:
    from heldout.ingest.draft import WorldDraft


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What an import is told.

    ``cluster`` and ``account`` are those of material that does not name its own; ``format`` is how
    the material is written where that cannot be seen; ``now`` is the moment at which the world
    stands, in microseconds (``None``: the latest that the material tells of); ``names`` keeps
    people's names as they are instead of pseudonyms.
    """

    cluster: str = ""
    account: str = ""
    format: str = ""
    now: int | None = None
    strict: bool = False
    names: bool = False


class Importer(Protocol):
    """Reads one kind of material. Whatever cannot be read is a record in the draft's report."""

    @property
    def name(self) -> str:
        """The KIND of ``heldout ingest KIND PATH``."""
        ...

    @property
    def reads(self) -> str:
        """What it reads, in a few words."""
        ...

    def read_into(self, path: Path, draft: WorldDraft, options: ImportOptions) -> None:
        """Read everything at or below ``path`` into a draft; nothing in it is executed."""
        ...


@cache
def importers() -> dict[str, Importer]:
    """Every importer, by name."""
    from heldout.ingest import kinds

    return registered(kinds, "IMPORTER")


def registered(package: ModuleType, attribute: str) -> dict[str, Any]:
    """What each module of a package offers under a name of its own, by that ``name``."""
    found: dict[str, Any] = {}
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda one: one.name):
        one = getattr(import_module(f"{package.__name__}.{info.name}"), attribute, None)
        if one is not None:
            found[one.name] = one
    return dict(sorted(found.items()))


def importer(name: str) -> Importer:
    """An importer by its name; any other is a :class:`UsageError` that names them all."""
    known = importers()
    if name not in known:
        raise UsageError(f"nothing reads '{name[:40]}'", mend=f"Name one of: {', '.join(known)}")
    return known[name]
