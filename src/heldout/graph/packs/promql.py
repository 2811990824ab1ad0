"""Prometheus, reading only: instant and range queries, series, labels, alerts."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from heldout.errors import ConfigError
from heldout.graph.packs.command import moment
from heldout.graph.packs.evaluation import Evaluation
from heldout.graph.packs.pack import Pack
from heldout.graph.packs.series import NAME, Catalogue, Numbers, Times, Value, Vector
from heldout.graph.tools.alerts import list_alerts
from heldout.graph.tools.arguments import step, text
from heldout.graph.tools.backend import Args
from heldout.graph.tools.catalogue import BY_NAME, Tool
from heldout.graph.tools.metrics import rounded
from heldout.graph.tools.page import Page, Window, iso
from heldout.graph.tools.reader import Reader, sliced
from heldout.graph.tools.refusals import Refusal

LONGEST = 500
"""Characters of an expression; the parser's depth grows with it."""
MOST_POINTS = 120
"""Points per series of a range query."""

_SECOND = 1_000_000


def query(reader: Reader, args: Args) -> Page:
    """An expression at one time."""
    at = moment("time", args.get("time", "now"), reader.now)
    window = reader.window(at, at) if at <= reader.now else Window(reader.now, reader.now)
    times = np.array([window.until], dtype=np.int64)
    found, catalogue, gaps = _evaluated(reader, args["query"], times, window)
    rows = [
        {**shown, "value": [iso(int(times[0])), rounded(float(values[0]))]}
        for shown, values in _series(found, catalogue)
        if not np.isnan(values[0])
    ]
    return sliced(rows, args, window=window, gaps=gaps)


def query_range(reader: Reader, args: Args) -> Page:
    """An expression at even steps."""
    end = moment("end", args["end"], reader.now)
    window = reader.window(moment("start", args["start"], reader.now), end)
    stride = args.get("step") or max(-(-(window.until - window.since) // (60 * _SECOND)), 1)
    count = (window.until - window.since) // (stride * _SECOND) + 1
    if count > MOST_POINTS:
        least = -(-(window.until - window.since) // ((MOST_POINTS - 1) * _SECOND))
        raise Refusal(
            "bad_argument", f"{count} points a series are too many: a step of {least}s or more"
        )
    times = window.since + np.arange(count, dtype=np.int64) * stride * _SECOND
    found, catalogue, gaps = _evaluated(reader, args["query"], times, window)
    rows = []
    for shown, values in _series(found, catalogue):
        points = [
            [iso(int(at)), rounded(float(value))]
            for at, value in zip(times, values, strict=True)
            if not np.isnan(value)
        ]
        if points:
            rows.append({**shown, "values": points})
    return sliced(rows, args, window=window, gaps=gaps, extra={"step_seconds": stride})


def _evaluated(
    reader: Reader, expression: str, times: Times, window: Window
) -> tuple[Value, Catalogue, Any]:
    node = _parsed(expression)
    catalogue = Catalogue(reader)
    run = Evaluation(reader, catalogue, times)
    found = run.value(node)
    return found, catalogue, reader.gaps("metric", window, tuple(run.owners))


def _parsed(expression: str) -> Any:
    if len(expression) > LONGEST:
        raise Refusal("bad_argument", f"an expression may have {LONGEST} characters at most")
    try:
        return parser().parse(expression)
    except ValueError as error:
        raise Refusal("bad_argument", f"parse error: {str(error)[:200]}") from error


def parser() -> ModuleType:
    """The PromQL parser; without it a :class:`ConfigError` that says how to get it."""
    try:
        import promql_parser
    except ImportError as error:
        raise ConfigError(
            "the promql tools need the package promql-parser",
            mend="Install it with: pip install 'heldout[mcp]'",
        ) from error
    module: ModuleType = promql_parser
    return module


def _series(found: Value, catalogue: Catalogue) -> list[tuple[dict[str, Any], Numbers]]:
    if not isinstance(found, Vector):
        return [({"metric": {}}, found)]
    units = {key: unit for key, _, unit in catalogue.series}
    shown: list[tuple[dict[str, Any], Numbers]] = []
    for labels, key, values in zip(found.labels, found.ids, found.values, strict=True):
        row: dict[str, Any] = {"metric": dict(labels)}
        if key:
            row["series"] = key
        if key and NAME in labels:
            row["unit"] = units[key]
        shown.append((row, values))
    return shown


def series(reader: Reader, args: Args) -> Page:
    """Series that a selector picks, with their labels and units."""
    catalogue = Catalogue(reader)
    match = args.get("match", "").strip()
    found = catalogue.series
    if match:
        node = _parsed(match)
        if type(node).__name__ != "VectorSelector":
            raise Refusal("bad_argument", "'match' must be a selector, such as up{kind=\"Node\"}")
        found = catalogue.select(node)
    rows = [{"metric": labels, "series": key, "unit": unit} for key, labels, unit in found]
    return sliced(rows, args, gaps=reader.gaps("metric", None))


def labels(reader: Reader, args: Args) -> Page:
    """Names of labels, or the values of one."""
    catalogue = Catalogue(reader)
    name = args.get("name", "").strip()
    held: dict[str, set[str]] = {}
    for _, one, _ in catalogue.series:
        for key, value in one.items():
            held.setdefault(key, set()).add(value)
    if not name:
        rows = [{"label": key, "values": len(held[key])} for key in sorted(held)]
    elif name not in held:
        raise Refusal("bad_argument", f"no series has a label '{name[:60]}'", sorted(held)[:8])
    elif name == "entity":
        rows = [{"entity": value, "value": value} for value in sorted(held[name])]
    else:
        rows = [{"value": value} for value in sorted(held[name])]
    return sliced(rows, args, gaps=reader.gaps("metric", None))


_ALERTS = BY_NAME["list_alerts"]
_QUERY = text("query", "A PromQL expression.", required=True)
_TIMES = "ISO 8601, seconds since the epoch, or a span before the present such as 90m"
_TOOLS = (
    (
        Tool(
            "prometheus_query",
            "Evaluate a PromQL expression at one time. Series have the labels entity (its id), "
            "name, kind, cluster and namespace. Offered: matchers, offset, *_over_time, rate, "
            "increase, delta, deriv, sum, avg, min, max, count, stddev, quantile, topk, bottomk "
            "with by and without, arithmetic, comparison, and, or, unless, on, ignoring.",
            (_QUERY, text("time", f"When; now when left out. {_TIMES}.")),
        ),
        query,
    ),
    (
        Tool(
            "prometheus_query_range",
            f"Evaluate a PromQL expression at even steps, at most {MOST_POINTS} points a series.",
            (
                _QUERY,
                text("start", f"Start of the range. {_TIMES}.", required=True),
                text("end", f"End of the range. {_TIMES}.", required=True),
                step("step", "Seconds between points; a sixtieth of the range when left out."),
            ),
        ),
        query_range,
    ),
    (
        Tool(
            "prometheus_series",
            "The series that a selector picks, with their labels and units.",
            (text("match", "A selector such as '{kind=\"Service\"}'; all when left out."),),
        ),
        series,
    ),
    (
        Tool(
            "prometheus_labels",
            "The names of all labels, or the values of one ('__name__' lists the metrics).",
            (text("name", "The label whose values to list."),),
        ),
        labels,
    ),
    (
        Tool("prometheus_alerts", _ALERTS.description, _ALERTS.arguments),
        list_alerts,
    ),
)

PACK = Pack("promql", {tool.name: (tool, answerer) for tool, answerer in _TOOLS})
