"""Which incidents may be tuned on and which are only ever scored, and who may open the latter.

A process declares its role once, at start. :class:`HeldoutAccess` is the only key to test-side
material and can be made only under the roles of ``TEST_SIDE_ROLES``: score, gate, build, intake,
and rejudge, which judges a scored run again once its score has ended.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tomlkit

from heldout.errors import SpecError, SplitViolation
from heldout.incident import Incident
from heldout.truth import Spec, read_spec

Side = Literal["train", "test"]
TEST_SIDE_ROLES = frozenset({"score", "rejudge", "gate", "build", "intake"})

_role: str | None = None


def declare_process(role: str) -> None:
    """Fix this process's role; a second, different declaration is a :class:`SplitViolation`."""
    global _role
    if _role is not None and _role != role:
        raise SplitViolation(
            f"this process is '{_role}' and cannot become '{role}'",
            mend="Start a process of its own for that job",
        )
    _role = role


class HeldoutAccess:
    """The key to test-side material. Making one outside the permitted roles raises."""

    __slots__ = ("role",)

    def __init__(self) -> None:
        if _role not in TEST_SIDE_ROLES:
            raise SplitViolation(
                f"a process with role '{_role or 'none'}' may not open test-side incidents",
                mend=f"Only {', '.join(sorted(TEST_SIDE_ROLES))} may",
            )
        self.role = _role


@dataclass(frozen=True, slots=True)
class Case:
    """One incident with what the harness may know about it; the truth stays behind its path."""

    incident: Incident
    side: Side
    kind: str
    domain: str
    family: str
    traps: tuple[str, ...]
    group: str
    origin: str
    truth_file: Path
    truth_digest: str

    @property
    def is_trap(self) -> bool:
        """True for the incidents of the primary endpoint."""
        return self.kind == "trap"


@dataclass(frozen=True, slots=True)
class Split:
    """The frozen assignment of a set's incidents to sides.

    A ``retired`` set is played no more. It stays where it is, since the gate goes on refusing what
    it holds.
    """

    set: str
    train: tuple[str, ...]
    test: tuple[str, ...]
    retired: bool = False

    def lock(self) -> str:
        """Hash over both sides, order-free; stored in the file and checked on every read."""
        text = json.dumps(
            {"set": self.set, "train": sorted(self.train), "test": sorted(self.test)},
            sort_keys=True,
        )
        return hashlib.sha256(text.encode()).hexdigest()

    def side_of(self, incident: str) -> Side:
        """The side that an incident stands on."""
        return "train" if incident in self.train else "test"


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError("retired is neither true nor false")
    return value


def read_split(directory: Path) -> Split:
    """Read ``split.toml`` of one set; an altered one is a :class:`SpecError`."""
    path = directory / "split.toml"
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
        split = Split(
            set=str(raw["set"]),
            train=tuple(raw["train"]["incidents"]),
            test=tuple(raw["test"]["incidents"]),
            retired=_flag(raw.get("retired", False)),
        )
        lock = str(raw["lock"])
    except FileNotFoundError as error:
        raise SpecError(
            f"the set '{directory.name}' has no split.toml",
            where=str(path),
            mend="Name an existing set, or make one with 'heldout build'",
        ) from error
    except (tomllib.TOMLDecodeError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise SpecError(
            f"split file is malformed ({error})", where=str(path), mend="Restore it from git"
        ) from error
    both = set(split.train) & set(split.test)
    if both:
        raise SpecError(
            f"'{min(both)}' stands on both sides", where=str(path), mend="Restore it from git"
        )
    if split.lock() != lock:
        raise SpecError(
            "the split was altered after it was frozen",
            where=str(path),
            mend="Restore it from git; new incidents are appended by 'heldout build', never moved",
        )
    return split


def write_split(split: Split, directory: Path) -> None:
    """Freeze a split to ``split.toml``."""
    document = tomlkit.document()
    document.add("set", split.set)
    document.add("lock", split.lock())
    if split.retired:
        document.add("retired", True)
    for name, ids in (("train", split.train), ("test", split.test)):
        table = tomlkit.table()
        array = tomlkit.array()
        array.extend(sorted(ids))
        array.multiline(True)
        table.add("incidents", array)
        document.add(name, table)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "split.toml").write_text(tomlkit.dumps(document), encoding="utf-8")


def read_specs(
    directory: Path, side: Side, access: HeldoutAccess | None = None
) -> tuple[Spec, ...]:
    """The specs of one side, by id. The test side needs a :class:`HeldoutAccess`."""
    split = read_split(directory)
    if side == "test" and access is None:
        raise SplitViolation(
            "test-side specs were asked for without access",
            where=str(directory),
            mend="Only score, gate, build and intake may open them",
        )
    ids: Iterable[str] = split.train if side == "train" else split.test
    return tuple(read_spec(directory / "specs" / f"{one}.toml") for one in sorted(ids))
