"""What a set was drawn from: its pool, and what the validity gate discarded of it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import tomlkit
from pydantic import BaseModel, ConfigDict, ValidationError

from heldout.errors import SpecError

FILE = "pool.toml"


@dataclass(frozen=True, slots=True)
class PoolRecord:
    """The pool of a set: its seed, its places, how many were filled, and discards by reason.

    ``hardened`` says in a sentence what hardening did; empty without any.
    """

    seed: int
    places: int
    filled: int
    discards: Mapping[str, int] = field(default_factory=dict)
    hardened: str = ""

    def lines(self) -> list[str]:
        """For people."""
        ranked = sorted(self.discards.items(), key=lambda one: (-one[1], one[0]))
        said = [f"  pool of {self.places}, {self.filled} of them filled"]
        said += [f"  discarded {count} x {why}" for why, count in ranked if count]
        return said + [f"  {self.hardened}"] * bool(self.hardened)


class _RecordFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    seed: int
    places: int
    filled: int
    hardened: str = ""
    discards: dict[str, int] = {}


def write_record(record: PoolRecord, directory: Path) -> None:
    """Write ``pool.toml`` of the set in ``directory``."""
    document = tomlkit.document()
    for name in ("seed", "places", "filled", "hardened"):
        document.add(name, getattr(record, name))
    document.add("discards", {why: n for why, n in sorted(record.discards.items()) if n})
    directory.mkdir(parents=True, exist_ok=True)
    (directory / FILE).write_text(tomlkit.dumps(document), encoding="utf-8")


def read_record(directory: Path) -> PoolRecord | None:
    """The record of the set in ``directory``, ``None`` where there is none.

    A malformed one is a :class:`SpecError`.
    """
    path = directory / FILE
    try:
        held = _RecordFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValidationError) as error:
        raise SpecError(
            f"the record of the pool is malformed ({type(error).__name__})",
            where=str(path),
            mend="Restore it from git, or delete the file: it is no part of the set",
        ) from error
    return PoolRecord(held.seed, held.places, held.filled, held.discards, held.hardened)
