"""Metrics, health and alerts of a window: counted from what was seen outside of the code."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from heldout.repair.platform.records import Request, Sample, Window
from heldout.repair.platform.replay import Plant

BUCKETS = 6
"""Points of a series for one window."""

_BASE_MEMORY_MB = 96.0
_CONNECTION_MB = 2.5
_REQUEST_MB = 0.8
_CACHED_MB = 0.004


@dataclass(frozen=True, slots=True)
class Reading:
    """One service over one stretch of a window.

    ``error_rate`` from 0 to 1 of answered requests; ``p99_ms`` from arrival to answer; ``cpu`` from
    0 to 1 of its workers' time; ``pool_in_use`` and ``queue_depth`` are the highest seen.
    """

    service: str
    requests: int
    error_rate: float
    p99_ms: float
    cpu: float
    memory_mb: float
    queue_depth: int
    pool_in_use: int

    def as_dict(self) -> dict[str, float | int | str]:
        """Plain data, rounded as a dashboard shows it."""
        return {
            "service": self.service,
            "requests": self.requests,
            "error_rate": round(self.error_rate, 4),
            "p99_ms": round(self.p99_ms, 1),
            "cpu": round(self.cpu, 3),
            "memory_mb": round(self.memory_mb, 1),
            "queue_depth": self.queue_depth,
            "pool_in_use": self.pool_in_use,
        }


@dataclass(frozen=True, slots=True)
class Rule:
    """An alert: fires where ``test`` holds in ``for_buckets`` stretches of a window in a row."""

    name: str
    severity: str
    summary: str
    test: Callable[[Reading], bool]
    for_buckets: int = 2


RULES = (
    Rule("HighErrorRate", "critical", "more than 5 % of requests fail",
         lambda one: one.requests > 0 and one.error_rate > 0.05),
    Rule("SlowRequests", "warning", "p99 is above 800 ms",
         lambda one: one.p99_ms > 800),
    Rule("QueueGrowing", "warning", "more than 10 requests wait",
         lambda one: one.queue_depth > 10),
    Rule("PoolExhausted", "warning", "all connections of the pool are in use",
         lambda one: one.pool_in_use >= 12, 3),
)  # fmt: skip
"""The rules of every service, the loudest first."""


@dataclass(frozen=True, slots=True)
class Alert:
    """A rule that fires for a service; ``since`` is the second of the window where it began."""

    rule: str
    severity: str
    service: str
    since: float
    text: str


def readings(window: Window, plant: Plant) -> dict[str, tuple[Reading, ...]]:
    """Each service's readings, ``BUCKETS`` of them over the window."""
    width = window.seconds / BUCKETS
    found: dict[str, tuple[Reading, ...]] = {}
    for service in plant.services:
        requests = window.of(service)
        found[service] = tuple(
            _reading(service, requests, window, plant, bucket * width, width)
            for bucket in range(BUCKETS)
        )
    return found


def _reading(
    service: str,
    requests: Sequence[Request],
    window: Window,
    plant: Plant,
    begin: float,
    width: float,
) -> Reading:
    ended = [one for one in requests if one.ended and begin < one.ended <= begin + width]
    samples = [one for one in window.samples if begin <= one.at <= begin + width]
    busy = plant.work_seconds * len(ended)
    pool = _highest(samples, lambda one: one.connections.get(service, 0))
    running = _highest(samples, lambda one: one.running.get(service, 0))
    return Reading(
        service,
        len(ended),
        sum(one.status >= 500 for one in ended) / len(ended) if ended else 0.0,
        1000 * percentile([one.seconds or 0.0 for one in ended], 0.99),
        min(1.0, 4 * busy / width),
        _BASE_MEMORY_MB
        + pool * _CONNECTION_MB
        + running * _REQUEST_MB
        + window.cached * _CACHED_MB,
        _highest(samples, lambda one: one.waiting.get(service, 0)),
        pool,
    )


def _highest(samples: Sequence[Sample], of: Callable[[Sample], int]) -> int:
    return max((of(one) for one in samples), default=0)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least ``share`` of all values do not exceed; 0 for none."""
    if not values:
        return 0.0
    ranked = sorted(values)
    return ranked[max(0, math.ceil(share * len(ranked)) - 1)]


def alerts(series: Mapping[str, Sequence[Reading]], seconds: float) -> tuple[Alert, ...]:
    """What fires at the end of a window or fired within it, by severity, rule and service."""
    found: list[Alert] = []
    for service, readings_ in series.items():
        for rule in RULES:
            since = _since(rule, readings_)
            if since is not None:
                text = f"{rule.summary} in {service}"
                at = since * seconds / len(readings_)
                found.append(Alert(rule.name, rule.severity, service, at, text))
    return tuple(sorted(found, key=lambda one: (one.severity, one.rule, one.service)))


def _since(rule: Rule, series: Sequence[Reading]) -> int | None:
    row = 0
    for at, reading in enumerate(series):
        row = row + 1 if rule.test(reading) else 0
        if row >= rule.for_buckets:
            return at - rule.for_buckets + 1
    return None


def health(series: Sequence[Reading]) -> str:
    """``healthy``, ``degraded`` or ``down``, by the last reading."""
    last = series[-1]
    if last.requests and last.error_rate > 0.5:
        return "down"
    if last.error_rate > 0.05 or last.p99_ms > 800 or last.queue_depth > 10:
        return "degraded"
    return "healthy"
