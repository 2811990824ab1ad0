"""Functions, aggregations and operators of the PromQL subset."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.graph.packs.series import (
    NAME,
    Labels,
    Numbers,
    Times,
    Value,
    Vector,
    refuse,
    without_name,
)
from heldout.graph.tools.refusals import Refusal

if TYPE_CHECKING:
    from heldout.graph.packs.evaluation import Evaluation

_SECOND = 1_000_000


def _increase(stamps: Times, values: Numbers, begin: int, end: int, *, reset: bool) -> float:
    """What a counter gained in a range, extrapolated to its ends as upstream does."""
    if len(values) < 2:
        return float("nan")
    gained = float(values[-1] - values[0])
    if reset:
        falls = values[:-1][np.diff(values) < 0]
        gained += float(falls.sum())
    sampled = float(stamps[-1] - stamps[0])
    step = sampled / (len(values) - 1)
    before, after = float(stamps[0] - begin), float(end - stamps[-1])
    before = before if before < step * 1.1 else step / 2
    after = after if after < step * 1.1 else step / 2
    if reset and gained > 0 and values[0] >= 0:
        before = min(before, sampled * float(values[0]) / gained)
    return gained * (sampled + before + after) / sampled


def _rate(stamps: Times, values: Numbers, begin: int, end: int) -> float:
    return _increase(stamps, values, begin, end, reset=True) / ((end - begin) / _SECOND)


def _slope(stamps: Times, values: Numbers, begin: int, end: int) -> float:
    if len(values) < 2:
        return float("nan")
    seconds = (stamps - stamps[0]) / _SECOND
    centred = seconds - seconds.mean()
    return float((centred * (values - values.mean())).sum() / (centred**2).sum())


def _last_step(stamps: Times, values: Numbers, begin: int, end: int, *, per_s: bool) -> float:
    if len(values) < 2:
        return float("nan")
    gained = float(values[-1] - values[-2])
    if not per_s:
        return gained
    gained = float(values[-1]) if gained < 0 else gained
    return gained / (float(stamps[-1] - stamps[-2]) / _SECOND)


_RANGE: Mapping[str, Callable[[Times, Numbers, int, int], float]] = {
    "rate": _rate,
    "increase": lambda t, v, b, e: _increase(t, v, b, e, reset=True),
    "delta": lambda t, v, b, e: _increase(t, v, b, e, reset=False),
    "irate": lambda t, v, b, e: _last_step(t, v, b, e, per_s=True),
    "idelta": lambda t, v, b, e: _last_step(t, v, b, e, per_s=False),
    "deriv": _slope,
    "avg_over_time": lambda t, v, b, e: float(v.mean()),
    "min_over_time": lambda t, v, b, e: float(v.min()),
    "max_over_time": lambda t, v, b, e: float(v.max()),
    "sum_over_time": lambda t, v, b, e: float(v.sum()),
    "count_over_time": lambda t, v, b, e: float(len(v)),
    "last_over_time": lambda t, v, b, e: float(v[-1]),
    "stddev_over_time": lambda t, v, b, e: float(v.std()),
    "changes": lambda t, v, b, e: float((np.diff(v) != 0).sum()),
    "resets": lambda t, v, b, e: float((np.diff(v) < 0).sum()),
}
_EACH: Mapping[str, Callable[[Numbers], Numbers]] = {
    "abs": np.abs, "ceil": np.ceil, "floor": np.floor, "sqrt": np.sqrt, "exp": np.exp,
    "ln": np.log, "log2": np.log2, "log10": np.log10, "round": np.round, "sgn": np.sign,
}  # fmt: skip


def _over(name: str) -> Callable[[Evaluation, list[Any]], Value]:
    return lambda run, args: run.over_range(_one(name, args), _RANGE[name])


def _each(name: str) -> Callable[[Evaluation, list[Any]], Value]:
    def function(run: Evaluation, args: list[Any]) -> Value:
        found = run.vector(_one(name, args))
        with np.errstate(all="ignore"):
            return found.like(_EACH[name](found.values))

    return function


def _one(name: str, args: Sequence[Any]) -> Any:
    if len(args) != 1:
        raise refuse(f"{name} with {len(args)} arguments")
    return args[0]


def _clamp(run: Evaluation, args: list[Any], low: int | None, high: int | None) -> Value:
    found = run.vector(args[0])
    values = found.values
    values = values if low is None else np.maximum(values, run.scalar(args[low]))
    values = values if high is None else np.minimum(values, run.scalar(args[high]))
    return found.like(values)


def _quantile_over_time(run: Evaluation, args: list[Any]) -> Value:
    share = _share(run, args[0])
    return run.over_range(args[1], lambda t, v, b, e: float(np.quantile(v, share)))


def _share(run: Evaluation, node: Any) -> float:
    share = float(run.scalar(node)[0])
    if not 0 <= share <= 1:
        raise Refusal("bad_argument", "a quantile must be between 0 and 1")
    return share


def _absent(run: Evaluation, args: list[Any]) -> Value:
    found = run.vector(_one("absent", args))
    gone = np.isnan(found.values).all(axis=0) if len(found.values) else np.ones(len(run.times()))
    return Vector([{}], np.where(gone, 1.0, np.nan)[None, :], [""])


def _sorted(run: Evaluation, args: list[Any], *, down: bool) -> Value:
    found = run.vector(_one("sort", args))
    last = np.nan_to_num(found.values[:, -1], nan=-np.inf)
    order = np.argsort(-last if down else last, kind="stable")
    return Vector(
        [found.labels[at] for at in order], found.values[order], [found.ids[at] for at in order]
    )


def _as_scalar(run: Evaluation, args: list[Any]) -> Value:
    found = run.vector(_one("scalar", args))
    return found.values[0] if len(found.values) == 1 else np.full(len(run.times()), np.nan)


FUNCTIONS: Mapping[str, Callable[[Evaluation, list[Any]], Value]] = {
    **{name: _over(name) for name in _RANGE},
    **{name: _each(name) for name in _EACH},
    "quantile_over_time": _quantile_over_time,
    "clamp": lambda run, args: _clamp(run, args, 1, 2),
    "clamp_min": lambda run, args: _clamp(run, args, 1, None),
    "clamp_max": lambda run, args: _clamp(run, args, None, 1),
    "absent": _absent,
    "sort": lambda run, args: _sorted(run, args, down=False),
    "sort_desc": lambda run, args: _sorted(run, args, down=True),
    "time": lambda run, args: run.times() / _SECOND,
    "scalar": _as_scalar,
    "vector": lambda run, args: Vector([{}], run.scalar(_one("vector", args))[None, :], [""]),
}  # fmt: skip

_REDUCE: Mapping[str, Callable[[Numbers], Numbers]] = {
    "sum": lambda v: np.nansum(v, axis=0),
    "avg": lambda v: np.nanmean(v, axis=0),
    "min": lambda v: np.nanmin(v, axis=0),
    "max": lambda v: np.nanmax(v, axis=0),
    "count": lambda v: (~np.isnan(v)).sum(axis=0).astype(np.float64),
    "stddev": lambda v: np.nanstd(v, axis=0),
    "stdvar": lambda v: np.nanvar(v, axis=0),
    "group": lambda v: np.ones(v.shape[1]),
}


def aggregated(run: Evaluation, node: Any) -> Value:
    """An aggregation over all series, or by or without some labels."""
    name = str(node.op)
    found = run.vector(node.expr)
    groups: dict[tuple[tuple[str, str], ...], list[int]] = {}
    for at, labels in enumerate(found.labels):
        groups.setdefault(_kept(labels, node.modifier), []).append(at)
    if name in ("topk", "bottomk"):
        return _best(run, node, found, list(groups.values()), down=name == "topk")
    if name == "quantile":
        share = _share(run, node.param)
        reduce: Callable[[Numbers], Numbers] = lambda v: np.nanquantile(v, share, axis=0)
    elif name in _REDUCE:
        reduce = _REDUCE[name]
    else:
        raise refuse(f"the aggregation {name}")
    rows = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        for places in groups.values():
            part = found.values[places]
            rows.append(np.where(np.isnan(part).all(axis=0), np.nan, reduce(part)))
    values = np.array(rows) if rows else np.empty((0, len(run.times())))
    return Vector([dict(key) for key in groups], values, [""] * len(groups))


def _kept(labels: Labels, modifier: Any) -> tuple[tuple[str, str], ...]:
    """The labels that an aggregation keeps."""
    if modifier is None:
        return ()
    by = str(modifier.type).endswith("By")
    named = set(modifier.labels)
    return tuple(
        sorted((k, v) for k, v in labels.items() if (k in named) == by and (by or k != NAME))
    )


def _best(
    run: Evaluation, node: Any, found: Vector, groups: Sequence[Sequence[int]], *, down: bool
) -> Vector:
    """The k largest or smallest series of each group, judged at each time."""
    count = int(run.scalar(node.param)[0])
    values = np.full_like(found.values, np.nan)
    for places in groups:
        part = found.values[list(places)]
        keys = np.nan_to_num(-part if down else part, nan=np.inf)
        order = np.argsort(keys, axis=0, kind="stable")[: max(count, 0)]
        for at in range(part.shape[1]):
            chosen = [places[row] for row in order[:, at]]
            values[chosen, at] = found.values[chosen, at]
    kept = [at for at in range(len(values)) if not np.isnan(values[at]).all()]
    if values.shape[1] == 1:
        kept.sort(key=lambda at: -values[at, 0] if down else values[at, 0])
    return Vector([found.labels[at] for at in kept], values[kept], [found.ids[at] for at in kept])


_ARITHMETIC: Mapping[str, Callable[[Numbers, Numbers], Numbers]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "%": np.fmod, "^": np.power,
}  # fmt: skip
_COMPARE: Mapping[str, Callable[[Numbers, Numbers], Any]] = {
    "==": np.equal, "!=": np.not_equal, ">": np.greater, "<": np.less, ">=": np.greater_equal,
    "<=": np.less_equal,
}  # fmt: skip


def combined(run: Evaluation, node: Any) -> Value:
    """Two operands and an operator: arithmetic, comparison, or a set operation."""
    operator = str(node.op).lower()
    left, right = run.value(node.lhs), run.value(node.rhs)
    if operator in ("and", "or", "unless"):
        if not isinstance(left, Vector) or not isinstance(right, Vector):
            raise Refusal("bad_argument", f"'{operator}' needs a vector on both sides")
        return _set(operator, left, right, node.modifier)
    if operator not in _ARITHMETIC and operator not in _COMPARE:
        raise refuse(f"the operator {operator}")
    truth = bool(node.modifier is not None and node.modifier.return_bool)
    if isinstance(left, Vector) and isinstance(right, Vector):
        pairs = _pairs(left, right, node.modifier)
        rows = [_apply(operator, left.values[a], right.values[b], truth) for a, b in pairs]
        values = np.array(rows) if rows else np.empty((0, len(run.times())))
        named = operator in _COMPARE and not truth
        labels = [left.labels[a] if named else _on(left.labels[a], node.modifier) for a, _ in pairs]
        return Vector(labels, values, [left.ids[a] for a, _ in pairs])
    if isinstance(left, Vector):
        values = _apply(operator, left.values, np.asarray(right), truth)
        return left.like(values, named=operator in _COMPARE and not truth)
    if isinstance(right, Vector):
        values = _apply(operator, np.broadcast_to(left, right.values.shape), right.values, truth)
        if operator in _COMPARE and not truth:
            values = np.where(np.isnan(values), np.nan, right.values)
        return right.like(values, named=operator in _COMPARE and not truth)
    return _apply(operator, left, right, truth=True)


def _apply(operator: str, left: Numbers, right: Numbers, truth: bool) -> Numbers:
    with np.errstate(all="ignore"):
        if operator in _ARITHMETIC:
            return np.asarray(_ARITHMETIC[operator](left, right), dtype=np.float64)
        holds = _COMPARE[operator](left, right)
        missing = np.isnan(left) | np.isnan(right)
        if truth:
            return np.where(missing, np.nan, holds.astype(np.float64))
        return np.where(holds & ~missing, left, np.nan)


def _on(labels: Labels, modifier: Any) -> dict[str, str]:
    """The labels that two sides are matched by; without a modifier all but the name."""
    matching = modifier.matching if modifier is not None else None
    if matching is None:
        return without_name(labels)
    named = set(matching.labels)
    on = "Include" in str(matching.type) or "On" in str(matching.type)
    return {k: v for k, v in labels.items() if k != NAME and (k in named) == on}


def _key(labels: Labels, modifier: Any) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(_on(labels, modifier).items()))


def _pairs(left: Vector, right: Vector, modifier: Any) -> list[tuple[int, int]]:
    if modifier is not None and "OneToOne" not in str(modifier.card):
        raise refuse("group_left and group_right")
    places: dict[tuple[tuple[str, str], ...], int] = {}
    for at, labels in enumerate(right.labels):
        if places.setdefault(_key(labels, modifier), at) != at:
            raise Refusal("bad_argument", "several series on the right match: use 'on' or sum by")
    found = []
    seen = set()
    for at, labels in enumerate(left.labels):
        key = _key(labels, modifier)
        if key in places:
            if key in seen:
                raise Refusal("bad_argument", "several series on the left match: use 'on'")
            seen.add(key)
            found.append((at, places[key]))
    return found


def _set(operator: str, left: Vector, right: Vector, modifier: Any) -> Vector:
    def present(side: Vector) -> dict[tuple[tuple[str, str], ...], Any]:
        found: dict[tuple[tuple[str, str], ...], Any] = {}
        for at, labels in enumerate(side.labels):
            key = _key(labels, modifier)
            there = ~np.isnan(side.values[at])
            found[key] = found[key] | there if key in found else there
        return found

    nowhere = np.zeros(left.values.shape[1], dtype=bool)
    if operator == "or":
        held = present(left)
        rest = [
            np.where(held.get(_key(labels, modifier), nowhere), np.nan, right.values[at])
            for at, labels in enumerate(right.labels)
        ]
        values = (
            np.concatenate([left.values, np.array(rest).reshape(len(rest), -1)])
            if rest
            else (left.values)
        )
        return Vector([*left.labels, *right.labels], values, [*left.ids, *right.ids])
    held = present(right)
    rows = []
    for at, labels in enumerate(left.labels):
        there = held.get(_key(labels, modifier), nowhere)
        keep = there if operator == "and" else ~there
        rows.append(np.where(keep, left.values[at], np.nan))
    return Vector(left.labels, np.array(rows).reshape(len(rows), left.values.shape[1]), left.ids)
