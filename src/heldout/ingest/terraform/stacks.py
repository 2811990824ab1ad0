"""Which stack a document is of, and which of several states of one stack is the current one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import NamedTuple

from heldout.ingest.terraform.document import Document

_PLAIN_NAMES = frozenset(
    {
        "terraform",
        "plan",
        "tfplan",
        "state",
        "default",
        "terraform_plan",
        "terraform_state",
        "show",
        "apply",
        "terraform_apply",
        "terraform-apply",
        "terraform-plan",
    }
)
_SUFFIXES = (".json", ".tfstate", ".backup", ".tfplan", ".jsonl", ".log")


class Dated(NamedTuple):
    """A document with the path that it was read from, relative to the import."""

    path: str
    document: Document


def stack_name(path: str, root: str) -> str:
    """The name of the stack that a file is of: that of its folder where its own says nothing."""
    file = PurePosixPath(path)
    stem = file.name
    while stem.lower().endswith(_SUFFIXES):
        stem = stem[: stem.rfind(".")]
    folder = str(file.parent) if file.parent != PurePosixPath(".") else ""
    if stem.lower() in _PLAIN_NAMES or not stem:
        return folder or root
    return f"{folder}/{stem}" if folder else stem


def current(dated: Iterable[Dated]) -> tuple[list[Dated], dict[str, str]]:
    """The documents that count, and why each other does not, by path.

    Of the states of one lineage in one folder the one with the highest serial counts, of equal
    ones the first. In different folders both count: a lineage is copied with a stack.
    """
    best: dict[tuple[str, str], Dated] = {}
    kept: list[Dated] = []
    passed: dict[str, str] = {}
    for one in sorted(dated, key=lambda one: one.path):
        lineage = (str(PurePosixPath(one.path).parent), one.document.lineage)
        if one.document.what == "plan" or not one.document.lineage:
            kept.append(one)
            continue
        other = best.get(lineage)
        if other is None or one.document.serial > other.document.serial:
            best[lineage] = one
        older = one if other is not None and best[lineage] is other else other
        if older is not None:
            newer = best[lineage]
            passed[older.path] = (
                f"serial {older.document.serial} of a state that {newer.path} has "
                f"with serial {newer.document.serial}"
            )
    # States first: what a plan means to do is told of what they declare.
    found = sorted([*kept, *best.values()], key=lambda one: (one.document.what == "plan", one.path))
    return found, passed
