"""Difficulty labels: how often a model solved each incident, measured apart from any score.

They live beside a set in ``labels.toml``, never in its specs: they belong to one model, one brain
and one day. The runs they come from are played for them alone.
"""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import tomlkit
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from heldout.errors import SpecError

FILE = "labels.toml"
CLASSES: tuple[tuple[float, str], ...] = ((0.1, "never"), (0.5, "seldom"), (0.9, "often"))
"""Greatest pass rate of each class of difficulty; above the last is ``always``."""


@dataclass(frozen=True, slots=True)
class Labels:
    """Pass rates (0..1) by incident, and what they were measured with."""

    model: str
    brain: str
    repeats: int
    measured: datetime.date
    runs: tuple[str, ...]
    rates: Mapping[str, float]


class _LabelFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    model: str
    brain: str = Field(pattern=r"^[0-9a-f]{8,64}$")
    repeats: int = Field(ge=1)
    measured: datetime.date
    runs: list[str]
    rates: dict[str, float]


def label(rate: float) -> str:
    """The class of difficulty of a pass rate: never, seldom, often or always solved."""
    return next((name for most, name in CLASSES if rate <= most), "always")


def write_labels(labels: Labels, directory: Path) -> None:
    """Write ``labels.toml`` of the set in ``directory``."""
    document = tomlkit.document()
    document.add("model", labels.model)
    document.add("brain", labels.brain)
    document.add("repeats", labels.repeats)
    document.add("measured", labels.measured)
    document.add("runs", list(labels.runs))
    document.add("rates", {one: round(rate, 4) for one, rate in sorted(labels.rates.items())})
    directory.mkdir(parents=True, exist_ok=True)
    (directory / FILE).write_text(tomlkit.dumps(document), encoding="utf-8")


def read_labels(directory: Path) -> Labels | None:
    """The labels of the set in ``directory``, ``None`` where none were measured.

    A malformed file is a :class:`SpecError` that names the field.
    """
    path = directory / FILE
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
        held = _LabelFile.model_validate(raw)
    except FileNotFoundError:
        return None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SpecError(
            f"labels are not TOML ({error})", where=str(path), mend="Restore them from git"
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        raise SpecError(
            f"field '{'.'.join(str(part) for part in first['loc'])}': {first['msg']}",
            where=str(path),
            mend="Restore it from git, or delete the file: labels are no part of the set",
        ) from error
    return Labels(held.model, held.brain, held.repeats, held.measured, tuple(held.runs), held.rates)
