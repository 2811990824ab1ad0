"""Looking at what runs: logs, metrics, alerts, who calls whom."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

from pydantic import Field

from heldout.repair.codebase import SERVICES
from heldout.repair.platform.records import Request
from heldout.repair.tools.tool import Arguments, Nothing, Shown, Tool, ToolRefused

if TYPE_CHECKING:
    from heldout.repair.episode import Episode

MAX_ROWS = 25


class ReadLogs(Arguments):
    """Arguments of read_logs."""

    service: str = Field(max_length=60)
    contains: str = Field(default="", max_length=120)
    level: str = Field(default="", max_length=8, description="INFO, WARN or ERROR")


class QueryMetrics(Arguments):
    """Arguments of query_metrics."""

    service: str = Field(max_length=60)


class QueryRows(Arguments):
    """Arguments of query_rows."""

    sql: str = Field(max_length=1000, description="one select statement")


def _logs(episode: Episode, args: ReadLogs) -> Shown:
    _must_know(args.service)
    window = episode.view().window
    rows: list[dict[str, Any]] = [
        {"at": round(one.at, 2), "level": one.level, "message": one.message[:300]}
        for one in window.lines
        if one.service == args.service
    ]
    rows += [_failure(one) for one in window.requests if one.service == args.service and one.raised]
    wanted = [
        row
        for row in sorted(rows, key=lambda one: (float(one["at"]), str(one["message"])))
        if args.contains.lower() in str(row["message"]).lower()
        and (not args.level or row["level"] == args.level.upper())
    ]
    for row in wanted:
        row["id"] = _id("l", args.service, row["at"], row["message"])
    kept = wanted[-MAX_ROWS:]
    data = {"lines": kept, "earlier": len(wanted) - len(kept)}
    return Shown(data, tuple(str(row["id"]) for row in kept))


def _failure(one: Request) -> dict[str, Any]:
    frames = [
        f"  {frame.file}:{frame.line} in {frame.function}: {frame.text}" for frame in one.trace
    ]
    route = one.target.split(":")[-1]
    head = f"{route} answered {one.status}: {one.raised}{': ' + one.message if one.message else ''}"
    at = one.ended if one.ended is not None else one.arrived
    return {"at": round(at, 2), "level": "ERROR", "message": "\n".join([head[:300], *frames])}


def _metrics(episode: Episode, args: QueryMetrics) -> Shown:
    _must_know(args.service)
    view = episode.view()
    points = [one.as_dict() for one in view.series[args.service]]
    found = _id("m", args.service, episode.workspace.tree.digest)
    state = episode.state()
    rows = state.database.counts()
    state.database.close()
    data = {"id": found, "service": args.service, "series": points, "rows_in_tables": rows}
    return Shown(data, (found,))


def _alerts(episode: Episode, args: Nothing) -> Shown:
    rows = [
        {"id": _id("a", one.rule, one.service), "rule": one.rule, "severity": one.severity,
         "service": one.service, "text": one.text}
        for one in episode.view().alerts
    ]  # fmt: skip
    return Shown({"alerts": rows}, tuple(str(row["id"]) for row in rows))


def _dependencies(episode: Episode, args: Nothing) -> Shown:
    calls: dict[str, list[str]] = {}
    tree = episode.workspace.tree
    for service in SERVICES:
        text = "\n".join(text for path, text in tree.files.items() if path.startswith(service))
        others = [name for name in SERVICES if name != service and re.search(rf'"{name}"', text)]
        calls[service] = [*others, "database", "cache"]
        if "calls.partner" in text:
            calls[service].append("carrier")
    return Shown({"calls": calls})


def _query(episode: Episode, args: QueryRows) -> Shown:
    from heldout.repair.platform.database import QueryRefused

    if not args.sql.lstrip().lower().startswith("select"):
        raise ToolRefused("refused", "only select is allowed here")
    state = episode.state()
    try:
        result = state.database.query(args.sql)
    except QueryRefused as refused:
        raise ToolRefused("refused", refused.detail) from refused
    finally:
        state.database.close()
    return Shown({"rows": [dict(row) for row in result.rows[:MAX_ROWS]], "of": len(result.rows)})


def _must_know(service: str) -> None:
    if service not in SERVICES:
        raise ToolRefused("not_found", "there is no such service", known=list(SERVICES))


def _id(kind: str, *parts: object) -> str:
    text = "\0".join(str(part) for part in parts)
    return f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


OBSERVING = (
    Tool("read_logs", "Read a service's log with the stack traces of failed requests.", ReadLogs,
         _logs),
    Tool("query_metrics", "Read a service's metrics of the last minutes.", QueryMetrics, _metrics),
    Tool("list_alerts", "List the alerts that fire now.", Nothing, _alerts),
    Tool("show_dependencies", "Say which services call what.", Nothing, _dependencies),
    Tool("query_rows", "Look at rows of the database.", QueryRows, _query),
)  # fmt: skip
