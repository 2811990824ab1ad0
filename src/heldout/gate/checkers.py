"""Finds the project's checkers and makes each prove itself before anything is checked."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from heldout.brain import Brain
from heldout.errors import GateError
from heldout.gate import exceptions
from heldout.gate.bait import CLEAN
from heldout.gate.hits import Checker, Context, Hit
from heldout.gate.inventory import Inventory
from heldout.gate.pages import Scan, pages_of
from heldout.gate.tools import world_tools

REQUIRED = (
    "answer_tables", "brain_consistency", "brain_format", "edit_size", "encoded_identifiers",
    "evaluation_talk", "incident_identifiers", "incident_phrases", "incident_values",
    "names_in_pieces", "shaped_identifiers", "similar_identifiers",
)  # fmt: skip
"""Without one of these the gate does not run; a project may add its own beside them."""

_MEND = (
    "Restore the file from version control or take it from a fresh 'heldout init'; "
    "nothing is let through without it"
)
_BAIT_FILE = "bait.md"


@dataclass(frozen=True, slots=True)
class Checkers:
    """The project's checkers by file name, and a hash over their files and the exceptions."""

    loaded: tuple[tuple[str, Checker], ...]
    hash: str


def load_checkers(folder: Path) -> Checkers:
    """Load ``*.py`` of a folder by path; a missing or broken one is a :class:`GateError`."""
    files = sorted(path for path in folder.glob("*.py") if not path.name.startswith("_"))
    missing = sorted(set(REQUIRED) - {path.stem for path in files})
    if missing:
        raise GateError(f"the checker '{missing[0]}' is missing", where=str(folder), mend=_MEND)
    digest = hashlib.sha256()
    loaded: list[tuple[str, Checker]] = []
    for path in files:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
        loaded.append((path.stem, _load(path)))
    for path in (folder / exceptions.FILE, folder / exceptions.SIGNERS):
        if path.is_file():
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return Checkers(tuple(loaded), digest.hexdigest())


def _load(path: Path) -> Checker:
    name = f"_heldout_checker_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise GateError("a checker cannot be loaded", where=str(path), mend=_MEND)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise GateError(
            f"a checker cannot be loaded ({type(error).__name__}: {error})",
            where=str(path),
            mend=_MEND,
        ) from error
    for attribute in ("name", "check", "bait"):
        if not hasattr(module, attribute):
            raise GateError(f"a checker without '{attribute}'", where=str(path), mend=_MEND)
    return cast(Checker, module)


def run_checker(stem: str, checker: Checker, context: Context) -> list[Hit]:
    """A checker's hits; one that fails is a :class:`GateError`, never a pass."""
    try:
        return list(checker.check(context))
    except Exception as error:
        raise GateError(
            f"the checker '{stem}' failed ({type(error).__name__})",
            where=f"checkers/{stem}.py",
            mend="Correct it; nothing is let through without it",
        ) from error


def live_fire(checkers: Checkers, inventory: Inventory) -> None:
    """Every checker must refuse each of its baits; one that lets it through stops the gate."""
    base = _brain(CLEAN)
    for stem, checker in checkers.loaded:
        baits = list(checker.bait(inventory))
        if not baits:
            raise GateError(f"the checker '{stem}' has no bait", where=f"checkers/{stem}.py")
        quiet = {hit.identity() for hit in _hits(stem, checker, base, None, inventory)}
        for bait in baits:
            after = _brain((*CLEAN, *bait.split("\n")))
            caught = [
                hit
                for hit in _hits(stem, checker, after, base, inventory)
                if hit.severity == "reject"
                and hit.identity() not in quiet
                and hit.place.end_line > len(CLEAN)
            ]
            if not caught:
                raise GateError(
                    f"the checker '{stem}' let a bait through",
                    where=f"checkers/{stem}.py",
                    mend="Correct the checker; nothing is let through until it catches its bait",
                )


def _hits(
    stem: str, checker: Checker, brain: Brain, base: Brain | None, inventory: Inventory
) -> Sequence[Hit]:
    context = Context(Scan(pages_of(brain)), inventory, brain, base, tools=world_tools())
    return run_checker(stem, checker, context)


def _brain(lines: Sequence[str]) -> Brain:
    return Brain(files={_BAIT_FILE: "\n".join(lines)}, load=(_BAIT_FILE,))
