"""Log lines and their patterns."""

from __future__ import annotations

import math
from typing import Any

import duckdb

from heldout.graph.tools.backend import Args
from heldout.graph.tools.page import Page, Window, clip, iso
from heldout.graph.tools.reader import Reader, sliced
from heldout.graph.tools.refusals import Refusal

_LEVEL_WEIGHT = {"ERROR": 3.0, "WARN": 2.0, "INFO": 1.0, "DEBUG": 0.5}
_LONGEST_LINE = 500
_LONGEST_REGEX = 500


def search_logs(reader: Reader, args: Args) -> Page:
    """Lines that contain or match ``query``, newest first."""
    first = reader.world.log_range[0] if reader.world.log_range else reader.world.start
    window = reader.window(args.get("since"), args.get("until"), first=min(first, reader.now))
    clauses = ["ts >= $since", "ts <= $until"]
    params: dict[str, Any] = {"since": window.since, "until": window.until}
    entity = reader.entity(args["entity"]) if "entity" in args else None
    of = []
    if entity:
        of.append("entity_id = $entity")
        params["entity"] = entity.id
    if "level" in args:
        of.append("level = $level")
        params["level"] = args["level"]
    if of:
        clauses.append(f"template_id in (select id from log_template where {' and '.join(of)})")
    gaps = reader.gaps("log", window, (entity.id,) if entity else ())
    query = args["query"]
    if query and args.get("mode", "substr") == "regex":
        clauses.append("regexp_matches(msg, $query)")
        params["query"] = _checked_regex(reader, query)
    elif query:
        clauses.append("contains(lower(msg), $query)")
        params["query"] = query.lower()
    ids = reader.columns(f"select id from log where {' and '.join(clauses)}", params)["id"][::-1]
    offset, limit = args["offset"], args["limit"]
    return Page(
        lines_of(reader, [int(one) for one in ids[offset : offset + limit]]),
        total=len(ids),
        offset=offset,
        window=window,
        gaps=gaps,
    )


def _checked_regex(reader: Reader, pattern: str) -> str:
    if len(pattern) > _LONGEST_REGEX:
        raise Refusal("bad_argument", f"a regex may have {_LONGEST_REGEX} characters at most")
    try:
        reader.rows("select regexp_matches('', $p)", {"p": pattern})
    except duckdb.Error as error:
        reason = str(error).splitlines()[0].split(": ", 1)[-1]
        raise Refusal("bad_argument", f"the regex is not valid: {clip(reason, 200)}") from error
    return pattern


def lines_of(reader: Reader, ids: list[int]) -> list[dict[str, Any]]:
    """The lines of these numbers, newest first, as rows of an answer."""
    if not ids:
        return []
    rows = reader.rows(
        "select l.id, l.ts, t.entity_id, t.level, l.msg from log l "
        "join log_template t on t.id = l.template_id "
        "where l.id between $low and $high and l.id in (select unnest($ids)) order by l.id desc",
        {"ids": ids, "low": min(ids), "high": max(ids)},
    )
    return [
        {
            "id": f"l-{number}",
            "ts": iso(ts),
            "entity": entity,
            "entity_name": reader.name(entity),
            "level": level,
            "msg": clip(message, _LONGEST_LINE),
        }
        for number, ts, entity, level, message in rows
    ]


def log_patterns(reader: Reader, args: Args) -> Page:
    """Patterns in a window against a baseline, most anomalous first.

    A pattern's score is the weight of its level times the absolute log-ratio of its rates, each
    count raised by one half; a pattern that went away counts half.
    """
    window = reader.window(args["since"], args["until"])
    base = _baseline(reader, args, window)
    entity = reader.entity(args["entity"]) if "entity" in args else None
    of = "and template_id in (select id from log_template where entity_id = $entity)"
    of = of if entity else ""
    params: dict[str, Any] = {
        "since": window.since,
        "until": window.until,
        "base_since": base.since,
        "base_until": base.until,
    }
    if entity:
        params["entity"] = entity.id
    rows = reader.rows(
        f"""
        with counted as (
            select template_id,
                count(*) filter (ts between $since and $until) as inside,
                count(*) filter (ts between $base_since and $base_until) as before,
                max(id) filter (ts between $since and $until) as last,
                max(id) as any_id
            from log
            where (ts between $since and $until or ts between $base_since and $base_until) {of}
            group by template_id)
        select t.template, t.entity_id, t.level, c.inside, c.before, coalesce(c.last, c.any_id)
        from counted c join log_template t on t.id = c.template_id
        """,
        params,
    )
    covered = reader.world.log_range is not None and base.until > reader.world.log_range[0]
    scale = (window.until - window.since + 1) / (base.until - base.since + 1)
    ranked = sorted(rows, key=lambda row: (-_score(row[2], row[3], row[4] * scale), *row[:3]))
    shown = [
        {
            "pattern": clip(pattern, _LONGEST_LINE),
            "entity": owner,
            "entity_name": reader.name(owner),
            "level": level,
            "count": inside,
            "baseline_count": before,
            "new": (before == 0) if covered else None,
            "example_id": f"l-{example}",
        }
        for pattern, owner, level, inside, before, example in ranked
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
