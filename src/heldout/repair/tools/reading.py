"""Looking at the code: files, text in them, who wrote which line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pydantic import Field

from heldout.repair.tools.tool import Arguments, Shown, Tool, ToolRefused

if TYPE_CHECKING:
    from heldout.repair.episode import Episode

MAX_LINES = 120
MAX_HITS = 30


class ListFiles(Arguments):
    """Arguments of list_files."""

    under: str = Field(default="", max_length=120, description="folder; empty is all")


class ViewFile(Arguments):
    """Arguments of view_file."""

    path: str = Field(max_length=200)
    first: int = Field(default=1, ge=1, description="first line")
    last: int = Field(default=0, ge=0, description="last line; 0 is as many as are shown at once")


class SearchCode(Arguments):
    """Arguments of search_code."""

    text: str = Field(min_length=2, max_length=120, description="text, taken as it is")


class GitBlame(Arguments):
    """Arguments of git_blame."""

    path: str = Field(max_length=200)
    first: int = Field(default=1, ge=1)
    last: int = Field(default=0, ge=0)


class GitLog(Arguments):
    """Arguments of git_log."""

    path: str = Field(default="", max_length=200, description="only commits of this file")
    limit: int = Field(default=15, ge=1, le=30)


class GitShow(Arguments):
    """Arguments of git_show."""

    commit: str = Field(min_length=6, max_length=40)


def _list(episode: Episode, args: ListFiles) -> Shown:
    tree = episode.workspace.tree
    found = [
        {"path": path, "lines": len(tree.files[path].splitlines())}
        for path in tree
        if path.startswith(args.under)
    ]
    if not found:
        raise ToolRefused("not_found", "there is no such folder", folders=_folders(episode))
    return Shown({"files": found})


def _folders(episode: Episode) -> list[str]:
    return sorted({path.split("/")[0] for path in episode.workspace.tree})


def _view(episode: Episode, args: ViewFile) -> Shown:
    lines = episode.workspace.tree.text(args.path).splitlines()
    first, last = _range(lines, args.first, args.last)
    episode.viewed.add(args.path)
    return Shown(
        {
            "path": args.path,
            "lines": len(lines),
            "text": "\n".join(f"{at:4d}  {lines[at - 1]}" for at in range(first, last + 1)),
        }
    )


def _range(lines: list[str], first: int, last: int) -> tuple[int, int]:
    end = min(last or first + MAX_LINES - 1, first + MAX_LINES - 1, len(lines))
    if first > max(len(lines), 1):
        raise ToolRefused("out_of_range", f"the file has {len(lines)} lines")
    return first, end


def _search(episode: Episode, args: SearchCode) -> Shown:
    pattern = re.compile(re.escape(args.text), re.IGNORECASE)
    hits = [
        {"path": path, "line": at, "text": line.strip()[:160]}
        for path, text in episode.workspace.tree.files.items()
        for at, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]
    return Shown({"hits": hits[:MAX_HITS], "more": max(0, len(hits) - MAX_HITS)})


def _blame(episode: Episode, args: GitBlame) -> Shown:
    now = episode.workspace.tree.text(args.path).splitlines()
    base = episode.workspace.base.files.get(args.path, "").splitlines()
    named = episode.history.lines.get(args.path, ())
    by_text = dict(zip(base, named, strict=False))
    first, last = _range(now, args.first, args.last)
    rows = []
    for at in range(first, last + 1):
        line = now[at - 1]
        name = by_text.get(line, "uncommitted")
        if at <= len(base) and base[at - 1] == line:
            name = named[at - 1]
        rows.append({"line": at, "commit": name, "text": line[:120]})
    ids = tuple(dict.fromkeys(row["commit"] for row in rows if row["commit"] != "uncommitted"))
    return Shown({"path": args.path, "lines": rows}, tuple(str(one) for one in ids))


def _log(episode: Episode, args: GitLog) -> Shown:
    commits = [one for one in episode.history.commits if not args.path or args.path in one.files][
        : args.limit
    ]
    rows = [
        {"commit": one.id, "at": one.at, "author": one.author, "message": one.message,
         "files": list(one.files)}
        for one in commits
    ]  # fmt: skip
    return Shown({"commits": rows}, tuple(one.id for one in commits))


def _show(episode: Episode, args: GitShow) -> Shown:
    found = episode.history.commit(args.commit)
    if found is None:
        raise ToolRefused("not_found", "there is no such commit")
    touched = [
        {"path": path, "line": at + 1, "text": line[:120]}
        for path in found.files
        for at, (line, name) in enumerate(
            zip(
                episode.workspace.base.files.get(path, "").splitlines(),
                episode.history.lines.get(path, ()),
                strict=False,
            )
        )
        if name == found.id
    ]
    data = {"commit": found.id, "at": found.at, "author": found.author, "message": found.message,
            "lines_it_left": touched[:60]}  # fmt: skip
    return Shown(data, (found.id,))


READING = (
    Tool("list_files", "List the files of the code base.", ListFiles, _list),
    Tool("view_file", "Show a file's lines with their numbers, 120 at once.", ViewFile, _view),
    Tool("search_code", "Find text in all files.", SearchCode, _search),
    Tool("git_blame", "Say which commit each line is from.", GitBlame, _blame),
    Tool("git_log", "List commits, newest first.", GitLog, _log),
    Tool("git_show", "Show one commit and the lines that it left.", GitShow, _show),
)
