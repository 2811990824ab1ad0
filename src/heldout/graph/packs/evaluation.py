"""PromQL over the series of a world: what a parsed expression comes to at some times.

A subset with upstream's meaning: selectors with matchers, offset, functions over a range,
aggregation by or without labels, arithmetic, comparison and set operators one to one. The rest is
refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from heldout.graph.packs.promfunctions import FUNCTIONS, aggregated, combined
from heldout.graph.packs.series import (
    Catalogue,
    Numbers,
    Times,
    Value,
    Vector,
    refuse,
    without_name,
)
from heldout.graph.tools.metrics import points_of
from heldout.graph.tools.page import Window
from heldout.graph.tools.reader import Reader
from heldout.graph.tools.refusals import Refusal

LOOKBACK = 600_000_000
"""How old the newest sample may be that an instant selector takes: twice the coarsest step."""

_SECOND = 1_000_000
_MOST_WORK = 300_000
"""Ranges that one query may look at, over all its series and times."""


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
        labels = [without_name(one) for _, one, _ in picked]
        return Vector(labels, values, [key for key, _, _ in picked])

    def _call(self, node: Any) -> Value:
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
        return aggregated(self, node)

    def _binary(self, node: Any) -> Value:
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
