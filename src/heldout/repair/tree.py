"""Code in memory: immutable content-addressed snapshots, and a workspace that edits one.

Nothing here touches a disk. Paths are relative, with forward slashes; text is whole lines.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Literal

from heldout.errors import EditError

MAX_FILE_BYTES = 64_000
MAX_EDITS = 200

Action = Literal["replace", "insert", "delete"]


def file_digest(text: str) -> str:
    """The sha256 of a file's UTF-8 bytes."""
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Tree:
    """A snapshot: ``files`` maps path to text. Two trees with one digest hold the same bytes."""

    files: Mapping[str, str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "files", MappingProxyType(dict(sorted(self.files.items()))))

    @cached_property
    def digest(self) -> str:
        """The sha256 over every path and its file's digest."""
        listed = {path: file_digest(text) for path, text in self.files.items()}
        return hashlib.sha256(json.dumps(listed, sort_keys=True).encode()).hexdigest()

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def text(self, path: str) -> str:
        """A file's text; a path that is not there is an :class:`EditError` with near names."""
        if path not in self.files:
            near = difflib.get_close_matches(path, self.files, n=3, cutoff=0.4)
            mend = f"Near: {', '.join(near)}" if near else "List the files first"
            raise EditError("there is no such file", where=path[:200], mend=mend)
        return self.files[path]

    def with_file(self, path: str, text: str) -> Tree:
        """The tree with one file in place of another."""
        return Tree({**self.files, path: text})

    def diff(self, later: Tree) -> str:
        """What ``later`` changes, as a unified diff in order of path; empty when nothing."""
        found: list[str] = []
        for path in sorted({*self.files, *later.files}):
            before, after = self.files.get(path, ""), later.files.get(path, "")
            if before != after:
                found += difflib.unified_diff(
                    before.splitlines(keepends=True),
                    after.splitlines(keepends=True),
                    f"a/{path}",
                    f"b/{path}",
                )
        return "".join(line if line.endswith("\n") else line + "\n" for line in found)


@dataclass(frozen=True, slots=True)
class LineEdit:
    """Lines ``first`` to ``last`` (from 1, both included) become ``text``.

    ``insert`` puts ``text`` before line ``first`` (one more than there are lines is the end);
    ``delete`` has no text. ``expected`` is what stands there now, so that an edit made from an old
    view of the file is refused and never lands on other lines.
    """

    path: str
    action: Action
    first: int
    last: int = 0
    text: str = ""
    expected: str = ""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One edit that was made, and the digests of the tree before and after."""

    number: int
    edit: LineEdit
    before: str
    after: str


@dataclass
class Workspace:
    """A tree under edit: what may be changed, what was changed, and the way back."""

    base: Tree
    editable: frozenset[str]
    tree: Tree = field(init=False)
    journal: list[JournalEntry] = field(default_factory=list, init=False)
    _undo: list[Tree] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.tree = self.base

    def apply(self, edit: LineEdit) -> JournalEntry:
        """Make one edit, or leave everything as it is and raise :class:`EditError`."""
        if len(self.journal) >= MAX_EDITS:
            raise EditError(f"{MAX_EDITS} edits were made", where=edit.path, mend="Submit")
        text = self.tree.text(edit.path)
        if edit.path not in self.editable:
            raise EditError("the file is read-only", where=edit.path, mend="Edit a service's code")
        changed = _edited(text, edit)
        if len(changed.encode()) > MAX_FILE_BYTES:
            raise EditError(
                f"the file would be larger than {MAX_FILE_BYTES} bytes",
                where=edit.path,
                mend="Write less",
            )
        _must_compile(edit.path, changed)
        later = self.tree.with_file(edit.path, changed)
        entry = JournalEntry(len(self.journal) + 1, edit, self.tree.digest, later.digest)
        self._undo.append(self.tree)
        self.journal.append(entry)
        self.tree = later
        return entry

    def put(self, path: str, text: str) -> None:
        """Have a file as it was left by an earlier workspace of the same base."""
        self.tree.text(path)
        if path not in self.editable:
            raise EditError("the file is read-only", where=path, mend="Edit a service's code")
        self.tree = self.tree.with_file(path, text)

    def undo(self) -> Tree:
        """Take back the last edit that is still there; the journal keeps it."""
        if not self._undo:
            raise EditError("there is no edit to take back", mend="Nothing was changed so far")
        self.tree = self._undo.pop()
        return self.tree

    def diff(self) -> str:
        """What was changed so far."""
        return self.base.diff(self.tree)


def _edited(text: str, edit: LineEdit) -> str:
    lines = text.splitlines()
    first, last = edit.first, edit.last or edit.first
    end = len(lines) + (1 if edit.action == "insert" else 0)
    if not 1 <= first <= end or (edit.action != "insert" and not first <= last <= len(lines)):
        raise EditError(
            f"lines {first} to {last} are not all there, the file has {len(lines)}",
            where=edit.path,
            mend="View the file again",
        )
    new = edit.text.splitlines()
    if edit.action == "insert":
        there, at = [], slice(first - 1, first - 1)
    else:
        there, at = lines[first - 1 : last], slice(first - 1, last)
        new = [] if edit.action == "delete" else new
    # One line that is empty is expected as an empty text, which splits into none.
    expected = edit.expected.splitlines() or [""] * (len(there) == 1)
    if [line.rstrip() for line in expected] != [line.rstrip() for line in there]:
        now = "\n".join(there)[:300]
        raise EditError(
            f"lines {first} to {last} do not read as expected; they read: {now!r}",
            where=edit.path,
            mend="Give what stands there now as 'expected'",
        )
    lines[at] = new
    return "\n".join(lines) + "\n" if lines else ""


def _must_compile(path: str, text: str) -> None:
    if not path.endswith(".py"):
        return
    try:
        compile(text, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        raise EditError(
            f"the file would not compile: {getattr(error, 'msg', None) or error}"
            + (f" (line {line})" if line else ""),
            where=path,
            mend="Nothing was changed; send the whole statement",
        ) from None
