"""Log lines and their patterns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import duckdb
import numpy as np

from heldout.graph.columns import Column
from heldout.graph.tools.backend import Args
from heldout.graph.tools.page import Page, Window, clip, iso
from heldout.graph.tools.reader import Reader, sliced
from heldout.graph.tools.refusals import Refusal

_LEVEL_WEIGHT = {"ERROR": 3.0, "WARN": 2.0, "INFO": 1.0, "DEBUG": 0.5}
_LONGEST_LINE = 500
_LONGEST_REGEX = 500


def search_logs(reader: Reader, args: Args) -> Page:
    """Lines that contain or match ``query``, newest first."""
    logs = reader.world.logs
    first = logs.span[0] if logs.span else reader.world.start
    window = reader.window(args.get("since"), args.get("until"), first=min(first, reader.now))
    entity = reader.entity(args["entity"]) if "entity" in args else None
    gaps = reader.gaps("log", window, (entity.id,) if entity else ())
    query = args["query"]
    condition, asked = "", query
    if query and args.get("mode", "substr") == "regex":
        condition, asked = "regexp_matches(msg, $query)", _checked_regex(reader, query)
    elif query:
        condition, asked = "contains(lower(msg), $query)", query.lower()
    wanted = None
    if entity or "level" in args:
        wanted = logs.patterns_of(entity.id if entity else None, args.get("level"))
    rows = logs.rows(*logs.between(window.since, window.until), wanted)
    if condition:
        rows = _searched(reader, rows, wanted, condition, asked)
    newest_first = rows[::-1]
    offset, limit = args["offset"], args["limit"]
    return Page(
        lines_of(reader, [row + 1 for row in newest_first[offset : offset + limit].tolist()]),
        total=len(rows),
        offset=offset,
        window=window,
        gaps=gaps,
    )


def _searched(
    reader: Reader, rows: Column, wanted: Sequence[int] | None, condition: str, query: str
) -> Column:
    """Those of the rows (some patterns' lines of a window) whose text meets the condition."""
    if not len(rows):
        return rows
    params: dict[str, Any] = {"low": int(rows[0]) + 1, "high": int(rows[-1]) + 1, "query": query}
    among = ""
    if wanted is not None:
        among = "and template_id in (select unnest($wanted))"
        params["wanted"] = wanted
    found = reader.lines(
        f"select id from log where id between $low and $high {among} and {condition}",
        params,
        first=int(rows[0]),
    )
    return np.sort(np.fromiter((row[0] for row in found), dtype=np.int64, count=len(found))) - 1


def _checked_regex(reader: Reader, pattern: str) -> str:
    if len(pattern) > _LONGEST_REGEX:
        raise Refusal("bad_argument", f"a regex may have {_LONGEST_REGEX} characters at most")
    try:
        reader.rows("select regexp_matches('', $p)", {"p": pattern})
    except duckdb.Error as error:
        reason = str(error).splitlines()[0].split(": ", 1)[-1]
        raise Refusal("bad_argument", f"the regex is not valid: {clip(reason, 200)}") from error
    return pattern


def lines_of(reader: Reader, ids: Sequence[int]) -> list[dict[str, Any]]:
    """The lines of these numbers, newest first, as rows of an answer."""
    if not ids:
        return []
    logs = reader.world.logs
    low, high = min(ids), max(ids)
    texts = dict(
        reader.lines(
            "select id, msg from log where id between $low and $high "
            "and id in (select unnest($ids))",
            {"low": low, "high": high, "ids": list(ids)},
            first=low - 1,
        )
    )
    shown = []
    for number in sorted(ids, reverse=True):
        pattern = logs.pattern(number - 1)
        shown.append(
            {
                "id": f"l-{number}",
                "ts": iso(int(logs.times[number - 1])),
                "entity": pattern.entity_id,
                "entity_name": reader.name(pattern.entity_id),
                "level": pattern.level,
                "msg": clip(texts[number], _LONGEST_LINE),
            }
        )
    return shown


def log_patterns(reader: Reader, args: Args) -> Page:
    """Patterns in a window against a baseline, most anomalous first.

    A pattern's score is the weight of its level times the absolute log-ratio of its rates, each
    count raised by one half; a pattern that went away counts half.
    """
    logs = reader.world.logs
    window = reader.window(args["since"], args["until"])
    base = _baseline(reader, args, window)
    entity = reader.entity(args["entity"]) if "entity" in args else None
    inside = logs.counted(*logs.between(window.since, window.until))
    before = logs.counted(*logs.between(base.since, base.until))
    covered = logs.span is not None and base.until > logs.span[0]
    scale = (window.until - window.since + 1) / (base.until - base.since + 1)
    found = []
    chosen = logs.patterns_by_entity.get(entity.id, ()) if entity else logs.patterns
    for pattern in chosen:
        now, then = inside.count(pattern.id), before.count(pattern.id)
        if now or then:
            score = _score(pattern.level, now, then * scale)
            found.append((-score, pattern.template, pattern.entity_id, pattern.level, pattern.id))
    shown = [
        {
            "pattern": clip(text, _LONGEST_LINE),
            "entity": owner,
            "entity_name": reader.name(owner),
            "level": level,
            "count": inside.count(number),
            "baseline_count": before.count(number),
            "new": (before.count(number) == 0) if covered else None,
            "example_id": f"l-{(inside if inside.count(number) else before).last(number) + 1}",
        }
        for _, text, owner, level, number in sorted(found)
    ]
    gaps = reader.gaps("log", window, (entity.id,) if entity else ())
    return sliced(shown, args, window=window, gaps=gaps, extra={"baseline_used": base.shown()})


def _baseline(reader: Reader, args: Args, window: Window) -> Window:
    """The baseline asked for, else as long a time just before the window."""
    until = args.get("baseline_until", window.since - 1)
    since = args.get("baseline_since", until - (window.until - window.since))
    if since > until:
        raise Refusal("bad_argument", "'baseline_since' is later than 'baseline_until'")
    return Window(since, min(until, reader.now))


def _score(level: str, inside: int, expected: float) -> float:
    ratio = math.log2((inside + 0.5) / (expected + 0.5))
    weight = _LEVEL_WEIGHT.get(level, 1.0)
    return weight * (ratio if ratio >= 0 else -ratio / 2)
