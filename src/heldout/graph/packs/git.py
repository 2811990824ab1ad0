"""``git`` over the stream of changes, reading only: log, show, diff, blame.

Every recorded change but the lifecycle of pods and nodes is a commit; every entity is a file,
``<cluster>/<namespace>/<Kind>/<name>.yaml``, with one field per line.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from heldout.graph.ontology import near
from heldout.graph.packs.command import (
    MOST_FILTERED,
    Command,
    dated,
    filtered,
    matching,
    moment,
    read_command,
)
from heldout.graph.packs.pack import Block, Pack, TextPage, one_line
from heldout.graph.snapshot import Entity
from heldout.graph.tools.arguments import text
from heldout.graph.tools.backend import Args
from heldout.graph.tools.catalogue import Tool
from heldout.graph.tools.page import MAX_ROWS, Window, clip
from heldout.graph.tools.reader import Reader
from heldout.graph.tools.refusals import Refusal

_OPTIONS: Mapping[str, str] = {
    "-n": "number=", "--max-count": "number=", "--since": "since=", "--after": "since=",
    "--until": "until=", "--before": "until=", "--author": "author=", "--grep": "grep=",
    "-S": "pickaxe=", "-G": "pickaxe=", "--oneline": "oneline", "-p": "patch", "--patch": "patch",
    "--stat": "stat", "--name-only": "stat", "--name-status": "stat", "-i": "any_case",
    "--reverse": "reverse", "--all": "all", "--no-merges": "all", "--no-pager": "all",
    "--date": "date=", "--no-patch": "bare", "-s": "bare", "--follow": "all",
}  # fmt: skip
_LIFECYCLE = ("pod", "node")
_COLUMNS = 'select id, "commit", ts, type, actor, source, pr, repo, summary from change_event '
_NO_COMMIT = "no commit, branch or path"


class Commit(NamedTuple):
    """A change as a commit. ``hash`` is the recorded one, else made of the change's id."""

    id: str
    hash: str
    ts: int
    type: str
    actor: str
    source: str
    pr: str
    repo: str
    summary: str


def git(reader: Reader, args: Args) -> TextPage:
    """Answer one command line."""
    command = read_command("git", args["command"], _OPTIONS)
    verb, *words = command.words or ("",)
    run = _VERBS.get(verb)
    if run is None:
        raise Refusal(
            "bad_argument", f"this git only reads and has no '{verb[:40]}'",
            near(verb, _VERBS) or tuple(_VERBS),
        )  # fmt: skip
    page = run(reader, command, words, args["offset"])
    if not command.filters:
        return page
    lines = [Block(line, block.ids) for block in page.blocks for line in block.text.split("\n")]
    kept = filtered(reader, lines, command)
    offset = args["offset"]
    return TextPage(kept[offset:], len(kept), offset, window=page.window, gaps=page.gaps)


def path_of(reader: Reader, one: Entity) -> str:
    """The file that an entity is."""
    _, namespace = reader.graph.namespace(one)
    name = one_line(one.name, 200)
    return f"{one.cluster or '_'}/{namespace or '_'}/{one.kind}/{name}.yaml"


def _matched(reader: Reader, paths: Sequence[str]) -> list[str] | None:
    """The entities that path specs pick: a folder, a file, a pattern, or an id. None means all."""
    if not paths or set(paths) <= {".", "/"}:
        return None
    files = {one.id: path_of(reader, one) for one in reader.graph.entities.values()}
    found: dict[str, None] = {}
    for path in paths:
        wanted = path.removeprefix("./").rstrip("/")
        picked = [
            key
            for key, file in files.items()
            if wanted in (key, file)
            or file.startswith(f"{wanted}/")
            or (set(wanted) & set("*?[") and fnmatch.fnmatchcase(file, wanted))
        ]
        if not picked:
            raise Refusal(
                "unknown_id",
                f"pathspec '{path[:80]}' did not match any file",
                near(wanted, set(files.values()), limit=5),
            )
        found |= dict.fromkeys(picked)
    lives = {each for one in found for each in reader.world.incarnations.until(one)}
    return sorted(lives)


def picked(
    reader: Reader, command: Command, ids: Sequence[str] | None, window: Window
) -> list[str]:
    """The ids of the commits that a log's options pick, newest first."""
    wanted = command.get("grep")
    said = "summary || ' ' || pr" if wanted else "''"
    rows = reader.rows(
        f"select id, {said} from change_event "
        "where type not in (select unnest($lifecycle)) and ts between $since and $until "
        "and ($all or id in (select event_id from change_target where entity_id in "
        "(select unnest($ids)) union all select event_id from change_diff where entity_id in "
        "(select unnest($ids)))) "
        "and ($author = '' or contains(lower(actor), $author)) "
        "and ($pickaxe = '' or id in (select event_id from change_diff where "
        "contains(field || ' ' || old_json || ' ' || new_json, $pickaxe))) "
        "order by ts desc, id desc",
        {
            "lifecycle": list(_LIFECYCLE), "since": window.since, "until": window.until,
            "all": ids is None, "ids": list(ids or ()), "author": command.get("author").lower(),
            "pickaxe": command.get("pickaxe"),
        },
    )  # fmt: skip
    if not wanted:
        return [row[0] for row in rows]
    found: list[str] = []
    for at in range(0, len(rows), MOST_FILTERED):
        part = rows[at : at + MOST_FILTERED]
        texts = [text for _, text in part]
        hits = matching(reader, texts, wanted, any_case=bool(command.get("any_case")))
        found += [one for (one, _), hit in zip(part, hits, strict=True) if hit]
    return found


def _commits(reader: Reader, ids: Sequence[str]) -> list[Commit]:
    """These commits, in this order."""
    if not ids:
        return []
    rows = reader.rows(f"{_COLUMNS} where id in (select unnest($ids))", {"ids": list(ids)})
    found = {one: Commit(one, _hash(one, commit), *rest) for one, commit, *rest in rows}
    return [found[one] for one in ids]


def _hash(change: str, commit: str) -> str:
    return commit or change.removeprefix("c-")


def _log(reader: Reader, command: Command, words: list[str], offset: int) -> TextPage:
    revisions, paths = _apart(reader, command, words)
    since = command.get("since")
    until = command.get("until")
    end = moment("until", until, reader.now, until=True) if until else None
    if revisions:
        at = max(one.ts for one in revisions)
        end = at if end is None else min(end, at)
    window = reader.window(moment("since", since, reader.now) if since else None, end)
    ids = _matched(reader, paths)
    gaps = reader.gaps("change", window, ids or ())
    found = picked(reader, command, ids, window)
    found = found[: command.number("number", len(found))]
    if command.get("reverse"):
        found = found[::-1]
    start, most = (0, 1_000) if command.filters else (offset, MAX_ROWS)
    shown = _commits(reader, found[start : start + most])
    diffs = _diffs(reader, [one.id for one in shown], ids) if command.get("patch") else {}
    blocks = (_commit(reader, one, command, diffs) for one in shown)
    return TextPage(blocks, len(found), start, window=window, gaps=gaps)


def _commit(
    reader: Reader, one: Commit, command: Command, diffs: Mapping[str, Sequence[Block]]
) -> Block:
    touched = reader.world.touched(one.id)
    if command.get("oneline"):
        return Block(f"{one.hash[:10]} {one_line(one.summary, 120)} ({one.id})", (one.id,))
    shown = touched.entities[:6]
    lines = [
        f"commit {one.hash}",
        f"Author: {one_line(one.actor, 100)}",
        f"Date:   {dated(one.ts)}",
        "",
        f"    {one_line(one.summary, 300)}",
        "",
        f"    Change-Id: {one.id}",
        f"    Type: {one.type} ({one.source})",
        *([f"    Pull-Request: {one_line(one.pr, 100)}"] if one.pr else []),
        *([f"    Repository: {one_line(one.repo, 100)}"] if one.repo else []),
        *(f"    Entity: {key} {path_of(reader, reader.graph.entities[key])}" for key in shown),
        *([f"    and {len(touched.entities) - 6} more"] if len(touched.entities) > 6 else []),
    ]
    if command.get("stat"):
        lines += ["", *(f" {field}" for field in touched.fields[:40])]
    if command.get("patch"):
        lines += ["", *(block.text for block in diffs.get(one.id, ()))]
    return Block("\n".join([*lines, ""]), (one.id, *shown))


def _diffs(
    reader: Reader, changes: Sequence[str], only: Sequence[str] | None = None
) -> dict[str, list[Block]]:
    """The diff of each change, of all files or ``only`` some."""
    rows = reader.rows(
        "select event_id, entity_id, field, old_json, new_json, redacted from change_diff "
        "where event_id in (select unnest($ids)) order by event_id, entity_id, field",
        {"ids": list(changes)},
    )
    found: dict[str, list[Any]] = {one: [] for one in changes}
    for change, *row in rows:
        if only is None or row[0] in only:
            found[change].append(tuple(row))
    return {change: _diff(reader, of) for change, of in found.items()}


def _diff(reader: Reader, rows: Sequence[tuple[str, str, str, str, bool]]) -> list[Block]:
    """A unified diff, one block per field; a file's header goes with its first field."""
    blocks = []
    last = ""
    for entity, field, old, new, redacted in rows:
        lines = []
        if entity != last:
            known = reader.graph.entities.get(entity)
            file = path_of(reader, known) if known else entity
            lines = [f"diff --git a/{file} b/{file}", f"uid {entity}"]
            last = entity
        lines.append(f"@@ {one_line(field, 120)} @@" + (" redacted" if redacted else ""))
        lines += [f"-{field}: {_value(old)}"] if old not in ("null", "") else []
        lines += [f"+{field}: {_value(new)}"] if new not in ("null", "") else []
        blocks.append(Block("\n".join(lines), (entity,)))
    return blocks


def _value(stored: str) -> str:
    return clip(stored.replace("\n", " "), 400)


def _show(reader: Reader, command: Command, words: list[str], offset: int) -> TextPage:
    revisions, paths = _apart(reader, command, words)
    one = revisions[0] if revisions else _newest(reader)
    ids = _matched(reader, paths)
    blocks = [_commit(reader, one, command, {})]
    if not command.get("bare"):
        blocks += _diffs(reader, [one.id], ids)[one.id]
    start = 0 if command.filters else offset
    return TextPage(blocks[start:], len(blocks), start)


def _between(reader: Reader, command: Command, words: list[str], offset: int) -> TextPage:
    revisions, paths = _apart(reader, command, words)
    if len(revisions) > 2:
        raise Refusal("bad_argument", "diff takes two commits at most")
    since, until = command.get("since"), command.get("until")
    if not revisions and not since:
        raise Refusal(
            "missing_argument", "there is no work tree: name two commits, one, or '@{TIME}'"
        )
    ends = sorted(one.ts for one in revisions)
    begin = moment("since", since, reader.now) if since else ends[0] + 1
    end = ends[1] if len(ends) == 2 else reader.now
    end = moment("until", until, reader.now, until=True) if until else end
    window = reader.window(begin, max(end, begin))
    ids = _matched(reader, paths)
    gaps = reader.gaps("change", window, ids or ())
    rows = reader.rows(
        "select d.entity_id, d.field, arg_min(d.old_json, (e.ts, e.id)), "
        "arg_max(d.new_json, (e.ts, e.id)), bool_or(d.redacted) from change_diff d "
        "join change_event e on e.id = d.event_id where e.ts between $since and $until "
        "and ($all or d.entity_id in (select unnest($ids))) "
        "and e.type not in (select unnest($lifecycle)) group by 1, 2 order by 1, 2",
        {"since": window.since, "until": window.until, "all": ids is None, "ids": ids or [],
         "lifecycle": list(_LIFECYCLE)},
    )  # fmt: skip
    changed = [row for row in rows if row[2] != row[3] or row[4]]
    blocks = _diff(reader, changed)
    if command.get("stat"):
        headers = [one for one in blocks if one.text.startswith("diff --git")]
        blocks = [Block(" ".join(one.text.split("\n")[:2]), one.ids) for one in headers]
    start = 0 if command.filters else offset
    return TextPage(blocks[start:], len(blocks), start, window=window, gaps=gaps)


def _blame(reader: Reader, command: Command, words: list[str], offset: int) -> TextPage:
    _, paths = _apart(reader, command, words)
    ids = _matched(reader, paths) or []
    files = [one for one in ids if one in reader.graph.entities and one not in reader.world.gone]
    if len(files) != 1:
        raise Refusal("bad_argument", f"blame takes one file, not {len(files)}")
    one = files[0]
    rows = reader.rows(
        "select f.field, f.value_json, f.valid_from, arg_max(e.id, (e.ts, e.id)), "
        "arg_max(e.actor, (e.ts, e.id)) from fact f left join (change_diff d join change_event e "
        "on e.id = d.event_id) on d.entity_id = f.entity_id and d.field = f.field "
        "where f.entity_id = $id and f.valid_from <= $now and f.valid_to > $now "
        "group by 1, 2, 3 order by 1",
        {"id": one, "now": reader.now},
    )
    blocks = [
        Block(
            f"{change or '^initial  '} ({actor or 'unknown'} {dated(since)}) "
            f"{one_line(field, 120)}: {_value(value)}",
            (change,) if change else (),
        )
        for field, value, since, change, actor in rows
    ]
    start = 0 if command.filters else offset
    head = "" if command.filters else f"{path_of(reader, reader.graph.entities[one])} (uid {one})"
    return TextPage(blocks[start:], len(blocks), start, head=head)


def _files(reader: Reader, command: Command, words: list[str], offset: int) -> TextPage:
    _, paths = _apart(reader, command, words)
    ids = _matched(reader, paths)
    found = [e for e in reader.graph.entities.values() if ids is None or e.id in set(ids)]
    blocks = [Block(f"{file}  {key}", (key,)) for file, key in
              sorted((path_of(reader, e), e.id) for e in found)]  # fmt: skip
    start = 0 if command.filters else offset
    return TextPage(blocks[start:], len(blocks), start)


def _apart(
    reader: Reader, command: Command, words: Sequence[str]
) -> tuple[list[Commit], list[str]]:
    """Revisions and paths among a command's words; ``A..B`` names two revisions."""
    revisions: list[Commit] = []
    paths: list[str] = list(command.after)
    for word in words:
        parts = [part for part in re.split(r"\.{2,3}", word) if part] if ".." in word else [word]
        found = [one for one in (_revision(reader, part) for part in parts) if one]
        if len(found) == len(parts):
            revisions += found
        elif "/" in word or "*" in word or word == "." or word in reader.graph.entities:
            paths.append(word)
        else:
            raise Refusal("unknown_id", f"{_NO_COMMIT} '{word[:60]}'")
    return revisions, paths


def _newest(reader: Reader) -> Commit:
    found = _revision(reader, "HEAD")
    if found is None:
        raise Refusal("unavailable", "no change is recorded")
    return found


def _revision(reader: Reader, word: str) -> Commit | None:
    """The commit that HEAD, HEAD~n, a hash, a change id or ``@{TIME}`` names, else ``None``."""
    head = re.fullmatch(r"(?:HEAD|main|master|@)(?:~(\d{0,5})|(\^+))?", word)
    timed = re.fullmatch(r"(?:HEAD|main|master)?@\{(.{1,40})\}", word)
    if head:
        back = int(head[1] or 1) if head[1] is not None else len(head[2] or "")
        clause = "where type not in (select unnest($lifecycle)) order by ts desc, id desc "
        rows = reader.rows(f"{_COLUMNS}{clause} limit 1 offset {back}",
                           {"lifecycle": list(_LIFECYCLE)})  # fmt: skip
    elif timed:
        at = moment("@{}", timed[1], reader.now, until=True)
        rows = reader.rows(
            f"{_COLUMNS} where ts <= $at and type not in (select unnest($lifecycle)) "
            "order by ts desc, id desc limit 1",
            {"at": at, "lifecycle": list(_LIFECYCLE)},
        )
    elif re.fullmatch(r"(?:c-)?[0-9a-f]{6,40}", word):
        rows = reader.rows(
            f'{_COLUMNS} where id = $word or starts_with("commit", $word) or id = $id '
            "order by ts desc, id desc limit 1",
            {"word": word, "id": f"c-{word}"},
        )
    else:
        return None
    if not rows:
        raise Refusal("unknown_id", f"no commit '{word[:60]}'")
    one, commit, *rest = rows[0]
    return Commit(one, _hash(one, commit), *rest)


_Run = Callable[[Reader, Command, list[str], int], TextPage]
_VERBS: Mapping[str, _Run] = {
    "log": _log, "show": _show, "diff": _between, "blame": _blame, "ls-files": _files,
}  # fmt: skip

TOOL = Tool(
    "git",
    "Run git, reading only, over every recorded change but pod and node lifecycle: log (-n, "
    "--since, --until, --author, --grep, -S, --oneline, -p, --stat, --reverse), show, diff "
    "(A..B, or --since and --until), blame, ls-files; paths after '--'. An entity is the file "
    "<cluster>/<namespace>/<Kind>/<name>.yaml ('_' where it has none); folders, patterns such as "
    "'*/checkout*' and entity ids are paths too. A commit's Change-Id is the id of the change. "
    "Revisions: hashes, change ids, HEAD~n, '@{2026-03-04T12:00:00Z}'. '| grep', '| head', "
    "'| tail' and '| wc -l' work; there is no other shell.",
    (
        text("command", "The command line, such as 'git log -n 20 --since=\"2 days ago\"'.",
             required=True),
        text("cursor", "Continues an earlier answer of the same command from where it was cut."),
    ),
    paged=False,
)  # fmt: skip

PACK = Pack("git", {"git": (TOOL, git)})
