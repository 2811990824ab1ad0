"""PromQL over the series of a world: what a parsed expression comes to at some times.

A subset with upstream's meaning: selectors with matchers, offset, functions over a range,
aggregation by or without labels, arithmetic, comparison and set operators one to one. The rest is
refused by name. Times are microseconds; a missing value is NaN and is left out of answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb
import numpy as np

from heldout.graph.ontology import near
from heldout.graph.tools.metrics import points_of
from heldout.graph.tools.page import Window
from heldout.graph.tools.reader import Reader
from heldout.graph.tools.refusals import Refusal

Numbers = np.ndarray[Any, np.dtype[np.float64]]
Times = np.ndarray[Any, np.dtype[np.int64]]
Labels = Mapping[str, str]

NAME = "__name__"
LOOKBACK = 600_000_000
"""How old the newest sample may be that an instant selector takes: twice the coarsest step."""

_SECOND = 1_000_000
_MOST_WORK = 300_000
"""Ranges that one query may look at, over all its series and times."""


@dataclass(frozen=True, slots=True)
class Vector:
    """Series side by side: labels and, per time, values; ``ids`` are empty once combined."""

    labels: Sequence[Labels]
    values: Numbers
    ids: Sequence[str]

    def like(self, values: Numbers, *, named: bool = False) -> Vector:
        """The same series with other values; most operations take the metric's name away."""
        labels = self.labels if named else [_without_name(one) for one in self.labels]
        return Vector(labels, values, self.ids)


Value = Vector | Numbers


def _without_name(labels: Labels) -> dict[str, str]:
    return {key: value for key, value in labels.items() if key != NAME}


def refuse(what: str) -> Refusal:
    """The refusal of what the subset leaves out."""
    return Refusal("unavailable", f"{what} is not offered by this server")


@dataclass(slots=True)
class Catalogue:
    """Every series of a world with its labels."""

    reader: Reader
    series: list[tuple[str, dict[str, str], str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        rows = self.reader.rows(
            "select id, name, unit, entity_id from metric_series order by name, entity_id, id"
        )
        for key, name, unit, owner in rows:
            one = self.reader.graph.entities.get(owner)
            labels = {NAME: name, "entity": owner}
            if one is not None:
                cluster, namespace = self.reader.graph.namespace(one)
                labels |= {"name": one.name, "kind": one.kind, "cluster": cluster}
                labels |= {"namespace": namespace} if namespace else {}
            self.series.append((key, {k: v for k, v in labels.items() if v}, unit))

    def names(self) -> list[str]:
        """The metrics, each once."""
        return sorted({labels[NAME] for _, labels, _ in self.series})

    def select(self, selector: Any) -> list[tuple[str, dict[str, str], str]]:
        """The series that a selector picks; an unknown metric or label is refused."""
        if selector.matchers.or_matchers:
            raise refuse("'or' between matchers")
        if selector.name and selector.name not in self.names():
            raise Refusal(
                "bad_argument",
                f"no metric is called '{selector.name[:80]}'",
                near(selector.name, self.names(), limit=5) or self.names()[:8],
            )
        found = [one for one in self.series if selector.name in (None, "", one[1][NAME])]
        for matcher in selector.matchers.matchers:
            found = self._matched(found, matcher)
        return found

    def _matched(self, found: list[Any], matcher: Any) -> list[Any]:
        known = {key for _, labels, _ in self.series for key in labels}
        if known and matcher.name not in known:
            raise Refusal(
                "bad_argument",
                f"no series has a label '{matcher.name[:60]}'",
                near(matcher.name, known) or sorted(known),
            )
        kind = str(matcher.op).rsplit(".", 1)[-1]
        values = [labels.get(matcher.name, "") for _, labels, _ in found]
        if kind in ("Re", "NotRe"):
            hits = self._regex(values, matcher.value)
        else:
            hits = [value == matcher.value for value in values]
        negative = kind.startswith("Not")
        return [one for one, hit in zip(found, hits, strict=True) if hit != negative]

    def _regex(self, values: list[str], pattern: str) -> list[bool]:
        if not values:
            return []
        try:
            rows = self.reader.rows(
                "select [regexp_full_match(value, $pattern) for value in $values]",
                {"pattern": pattern, "values": values},
            )
        except duckdb.InterruptException:
            raise
        except duckdb.Error as error:
            raise Refusal("bad_argument", f"the regex '{pattern[:60]}' is not valid") from error
        return [bool(one) for one in rows[0][0]]


class Evaluation:
    """One query at some times."""

    def __init__(self, reader: Reader, catalogue: Catalogue, times: Times) -> None:
        self._reader = reader
        self._catalogue = catalogue
        self._times = times
        self._work = 0
        self.owners: dict[str, None] = {}
        """Entities whose series were looked at."""

    def value(self, node: Any) -> Value:
        """What an expression comes to."""
        run = _NODES.get(type(node).__name__)
        if run is None:
            raise refuse(f"'{str(node)[:60]}'" if len(str(node)) < 60 else "this expression")
        return run(self, node)

    def vector(self, node: Any) -> Vector:
        """An expression that must be a vector."""
        found = self.value(node)
        if not isinstance(found, Vector):
            raise Refusal("bad_argument", "a vector is needed where a scalar stands")
        return found

    def scalar(self, node: Any) -> Numbers:
        """An expression that must be a scalar."""
        found = self.value(node)
        if isinstance(found, Vector):
            raise Refusal("bad_argument", "a scalar is needed where a vector stands")
        return found

    def _number(self, node: Any) -> Value:
        return np.full(len(self._times), float(node.val))

    def _paren(self, node: Any) -> Value:
        return self.value(node.expr)

    def _minus(self, node: Any) -> Value:
        found = self.value(node.expr)
        return found.like(-found.values) if isinstance(found, Vector) else -found

    def _instant(self, node: Any) -> Value:
        picked, times, points = self._points(node, LOOKBACK)
        values = np.full((len(picked), len(times)), np.nan)
        for row, (key, _, _) in enumerate(picked):
            stamps, numbers = points[key]
            if not len(stamps):
                continue
            at = np.searchsorted(stamps, times, side="right") - 1
            fresh = (at >= 0) & (times - stamps[np.maximum(at, 0)] < LOOKBACK)
            values[row, fresh] = numbers[at[fresh]]
        return Vector([labels for _, labels, _ in picked], values, [key for key, _, _ in picked])

    def _points(self, selector: Any, back: int) -> tuple[list[Any], Times, Mapping[str, Any]]:
        """The series picked, the times to look at, and the samples since ``back`` before them."""
        if selector.at is not None:
            raise refuse("the '@' modifier")
        shift = int(selector.offset.total_seconds() * _SECOND) if selector.offset else 0
        times = self._times - shift
        picked = self._catalogue.select(selector)
        self.owners |= dict.fromkeys(labels["entity"] for _, labels, _ in picked)
        last = min(int(times[-1]), self._reader.now)
        window = Window(int(times[0]) - back, last)
        return picked, times, points_of(self._reader, [key for key, _, _ in picked], window)

    def over_range(self, node: Any, summary: Callable[..., float]) -> Vector:
        """``summary(times, values, begin, end)`` of each series in the range before each time."""
        if type(node).__name__ != "MatrixSelector":
            kind = type(node).__name__
            raise (
                refuse("a subquery")
                if kind == "SubqueryExpr"
                else Refusal("bad_argument", "this function needs a range, such as metric[5m]")
            )
        span = int(node.range.total_seconds() * _SECOND)
        picked, times, points = self._points(node.vector_selector, span)
        self._work += len(picked) * len(times)
        if self._work > _MOST_WORK:
            raise Refusal("timeout", "the query looks at too much: fewer series or a larger step")
        values = np.full((len(picked), len(times)), np.nan)
        for row, (key, _, _) in enumerate(picked):
            stamps, numbers = points[key]
            first = np.searchsorted(stamps, times - span, side="right")
            end = np.searchsorted(stamps, times, side="right")
            for at, (low, high) in enumerate(zip(first, end, strict=True)):
                if high > low:
                    until = int(times[at])
                    values[row, at] = summary(
                        stamps[low:high], numbers[low:high], until - span, until
                    )
        labels = [_without_name(one) for _, one, _ in picked]
        return Vector(labels, values, [key for key, _, _ in picked])

    def _call(self, node: Any) -> Value:
        from heldout.graph.packs.promfunctions import FUNCTIONS

        run = FUNCTIONS.get(node.func.name)
        if run is None:
            if node.func.name.startswith("histogram"):
                raise Refusal("unavailable", "no series of this world has buckets (a label 'le')")
            raise refuse(f"the function {node.func.name}")
        return run(self, list(node.args))

    def times(self) -> Times:
        """When the query is evaluated."""
        return self._times

    def _aggregate(self, node: Any) -> Value:
        from heldout.graph.packs.promfunctions import aggregated

        return aggregated(self, node)

    def _binary(self, node: Any) -> Value:
        from heldout.graph.packs.promfunctions import combined

        return combined(self, node)

    def _range(self, node: Any) -> Value:
        raise Refusal("bad_argument", "a range needs a function around it, such as rate(...)")

    def _string(self, node: Any) -> Value:
        raise refuse("a string as a result")


_NODES: Mapping[str, Callable[[Evaluation, Any], Value]] = {
    "NumberLiteral": Evaluation._number,
    "ParenExpr": Evaluation._paren,
    "UnaryExpr": Evaluation._minus,
    "VectorSelector": Evaluation._instant,
    "MatrixSelector": Evaluation._range,
    "StringLiteral": Evaluation._string,
    "Call": Evaluation._call,
    "AggregateExpr": Evaluation._aggregate,
    "BinaryExpr": Evaluation._binary,
}
