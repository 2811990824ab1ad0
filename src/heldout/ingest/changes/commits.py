"""Commits of a repository of manifests or infrastructure code as changes of what they declare.

``git`` is called with fixed arguments and an environment in which a hostile repository can start
nothing: no hook, pager, external diff, text conversion, signature check, filter or lazy fetch.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heldout.ingest.changes.people import People
from heldout.ingest.changes.record import Change, ClusterTarget, Moved, Target, object_moves
from heldout.ingest.moments import moment
from heldout.ingest.objects import K8sObject, objects_in
from heldout.ingest.reading import Unreadable, parse_text

MAX_COMMITS = 2_000
MAX_PATCH_LINES = 20_000
_CONTEXT = 1_000_000
"""Lines around a change that are asked for: so many that a patch holds whole files."""

_HEAD = "\x1e"
_FIELD = "\x1f"
_FORMAT = f"--format={_HEAD}%H{_FIELD}%P{_FIELD}%an{_FIELD}%cI{_FIELD}%s"
_PLAIN_HEAD = re.compile(r"commit ([0-9a-f]{7,64})\b")
_PULL = re.compile(r"(?:\(#|pull request #|!)(\d{1,7})\b")
_TEXT = (".yaml", ".yml", ".json")
TIME_LIMIT = 120.0


@dataclass(slots=True)
class Commit:
    """One commit with its patches: by path, lines as ``(sign, text)`` of the whole hunk."""

    id: str
    author: str = ""
    at: int | None = None
    subject: str = ""
    is_merge: bool = False
    patches: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    partial: set[str] = field(default_factory=set)


def log_of(repository: Path) -> Iterator[str]:
    """The log of a local repository, line by line; :class:`Unreadable` where there is none."""
    command = [
        "git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
        "-c", "core.pager=cat", "-c", "core.sshCommand=false", "-c", "protocol.allow=never",
        "-c", "core.quotePath=false", "-C", str(repository), "log", "--no-color", "--patch",
        "--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-renames", "--no-notes",
        "--ignore-submodules=all", f"--unified={_CONTEXT}", f"--max-count={MAX_COMMITS}", _FORMAT,
        "--",
    ]  # fmt: skip
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_CEILING_DIRECTORIES": str(repository.resolve().parent),
    }
    try:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except FileNotFoundError as error:
        raise Unreadable("unreadable, skipped", "git is not installed") from error
    timer = threading.Timer(TIME_LIMIT, process.kill)
    timer.start()
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        for raw in process.stdout:
            yield raw.decode("utf-8", "replace").rstrip("\n")
        said = process.stderr.read(4_000).decode("utf-8", "replace").strip().splitlines()
        code = process.wait()
    finally:
        timer.cancel()
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
    if code == -signal.SIGKILL:
        raise Unreadable("huge, skipped", f"its log took over {TIME_LIMIT:.0f} s")
    if code != 0:
        raise Unreadable("unreadable, skipped", f"git says: {said[0][:160] if said else 'nothing'}")


def commits_of(lines: Iterable[str]) -> Iterator[Commit]:
    """Commits of a log: as :func:`log_of` writes it, or as plain ``git log -p`` does."""
    commit: Commit | None = None
    path = ""
    count = 0
    for line in lines:
        begun = _begun(line)
        if begun is not None:
            if commit is not None:
                yield commit
            commit, path, count = begun, "", 0
        elif commit is None:
            continue
        elif line.startswith("diff --git "):
            path = line.rsplit(" b/", 1)[-1].strip('"')
            commit.patches[path] = []
        elif path:
            count += 1
            if count <= MAX_PATCH_LINES:
                _patched(commit, path, line)
            else:
                commit.partial.add(path)
        else:
            _described(commit, line)
    if commit is not None:
        yield commit


def _begun(line: str) -> Commit | None:
    if line.startswith(_HEAD):
        parts = line[1:].split(_FIELD)
        if len(parts) >= 5:
            merged = len(parts[1].split()) > 1
            return Commit(parts[0], parts[2], moment(parts[3]), _FIELD.join(parts[4:]), merged)
    plain = _PLAIN_HEAD.match(line)
    return Commit(plain[1]) if plain else None


def _described(commit: Commit, line: str) -> None:
    """A line of a plain log between a commit's id and its patches."""
    if line.startswith("Author:"):
        commit.author = line[7:].split("<")[0].strip()
    elif line.startswith("Merge:"):
        commit.is_merge = True
    elif line.startswith(("Date:", "AuthorDate:", "CommitDate:")):
        commit.at = _date(line.split(":", 1)[1].strip()) or commit.at
    elif line.startswith("    ") and not commit.subject:
        commit.subject = line.strip()


def _date(text: str) -> int | None:
    from email.utils import parsedate_to_datetime

    found = moment(text) or moment(text.replace(" ", "T", 1).replace(" ", ""))
    if found is not None:
        return found
    words = text.split()
    try:
        if len(words) == 6:  # Git's own: Mon Mar 4 12:00:00 2026 +0100
            text = f"{words[0]}, {words[2]} {words[1]} {words[4]} {words[3]} {words[5]}"
        return int(parsedate_to_datetime(text).timestamp() * 1_000_000)
    except (ValueError, TypeError, IndexError):
        return None


def _patched(commit: Commit, path: str, line: str) -> None:
    rows = commit.patches[path]
    if line.startswith("@@"):
        starts = re.match(r"@@ -(\d+)(?:,\d+)? \+(\d+)", line)
        if rows or starts is None or int(starts[1]) > 1 or int(starts[2]) > 1:
            commit.partial.add(path)
    elif line[:1] in ("+", "-", " ") and not line.startswith(("+++ ", "--- ")):
        rows.append((line[0], line[1:]))


class Log:
    """Makes changes of commits; ``counts`` says what could not be told of them."""

    def __init__(self, people: People, repository: str, cluster: str = "") -> None:
        self._people = people
        self._repository = repository
        self._cluster = cluster
        self.objects = 0

    def change(self, commit: Commit) -> Change | None:
        """One commit as a change of the objects that its files declare."""
        if commit.at is None:
            return None
        actor = self._people.person(commit.author)
        moved: dict[Target, tuple[Moved, ...]] = {}
        for path, rows in commit.patches.items():
            if path.endswith(_TEXT) and path not in commit.partial:
                moved |= self._objects(path, rows)
        pull = _PULL.search(commit.subject)
        listed = sorted(commit.patches)
        files = ", ".join(listed[:3]) + (f" and {len(listed) - 3} more" if len(listed) > 3 else "")
        return Change(
            f"git\x1f{self._repository}\x1f{commit.id}",
            commit.at,
            "pr_merge" if commit.is_merge or pull else "config",
            actor.name,
            actor.kind,
            "git",
            f"{commit.subject or 'commit'}" + (f" ({files})" if files else ""),
            tuple(moved),
            repo=self._repository,
            commit=commit.id,
            pr=pull[1] if pull else "",
            others=moved,
        )

    def _objects(
        self, path: str, rows: Sequence[tuple[str, str]]
    ) -> dict[Target, tuple[Moved, ...]]:
        before = _declared("\n".join(text for sign, text in rows if sign != "+"), path)
        after = _declared("\n".join(text for sign, text in rows if sign != "-"), path)
        found: dict[Target, tuple[Moved, ...]] = {}
        for key in sorted({*before, *after}):
            differences = object_moves(before.get(key), after.get(key))
            if differences:
                self.objects += 1
                kind, namespace, name = key
                found[ClusterTarget(kind, namespace, name, self._cluster)] = differences
        return found


def _declared(text: str, path: str) -> dict[tuple[str, str, str], K8sObject]:
    if not text.strip():
        return {}
    try:
        documents = parse_text(text, is_json=path.endswith(".json"))
    except Unreadable:
        return {}
    return {
        (one.item.entity_kind, one.item.place, one.item.name): one.item
        for document in documents
        for one in objects_in(document, path)
        if one.item is not None
    }
