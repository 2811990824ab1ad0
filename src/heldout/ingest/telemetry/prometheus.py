"""Prometheus' answers to range queries, exports of its kin, and samples as text.

An instant vector has one value for each series, which shows no course over time: it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any, NamedTuple

from heldout.ingest.reading import Unreadable
from heldout.ingest.streaming import items
from heldout.ingest.telemetry.stamps import moment

INSTANT = (
    "holds an instant vector, one value for each series: export a course over time, "
    "with query_range"
)

_ITEMS = ("data.result.item", "result.item", "item", "")
_METRICS = frozenset(f"{one}.metric" if one else "metric" for one in _ITEMS)
_VALUES = frozenset(f"{one}.values.item" if one else "values.item" for one in _ITEMS)
_INSTANTS = frozenset(f"{one}.value" if one else "value" for one in _ITEMS)
_TIMES = frozenset(f"{one}.timestamps.item" if one else "timestamps.item" for one in _ITEMS)
_HISTOGRAMS = frozenset(f"{one}.histograms.item" for one in _ITEMS if one)
_HEADS = frozenset({"data.resultType", "resultType", "status", "error"})
_WANTED = _METRICS | _VALUES | _INSTANTS | _TIMES | _HISTOGRAMS | _HEADS

_SAMPLE = re.compile(
    r"(?P<name>[a-zA-Z_:][\w:.]*)?(?:\{(?P<labels>.*)\})?[ \t]+(?P<value>[-+]?[\w.+-]+)"
    r"(?:[ \t]+(?P<time>[-+]?\d{1,19}(?:\.\d{1,9})?))?(?:[ \t]*#.*)?$"
)
_LABEL = re.compile(
    r'\s*(?:"((?:[^"\\]|\\.)*)"|([a-zA-Z_][\w.]*))\s*(?:=\s*"((?:[^"\\]|\\.)*)")?\s*,?'
)


class Point(NamedTuple):
    """A value of the series that ``labels`` name; the same object as long as they are the same."""

    labels: Mapping[str, str]
    time: int
    value: float


class Answer:
    """Reads the JSON of one file; ``histograms`` are the native ones left out."""

    def __init__(self) -> None:
        self.histograms = 0
        self._labels: dict[str, str] | None = None
        self._plain: list[float] = []
        self._at = 0

    def points(self, stream: IO[bytes]) -> Iterator[Point]:
        """Every value; :class:`~heldout.ingest.reading.Unreadable` as it comes to what is none."""
        for path, value in items(stream, _WANTED):
            if path in _VALUES:
                if isinstance(value, list):
                    yield from self._pair(value)
                else:
                    self._plain.append(number(value))
            elif path in _TIMES:
                yield from self._timed(value)
            elif path in _METRICS:
                self._labels = labels_of(value)
                self._plain, self._at = [], 0
            elif path in _HISTOGRAMS:
                self.histograms += 1
            else:
                self._head(path, value)

    def _pair(self, value: list[Any]) -> Iterator[Point]:
        time = moment(value[0]) if len(value) == 2 else None
        if self._labels is None:
            raise Unreadable("unreadable, skipped", "has values before the metric they belong to")
        if time is not None:
            yield Point(self._labels, time, number(value[1]))

    def _timed(self, value: Any) -> Iterator[Point]:
        """A time of an export that lists values and times apart, one line for each series."""
        time = moment(value)
        if self._labels is not None and self._at < len(self._plain) and time is not None:
            yield Point(self._labels, time, self._plain[self._at])
        self._at += 1

    def _head(self, path: str, value: Any) -> None:
        if path in _INSTANTS and isinstance(value, list):
            raise Unreadable("refused", INSTANT)
        if path.endswith("resultType") and value != "matrix":
            raise Unreadable("refused", INSTANT if value == "vector" else f"holds a {value}"[:60])
        if path == "status" and value == "error":
            raise Unreadable("refused", "is the answer to a query that failed")


def labels_of(value: Any) -> dict[str, str]:
    """Labels as texts; empty where there are none."""
    if not isinstance(value, dict):
        return {}
    return {str(key): str(one)[:253] for key, one in value.items() if one is not None}


def number(value: Any) -> float:
    """A value as a number; what is none is NaN."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def samples(lines: Iterable[str]) -> Iterator[Point | str]:
    """Points of samples as text, with a line's text for each that is none.

    Samples without a time are the state of one moment: where the first has none, the file is
    :class:`~heldout.ingest.reading.Unreadable`.
    """
    known: dict[tuple[str, str], dict[str, str]] = {}
    first = True
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        match = _SAMPLE.match(line) if len(line) < 16_384 else None
        if match is None or not (match["name"] or match["labels"]):
            yield line
            continue
        time = moment(match["time"])
        if time is None and first:
            raise Unreadable(
                "refused", INSTANT.replace("an instant vector", "samples without times")
            )
        first = False
        if time is None:
            yield line
            continue
        key = (match["name"] or "", match["labels"] or "")
        if key not in known:
            if len(known) > 100_000:
                known.clear()
            known[key] = _parsed(*key)
        yield Point(known[key], time, number(match["value"].replace("Inf", "inf")))


def _parsed(name: str, text: str) -> dict[str, str]:
    labels = {"__name__": name} if name else {}
    for match in _LABEL.finditer(text):
        quoted, plain, value = match.groups()
        if value is not None:
            labels[quoted or plain] = re.sub(r"\\(.)", r"\1", value)[:253]
        elif quoted:
            labels["__name__"] = quoted
    return labels


def parsed_name(text: str) -> dict[str, str] | None:
    """The labels of a series named as in a query, ``name{label="value"}``; ``None`` where not."""
    match = re.fullmatch(r"([a-zA-Z_:][\w:.]*)?\{(.*)\}", text.strip())
    return _parsed(match[1] or "", match[2]) if match else None
