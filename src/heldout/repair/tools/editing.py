"""Changing the code, and taking a migration back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from heldout.repair.platform.database import QueryRefused
from heldout.repair.platform.migrations import migrations
from heldout.repair.tools.tool import Arguments, Nothing, Shown, Tool, ToolRefused
from heldout.repair.tree import LineEdit

if TYPE_CHECKING:
    from heldout.repair.episode import Episode

ROLLBACK_MINUTES = 4.0


class EditLines(Arguments):
    """Arguments of edit_lines."""

    path: str = Field(max_length=200)
    action: Literal["replace", "insert", "delete"] = "replace"
    first: int = Field(ge=1, description="first line; an insert goes before it")
    last: int = Field(default=0, ge=0, description="last line; 0 is the first alone")
    text: str = Field(default="", max_length=20_000, description="the new lines")
    expected: str = Field(
        default="", max_length=20_000, description="what stands there now; empty for an insert"
    )


class Rollback(Arguments):
    """Arguments of rollback_migration."""

    migration: str = Field(max_length=120, description="name, such as 0005_ended_creatives")
    restore: bool = Field(
        default=False, description="bring back rows that are gone, from last night's backup"
    )


def _edit(episode: Episode, args: EditLines) -> Shown:
    edit = LineEdit(args.path, args.action, args.first, args.last, args.text, args.expected)
    entry = episode.workspace.apply(edit)
    text = episode.workspace.tree.text(args.path).splitlines()
    near = range(max(1, args.first - 3), min(len(text), args.first + 12) + 1)
    return Shown(
        {
            "edit": entry.number,
            "path": args.path,
            "now": "\n".join(f"{at:4d}  {text[at - 1]}" for at in near),
        }
    )


def _revert(episode: Episode, args: Nothing) -> Shown:
    episode.workspace.undo()
    return Shown({"changed": sorted(_changed(episode))})


def _changed(episode: Episode) -> list[str]:
    base, tree = episode.workspace.base, episode.workspace.tree
    return [path for path in tree if base.files.get(path) != tree.files[path]]


def _diff(episode: Episode, args: Nothing) -> Shown:
    return Shown({"diff": episode.workspace.diff()[:7000]})


def _migrations(episode: Episode, args: Nothing) -> Shown:
    steps = [one.name for one in migrations(episode.workspace.base)]
    rows = [{"name": name, "applied": name != episode.taken_back} for name in steps]
    return Shown({"migrations": rows, "last_backup": "last night, before the clean-up"})


def _rollback(episode: Episode, args: Rollback) -> Shown:
    applied = [one.name for one in migrations(episode.workspace.base)]
    if episode.taken_back:
        raise ToolRefused("refused", f"{episode.taken_back} was taken back already")
    if args.migration not in applied:
        raise ToolRefused("not_found", "there is no such migration", newest=applied[-1])
    if args.migration != applied[-1] or len(applied) <= 5:
        episode.wrong_rollbacks += 1
        reason = "later migrations or running code stand on it"
        raise ToolRefused("refused", f"{args.migration} cannot be taken back: {reason}")
    episode.taken_back = args.migration
    episode.restored = episode.restored or args.restore
    try:
        counts = episode.state().database.counts()
    except QueryRefused as refused:
        episode.taken_back = ""
        raise ToolRefused("failed", str(refused)) from refused
    return Shown({"taken_back": args.migration, "rows": counts}, minutes=ROLLBACK_MINUTES)


EDITING = (
    Tool("edit_lines", "Replace, insert or delete lines; say what stands there now.", EditLines,
         _edit),
    Tool("revert_edit", "Take back the last edit.", Nothing, _revert),
    Tool("show_diff", "Show everything that you changed.", Nothing, _diff),
    Tool("list_migrations", "List the database's migrations.", Nothing, _migrations),
    Tool("rollback_migration", "Take back the newest migration.", Rollback, _rollback),
)  # fmt: skip
