"""A spec is the recipe of one incident. It determines the truth, so it is as secret as that."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import tomlkit
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from heldout.errors import SpecError

Kind = Literal["trap", "onset_control", "no_change", "no_fault", "unanswerable"]
KINDS: tuple[Kind, ...] = ("trap", "onset_control", "no_change", "no_fault", "unanswerable")
"""``trap`` is what is tuned and scored; all the others are controls and reported apart."""

Origin = Literal["simulated", "recorded", "reconstructed", "overlay"]
"""Drawn here; told by somebody else's recording; built after somebody's description; grafted."""
MATERIAL = {
    "simulated": "own generator", "overlay": "grafted", "recorded": "outside",
    "reconstructed": "reconstructed",
}  # fmt: skip
"""What an incident's origin makes of it as evidence."""


@dataclass(frozen=True, slots=True)
class Spec:
    """The recipe of one incident; ``world_digest`` and ``truth_digest`` pin what it must make."""

    id: str
    kind: Kind
    domain: str
    family: str
    fault: str
    traps: tuple[str, ...]
    group: str
    generator: str
    seed: int
    canary: str
    knobs: Mapping[str, float | int | str] = field(default_factory=dict)
    origin: Origin = "simulated"
    source: str = ""
    world_digest: str = ""
    truth_digest: str = ""

    @property
    def material(self) -> str:
        """The class of evidence it can give, as ``MATERIAL`` names it."""
        return MATERIAL[self.origin]

    @property
    def is_drawn(self) -> bool:
        """Whether a recipe of ours makes its world, which can then be made again from it."""
        return self.origin in ("simulated", "overlay")


class _SpecFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{3,40}$")
    kind: Kind
    domain: str
    family: str
    fault: str
    traps: list[str]
    group: str
    generator: str
    seed: int = Field(ge=0)
    canary: str = Field(min_length=16)
    knobs: dict[str, float | int | str] = {}
    origin: Origin = "simulated"
    source: str = ""
    world_digest: str = ""
    truth_digest: str = ""


def read_spec(path: Path) -> Spec:
    """Read one spec file; a malformed one is a :class:`SpecError` that names the field."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
        spec = _SpecFile.model_validate(raw)
    except FileNotFoundError as error:
        raise SpecError(
            "spec file is missing", where=str(path), mend="Restore it from version control"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SpecError(
            f"spec is not TOML ({error})", where=str(path), mend="Restore it from version control"
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        raise SpecError(
            f"spec field '{'.'.join(str(part) for part in first['loc'])}': {first['msg']}",
            where=str(path),
            mend="Correct the field; docs/reference.md lists them",
        ) from error
    if spec.id != path.stem:
        raise SpecError(
            f"spec id '{spec.id}' differs from its file name", where=str(path), mend="Rename one"
        )
    fields = spec.model_dump()
    fields["traps"] = tuple(fields["traps"])
    return Spec(**fields)


def write_spec(spec: Spec, path: Path) -> None:
    """Write one spec file, fields in a fixed order."""
    document = tomlkit.document()
    values: dict[str, Any] = {
        name: getattr(spec, name)
        for name in Spec.__dataclass_fields__
        if name not in {"knobs", "traps"}
    }
    values["traps"] = list(spec.traps)
    for name, value in values.items():
        document.add(name, value)
    document.add("knobs", dict(sorted(spec.knobs.items())))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(tomlkit.dumps(document), encoding="utf-8")
