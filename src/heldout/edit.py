"""An edit: a small patch to brain files, with the failure cluster it answers and its reason."""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import whatthepatch
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from heldout.brain import APPEND, Brain, normalise
from heldout.errors import EditError

Action = Literal["append", "insert_after", "replace", "delete"]


@dataclass(frozen=True, slots=True)
class Op:
    """One change of one file. ``anchor`` is a whole line of it (stripped); ``append`` needs none.

    ``append`` adds ``text`` at the end of the file, ``insert_after`` behind the anchor line,
    ``replace`` puts it in the anchor's place, ``delete`` takes the anchor line away. An ``append``
    to an overlay that does not exist yet makes one that is appended to its base file.
    """

    file: str
    action: Action
    anchor: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """A proposal's unit: patch operations, why, and what is expected and feared of them."""

    ops: tuple[Op, ...]
    reason: str
    cluster: str = ""
    expected_effect: str = ""
    feared_harm: str = ""
    author: str = ""

    @property
    def id(self) -> str:
        """First 12 hex digits of the hash over what the edit does (not why)."""
        text = json.dumps([asdict(op) for op in self.ops], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def plain(self) -> dict[str, Any]:
        """Plain data for the ledger and for edit files."""
        return asdict(self)

    @property
    def rationale(self) -> str:
        """What an edit says of itself; it is shown to reviewers, so it is checked as well."""
        return "\n".join((self.reason, self.expected_effect, self.feared_harm))

    def added_lines(self) -> tuple[str, ...]:
        """The non-empty lines that the edit brings in."""
        return tuple(line for op in self.ops for line in op.text.splitlines() if line.strip())

    def growth(self) -> int:
        """How many lines a brain gains by the edit; negative where it loses some."""
        taken = sum(op.action in {"replace", "delete"} for op in self.ops)
        return len(self.added_lines()) - taken


class _OpFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    file: str = Field(min_length=1)
    action: Action
    anchor: str = ""
    text: str = ""


class _EditFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    ops: list[_OpFile] = Field(min_length=1, max_length=40)
    reason: str = ""
    cluster: str = ""
    expected_effect: str = ""
    feared_harm: str = ""
    author: str = ""


def edit_from_plain(data: Mapping[str, Any], *, where: str = "edit") -> Edit:
    """Build an edit from plain data (a model's answer, a file); malformed data is an EditError."""
    try:
        parsed = _EditFile.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        raise EditError(
            f"'{'.'.join(str(part) for part in first['loc'])}': {first['msg']}",
            where=where,
            mend="An edit has ops (file, action, anchor, text) and a reason",
        ) from error
    ops = tuple(Op(op.file, op.action, op.anchor, op.text) for op in parsed.ops)
    return Edit(
        ops,
        parsed.reason,
        parsed.cluster,
        parsed.expected_effect,
        parsed.feared_harm,
        parsed.author,
    )


def apply_edit(brain: Brain, edit: Edit) -> Brain:
    """The brain after the edit; one that does not apply is an :class:`EditError`, never a guess."""
    for op in edit.ops:
        brain = _apply(brain, op)
    return brain


def apply_edits(brain: Brain, edits: Iterable[Edit]) -> Brain:
    """The brain after several edits, in order."""
    for edit in edits:
        brain = apply_edit(brain, edit)
    return brain


def _apply(brain: Brain, op: Op) -> Brain:
    files = brain.all_files()
    if ".." in op.file.split("/") or op.file.startswith("/"):
        raise EditError(f"'{op.file}' leads out of the brain", mend="Name a file of the brain")
    if op.file not in files and not _new_overlay(op.file):
        raise EditError(
            f"the brain has no file '{op.file}'", mend=f"It has: {', '.join(sorted(files))}"
        )
    if op.file not in files and op.action != "append":
        raise EditError(
            f"'{op.file}' has no lines yet", mend="Use append, which makes it; it takes no anchor"
        )
    if not brain.editable(op.file):
        raise EditError(f"'{op.file}' is frozen", mend="Edit a file that is tuned")
    lines = files.get(op.file, "").splitlines()
    added = op.text.splitlines()
    if op.action == "append":
        if not op.text.strip():
            raise EditError("an append without text", where=op.file, mend="Give it lines")
        if op.file not in files and added[0].strip() != APPEND:
            lines = [APPEND, ""]
        return brain.with_file(op.file, normalise("\n".join([*lines, *added])))
    if not op.anchor.strip():
        raise EditError(
            f"{op.action} without an anchor", where=op.file, mend="Use one whole, unique line"
        )
    places = [i for i, line in enumerate(lines) if line.strip() == op.anchor.strip()]
    if len(places) != 1:
        found = f"{len(places)} times" if places else "nowhere"
        raise EditError(
            f"the anchor line is found {found}", where=op.file, mend="Use one whole, unique line"
        )
    at = places[0]
    if op.action == "insert_after":
        lines[at + 1 : at + 1] = added
    elif op.action == "replace":
        lines[at : at + 1] = added
    else:
        del lines[at]
    return brain.with_file(op.file, normalise("\n".join(lines)))


def _new_overlay(name: str) -> bool:
    return name.startswith("overlays/") and name.endswith(".md") and ".." not in name.split("/")


def diff(before: Brain, after: Brain) -> str:
    """Unified diff of two brains, files in load order."""
    old, new = before.all_files(), after.all_files()
    parts: list[str] = []
    for name in dict.fromkeys([*old, *new]):
        parts += difflib.unified_diff(
            old.get(name, "").splitlines(keepends=True),
            new.get(name, "").splitlines(keepends=True),
            f"a/{name}",
            f"b/{name}",
        )
    return "".join(parts)


def diff_hash(before: Brain, after: Brain) -> str:
    """What a reviewer's decision is bound to: hash over both brains and the diff between them."""
    text = f"{before.hash}\n{after.hash}\n{diff(before, after)}"
    return hashlib.sha256(text.encode()).hexdigest()


def apply_unified_diff(brain: Brain, text: str, *, where: str = "patch") -> Brain:
    """The brain after a unified diff; a hunk that does not fit is an :class:`EditError`."""
    try:
        patches = [p for p in whatthepatch.parse_patch(text) if p.header and p.changes]
    except (ValueError, IndexError) as error:
        raise EditError(
            "not a unified diff", where=where, mend="Make it with 'git diff'"
        ) from error
    if not patches:
        raise EditError("no hunk found", where=where, mend="Make it with 'git diff'")
    files = brain.all_files()
    for patch in patches:
        path = str(patch.header.new_path or patch.header.old_path)
        name = path.removeprefix("b/").removeprefix("a/").removeprefix("brain/")
        if name not in files and not _new_overlay(name):
            raise EditError(f"the brain has no file '{name}'", where=where, mend="Check the paths")
        if not brain.editable(name):
            raise EditError(f"'{name}' is frozen", where=where, mend="Edit a file that is tuned")
        try:
            result = whatthepatch.apply_diff(patch, files.get(name, "").splitlines())
        except whatthepatch.exceptions.WhatThePatchException as error:
            raise EditError(
                f"a hunk does not fit '{name}'", where=where, mend="Make it against this brain"
            ) from error
        brain = brain.with_file(name, "\n".join(result))
    return brain


def read_patch(path: Path, brain: Brain) -> Brain:
    """The brain after a patch file: an edit as JSON, or a unified diff."""
    text = _patch_text(path)
    edit = _edit_in(text, str(path))
    if edit is not None:
        return apply_edit(brain, edit)
    return apply_unified_diff(brain, text, where=str(path))


def read_rationale(path: Path) -> str:
    """What the edit in a patch file says of itself; empty for a unified diff."""
    edit = _edit_in(_patch_text(path), str(path))
    return edit.rationale if edit is not None else ""


def _patch_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise EditError(
            "cannot be read as UTF-8", where=str(path), mend="Name a text file"
        ) from error


def _edit_in(text: str, where: str) -> Edit | None:
    """The edit that a text is; ``None`` for one that is no JSON object."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        data = json.loads(text)
    except ValueError as error:
        raise EditError(f"not JSON ({error})", where=where, mend="Correct it") from error
    return edit_from_plain(data, where=where)
