"""Metrics in CSV: one row a time and one column a series, or one row a value, or between the two.

Which columns are times, places, names and values is told by the header; a header may have several
lines, as data frames with levels are written. A square of names is who calls whom.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from heldout.ingest.reading import Unreadable
from heldout.ingest.telemetry.grid import step_of
from heldout.ingest.telemetry.places import NAMING, NOWHERE, Place, place_of
from heldout.ingest.telemetry.prometheus import number, parsed_name
from heldout.ingest.telemetry.sink import Held, Sink, name_of
from heldout.ingest.telemetry.stamps import moment

_TIMES = frozenset(
    (
        "time", "timestamp", "ts", "_time", "date", "datetime", "unix_timestamp", "unixtime",
        "@timestamp", "epoch", "time_ms", "timestamp_ms", "start_time", "starttime",
    )
)  # fmt: skip
_NAMES = frozenset(
    (
        "metric", "metric_name", "metricname", "__name__", "_field", "field", "kpi_name", "kpi",
        "series", "name",
    )
)  # fmt: skip
_VALUES = frozenset(("value", "_value", "val", "metric_value", "metricvalue"))
_SKIPPED = frozenset(("", "result", "table", "_start", "_stop", "unit"))
_MOST_HEADS = 8
_MOST_COLUMNS = 50_000
_BLOCK = 500_000
"""Cells of a wide table that are held before they are handed on."""

_WORDS = (
    r"(?:p\d{2}[-_]?)?latency|cpu|mem|memory|disk|network|net_|rps|qps|error|success|load\b|workload"
    r"|request|throughput|socket|fs_|tcp|response|connection|restart|availability|duration|queue"
    r"|saturation|heap|gc_|iops|usage|utili[sz]ation|count\b|rx_|tx_"
)
_SPLIT = re.compile(rf"(?P<own>.+?)(?:::|[-_./:| ])(?P<metric>(?:{_WORDS}).*)", re.I)
_PREFIXES = frozenset(
    (
        "node", "container", "process", "system", "http", "kube", "go", "jvm", "total", "avg",
        "max", "min", "mean", "sum", "grpc", "db", "redis", "mysql", "nginx", "istio", "host",
        "machine",
    )
)  # fmt: skip
_TYPED = (
    (re.compile(r"AWS::Lambda(?:::Function)?$"), "Function"),
    (re.compile(r"AWS::DynamoDB::Table$|Database::SQL$|AWS::RDS::DBInstance$"), "DbInstance"),
    (re.compile(r"AWS::SQS::Queue$"), "Queue"),
    (re.compile(r"AWS::ApiGateway::\w+$"), "ApiGateway"),
    (re.compile(r"AWS::ElasticLoadBalancing\w*::\w+$"), "LoadBalancer"),
    (re.compile(r"_remote$|AWS::S3$"), "ExternalDependency"),
)
"""Kinds of nodes by the type that service maps write behind their names."""


class Calls(NamedTuple):
    """A square of names: which calls which."""

    pairs: list[tuple[Place, Place]]


class _Column(NamedTuple):
    at: int
    place: Place
    name: str


def read_sheet(lines: Iterable[str], sink: Sink, home: Place) -> Calls | None:
    """Give the points of a table to the sink; ``home`` is where columns without a place belong.

    A table without a column of times is :class:`~heldout.ingest.reading.Unreadable`, unless it
    says who calls whom, which is the answer.
    """
    rows = _rows(lines)
    head = _head(rows)
    if head.calls is not None:
        return head.calls
    body = chain([head.first], rows)
    if len(head.rows) > 1:
        _wide(body, 0, _levels(head.rows), sink)
        return None
    names = [name.strip() for name in head.rows[0]]
    time = next(at for at in head.times if moment(_cell(head.first, at)) is not None)
    lower = [name.lower() for name in names]
    value = next((at for at, name in enumerate(lower) if name in _VALUES), None)
    named = next((at for at, name in enumerate(lower) if name in _NAMES and at != value), None)
    labels = {
        at: name for at, name in enumerate(lower)
        if name in NAMING and at not in (time, value, named) and not _is_number(head.first, at)
    }  # fmt: skip
    others = [
        at for at, name in enumerate(lower)
        if name not in _SKIPPED and at not in {time, value, named, *labels, *head.times}
    ]  # fmt: skip
    if value is not None and (named is not None or labels):
        more = {at: lower[at] for at in others if not _is_number(head.first, at)}
        _long(body, time, {**labels, **more}, named, [(value, "value")], sink, home)
    elif labels:
        _long(body, time, labels, None, [(at, names[at]) for at in others], sink, home)
    else:
        _wide(body, time, [_named(at, names[at], home) for at in others], sink)
    return None


class _Head(NamedTuple):
    rows: list[list[str]]
    first: list[str]
    times: list[int]
    calls: Calls | None = None


def _rows(lines: Iterable[str]) -> Iterator[list[str]]:
    """Rows of cells, without empty ones and comments; what is no table is Unreadable."""
    stream = (line for line in lines if line.strip() and not line.startswith("#"))
    two = [*islice(stream, 2)]
    if not two:
        raise Unreadable("empty, skipped")
    delimiter = max(",;\t|", key=lambda one: min(line.count(one) for line in two))
    reader = csv.reader(chain(two, stream), delimiter=delimiter)
    try:
        yield from reader
    except csv.Error as error:
        raise Unreadable("unreadable, skipped", f"is no table: {error}"[:160]) from error


def _head(rows: Iterator[list[str]]) -> _Head:
    head: list[list[str]] = []
    for row in rows:
        if head:
            times = [at for at, name in enumerate(head[0]) if name.strip().lower() in _TIMES]
            found = [at for at in times or [0] if moment(_cell(row, at)) is not None]
            if found and (times or not head[0][0].strip() or _is_levelled(head)):
                return _Head(head, row, times or [0])
            if found:
                break
        elif len(row) > _MOST_COLUMNS:
            raise Unreadable("huge, skipped", f"has more than {_MOST_COLUMNS} columns")
        head.append(row)
        if len(head) == 2 and _is_square(head):
            return _Head(head, row, [], _calls(head, rows))
        if len(head) > _MOST_HEADS:
            break
    raise Unreadable("no object", "has no column of times")


def _is_levelled(head: Sequence[Sequence[str]]) -> bool:
    """Whether header lines are the levels of one: as wide as each other, each named."""
    return len(head) > 1 and len({len(row) for row in head}) == 1 and all(row[0] for row in head)


def _is_square(head: Sequence[Sequence[str]]) -> bool:
    names, row = head[0], head[1]
    return (
        len(names) == len(row) > 1
        and not names[0].strip()
        and row[0] == names[1]
        and all(_is_number(row, at) for at in range(1, len(row)))
    )


def _calls(head: Sequence[Sequence[str]], rows: Iterator[list[str]]) -> Calls:
    names = head[0][1:]
    pairs = []
    for row in chain([head[1]], rows):
        for name, cell in zip(names, row[1:], strict=False):
            if number(cell) > 0:
                pairs.append((_typed(row[0]), _typed(name)))
    return Calls(pairs)


def _levels(head: Sequence[Sequence[str]]) -> list[_Column]:
    """Columns of a header with levels: which level is what, its first cell says."""
    levels = [row for row in head if any(cell.strip() for cell in row[1:])]
    found = []
    for at in range(1, len(levels[0]) if levels else 0):
        fields = {row[0].strip().lower(): _cell(row, at).strip() for row in levels}
        place = place_of(fields)
        metric = next((fields[key] for key in fields if key in _NAMES), "")
        rest = [text for key, text in fields.items() if key not in NAMING and key not in _NAMES]
        if place == NOWHERE and rest:
            place, rest = Place(service=rest[0]), rest[1:]
        if place.service:
            place = _typed(place.service)
        name = "_".join(text for text in (metric, *rest) if text).lower()
        found.append(_Column(at, place, name or "value"))
    return found


def _typed(name: str) -> Place:
    name = name.strip()[:253]
    kind = next((kind for pattern, kind in _TYPED if pattern.search(name)), "")
    return Place(kind=kind, name=name) if kind else Place(service=name)


def _named(at: int, name: str, home: Place) -> _Column:
    """A column of a wide table: a series named as in a query, or an entity and its metric."""
    labels = parsed_name(name)
    if labels is not None:
        place = place_of({key.lower(): value for key, value in labels.items()})
        return _Column(at, home if place == NOWHERE else place, name_of(labels))
    match = _SPLIT.fullmatch(name)
    if match and match["own"].lower() not in _PREFIXES:
        return _Column(at, _typed(match["own"]), match["metric"])
    return _Column(at, home, name[:300] or f"column_{at}")


def _wide(rows: Iterable[Sequence[str]], time: int, columns: list[_Column], sink: Sink) -> None:
    """One row a time: blocks of rows, each column's points at once."""
    times: list[int] = []
    block: list[list[float]] = []
    most = max(_BLOCK // max(len(columns), 1), 16)
    step = 0
    for row in rows:
        when = moment(_cell(row, time))
        if when is None:
            sink.tally.not_numbers += 1
            continue
        times.append(when)
        block.append([_value(row, column.at, sink) for column in columns])
        if len(times) >= most:
            step = _give(times, block, columns, sink, step)
            times, block = [], []
    if times:
        _give(times, block, columns, sink, step)


def _give(
    times: list[int], block: list[list[float]], columns: list[_Column], sink: Sink, step: int
) -> int:
    own = np.array(times, dtype=np.int64)
    step = step or step_of(np.sort(own))
    values = np.array(block, dtype=np.float64)
    for place, column in enumerate(columns):
        there = ~np.isnan(values[:, place])
        if there.any():
            sink.extend(column.place, column.name, own[there], values[there, place], step)
    return step


def _long(
    rows: Iterable[Sequence[str]],
    time: int,
    labels: Mapping[int, str],
    named: int | None,
    values: Sequence[tuple[int, str]],
    sink: Sink,
    home: Place,
) -> None:
    """One row a value, or one row a thing and time with several values."""
    known: dict[tuple[str, ...], list[tuple[int, Held | None]]] = {}
    for row in rows:
        when = moment(_cell(row, time))
        if when is None:
            sink.tally.not_numbers += 1
            continue
        key = tuple(_cell(row, at) for at in (*labels, *([] if named is None else [named])))
        if key not in known:
            if len(known) >= 100_000:
                known.clear()
            fields = dict(zip(labels.values(), key, strict=False))
            place = place_of(fields)
            place = home if place == NOWHERE else place
            said = key[-1] or "value" if named is not None else ""
            known[key] = [
                (at, sink.held(place, name_of({**fields, "__name__": said or metric})))
                for at, metric in values
            ]
        for at, held in known[key]:
            value = _value(row, at, sink)
            if value == value:
                sink.add(held, when, value)


def _cell(row: Sequence[str], at: int) -> str:
    return row[at] if at < len(row) else ""


def _is_number(row: Sequence[str], at: int) -> bool:
    return number(_cell(row, at)) == number(_cell(row, at))


def _value(row: Sequence[str], at: int, sink: Sink) -> float:
    """A cell as a number; an empty one is a gap, another that is none is counted."""
    text = _cell(row, at)
    if not text:
        return float("nan")
    value = number(text)
    if value != value:
        sink.tally.not_numbers += 1
    return value
