"""What a healthy estate writes and measures: about 100,000 log lines, some 400 metric series."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heldout.graph.schema import LogBlock
from heldout.simulate.ground import Ground
from heldout.simulate.landscape import Landscape
from heldout.simulate.rhythm import DAY, HOUR, MINUTE
from heldout.simulate.streams import stream, token

_INFO = (
    "GET /v2/items/{0} 200 in {1} ms", "POST /v2/orders 201 in {1} ms",
    "GET /healthz 200 in {1} ms", "refreshed {0} entries in {1} ms",
    "batch of {0} records written in {1} ms", "job {0} picked up after {1} ms",
    "session {0} renewed", "page {0} rendered in {1} ms", "flushed {0} spans to collector",
    "worker {0} idle, {1} tasks done", "lease renewed for {1} s",
    "compacted segment {0} in {1} ms", "snapshot {0} stored, {1} KiB",
    "schema check passed in {1} ms", "message {0} acknowledged in {1} ms", "user {0} signed in",
    "document {0} indexed in {1} ms", "price list {0} loaded, {1} rows",
    "quote {0} computed in {1} ms", "webhook {0} delivered in {1} ms",
    '{{"msg":"served","id":{0},"ms":{1}}}', '{{"event":"sync","rows":{0},"took_ms":{1}}}',
    "heartbeat {0} ok", "reconciled {0} rows, {1} unchanged", "thumbnail {0} made in {1} ms",
    "plan {0} reused from local copy", "audit entry {0} appended", "warm start took {1} ms",
    "GC pause {1} ms, heap after {0} MiB", "rotated local log file {0}",
)  # fmt: skip
_WITH_PEER = (
    "call to {peer} ok in {1} ms", "fetched {0} rows from {peer} in {1} ms",
    "{peer} answered 200 in {1} ms", "stream from {peer} resumed at {0}",
)  # fmt: skip
_WARN = (
    "slow answer: {1} ms for item {0}", "retrying {peer}, attempt 2 of 3 after {1} ms",
    "clock skew of {1} ms corrected", "queue depth {0} above soft mark",
    "deprecated field in request {0}", "call to {peer} needed a second attempt ({1} ms)",
    "payload {0} truncated to {1} KiB", "config reload skipped, no difference found",
)  # fmt: skip
_ERROR = (
    "request {0} cancelled by client after {1} ms", "item {0} not found, answered 404",
    "could not parse date in upload {0}", "duplicate key for record {0}, skipped",
    "validation of form {0} failed: missing postcode", "image {0} has an unknown format",
    "call to {peer} failed once: connection reset, second attempt fine",
    "lock wait for row {0} took {1} ms, continued",
)  # fmt: skip
_STORE = (
    "checkpoint complete: wrote {0} buffers in {1} ms",
    "automatic vacuum of table {0} took {1} ms", "connection received from pod {0}",
    "connection closed, session time {1} s", "duration: {1} ms  statement {0}",
    "archived segment {0}",
)  # fmt: skip
_FRESH = (
    ("WARN", "new peer certificate seen for client {0}"),
    ("ERROR", "upload {0} refused: virus scanner busy for {1} ms"),
    ("WARN", "locale file lacks {0} keys"),
    ("ERROR", "export {0} stopped by user after {1} rows"),
    ("WARN", "experiment {0} has no control group"),
    ("ERROR", "address book {0} has a cyclic reference"),
)

SERIES: tuple[tuple[str, str, float, float], ...] = (
    ("request_rate", "per_s", 180.0, 0.35),
    ("error_share", "percent", 0.35, 0.5),
    ("latency_p95", "ms", 140.0, 0.25),
)
"""Series of every service: name, unit, usual level, spread between services."""
STORE_SERIES: tuple[tuple[str, str, float, float], ...] = (
    ("active_sessions", "count", 24.0, 0.4),
    ("latency_p95", "ms", 9.0, 0.3),
    ("cpu_share", "ratio", 0.31, 0.3),
)

COARSE_S, FINE_S = 300, 30
FINE_SPAN = 2 * HOUR
COARSE_SPAN = 14 * DAY


class _Vocabulary:
    def __init__(self) -> None:
        self.texts: list[str] = []
        self.entities: list[str] = []
        self.levels: list[str] = []
        self.weights: list[float] = []

    def add(self, entity: str, level: str, text: str, weight: float) -> None:
        self.entities.append(entity)
        self.levels.append(level)
        self.texts.append(text.replace("{{", "{").replace("}}", "}"))
        self.weights.append(weight)


def _vocabulary(land: Landscape, seed: int) -> _Vocabulary:
    rng = stream(seed, "logs", "vocabulary")
    ground, words = land.ground, _Vocabulary()
    traffic = 1.0 / np.arange(1, len(land.sites) + 1) ** 0.6
    rng.shuffle(traffic)
    for site, volume in zip(land.sites, traffic.tolist(), strict=True):
        own = ground.id(site.service)
        peers = [ground.name(dst) for pred, dst in ground.out(site.service) if pred == "calls"]
        info = [_INFO[int(i)] for i in rng.permutation(len(_INFO))[: int(rng.integers(5, 9))]]
        for peer in peers[:3]:
            info.append(_WITH_PEER[int(rng.integers(4))].replace("{peer}", peer))
        for rank, text in enumerate(info, 1):
            words.add(own, "INFO", text, volume / rank)
        for texts, level, count, weight in ((_WARN, "WARN", 2, 0.04), (_ERROR, "ERROR", 2, 0.025)):
            for i in rng.permutation(len(texts))[:count]:
                text = texts[int(i)]
                if "{peer}" in text and not peers:
                    continue
                peer = peers[int(rng.integers(len(peers)))] if peers else ""
                words.add(own, level, text.replace("{peer}", peer), volume * weight)
    for store in ground.of_kind("DbInstance"):
        for i in rng.permutation(len(_STORE))[:4]:
            words.add(ground.id(store), "INFO", _STORE[int(i)], 0.05)
    return words


def healthy_logs(land: Landscape, seed: int, now: int, *, lines: int) -> list[LogBlock]:
    """About ``lines`` log lines of the last day: Zipf templates, a day's curve, bursts."""
    words = _vocabulary(land, seed) if lines else _Vocabulary()
    if not words.texts:
        return []
    rng = stream(seed, "logs", "lines")
    weights = np.array(words.weights)
    counts = rng.multinomial(lines, weights / weights.sum())
    template = rng.permutation(np.repeat(np.arange(len(counts), dtype=np.int32), counts))
    span = int(rng.integers(20, 30)) * HOUR
    offset = (rng.random(lines) * span).astype(np.int64)
    # Keep the lines of busy hours, move a part of the night's to the same hour of the day.
    quiet = ((now - offset) // HOUR % 24 < 6) & (rng.random(lines) < 0.6)
    offset = np.where(quiet, (rng.random(lines) * 8 * HOUR).astype(np.int64), offset)
    ts = np.sort(now - offset)
    arg0 = rng.integers(1, 99_999, lines)
    arg1 = (rng.lognormal(3.6, 0.9, lines)).astype(np.int64) + 1
    block = LogBlock(ts, template, arg0, arg1, words.texts, words.entities, words.levels)
    return [block, *_fresh_patterns(land, seed, now)]


def _fresh_patterns(land: Landscape, seed: int, now: int) -> list[LogBlock]:
    """A few patterns that are new in the last hours and mean nothing."""
    if not land.sites:
        return []
    rng = stream(seed, "logs", "fresh")
    blocks = []
    for number in rng.permutation(len(_FRESH))[: int(rng.integers(2, 5))]:
        level, text = _FRESH[int(number)]
        site = land.sites[int(rng.integers(len(land.sites)))]
        count = int(rng.integers(8, 60))
        since = int(rng.integers(20 * MINUTE, 9 * HOUR))
        ts = np.sort(now - rng.integers(0, since, count))
        blocks.append(
            LogBlock(
                ts,
                np.zeros(count, np.int32),
                rng.integers(1, 9999, count),
                rng.integers(20, 900, count),
                [text],
                [land.ground.id(site.service)],
                [level],
            )
        )
    return blocks


@dataclass(slots=True)
class Gauges:
    """Metric series before they become blocks: 5-minute values, then 30-second ones.

    The fine part covers the last two hours; ``rows`` finds a series by (entity, name).
    """

    ids: list[str]
    entities: list[int]
    names: list[str]
    units: list[str]
    coarse: np.ndarray[Any, np.dtype[np.float32]]
    fine: np.ndarray[Any, np.dtype[np.float32]]
    coarse_t0: int
    fine_t0: int
    rows: dict[tuple[int, str], int]

    def shift(
        self,
        entity: int,
        name: str,
        since: int,
        *,
        until: int | None = None,
        factor: float = 1.0,
        plus: float = 0.0,
    ) -> None:
        """From ``since`` to ``until``, multiply and add; without such a series nothing happens."""
        row = self.rows.get((entity, name))
        if row is None:
            return
        step = FINE_S * 1_000_000
        at = max(0, (since - self.fine_t0) // step)
        end = self.fine.shape[1] if until is None else max(at, (until - self.fine_t0) // step + 1)
        self.fine[row, at:end] = self.fine[row, at:end] * factor + plus


def _wanted(
    ground: Ground, land: Landscape, extra: Sequence[tuple[int, str, str, float]]
) -> list[tuple[int, str, str, float, float]]:
    wanted = []
    for site in land.sites:
        wanted += [(site.service, *one) for one in SERIES]
    for kind in ("DbInstance", "Cache"):
        for store in ground.of_kind(kind):
            wanted += [(store, *one) for one in STORE_SERIES]
    for group in ground.of_kind("NodeGroup"):
        wanted.append((group, "nodes_ready", "count", 9.0, 0.2))
    wanted += [(entity, name, unit, level, 0.12) for entity, name, unit, level in extra]
    return wanted


def healthy_metrics(
    land: Landscape,
    seed: int,
    start: int,
    now: int,
    extra: Sequence[tuple[int, str, str, float]] = (),
    *,
    only: Collection[int] | None = None,
) -> Gauges:
    """Series of every service and store, plus ``extra`` (entity, name, unit, level) ones.

    With ``only``, of those entities alone; the values are then drawn anew.
    A daily sine, a weekend factor, noise on two time scales and a few benign spikes.
    """
    rng = stream(seed, "metrics")
    ground = land.ground
    wanted = [one for one in _wanted(ground, land, extra) if only is None or one[0] in only]
    fine_t0 = (now - FINE_SPAN) // (FINE_S * 1_000_000) * (FINE_S * 1_000_000)
    step = COARSE_S * 1_000_000
    points = max(1, min(fine_t0 - start, COARSE_SPAN) // step)
    coarse_t0 = fine_t0 - points * step
    fine_points = (now - fine_t0) // (FINE_S * 1_000_000) + 1
    n = len(wanted)
    level = np.array([one[3] for one in wanted], dtype=np.float32)[:, None]
    spread = np.array([one[4] for one in wanted], dtype=np.float32)[:, None]
    level = level * np.exp(spread * rng.standard_normal((n, 1), dtype=np.float32))
    swing = rng.random((n, 1), dtype=np.float32) * 0.3
    phase = rng.random((n, 1), dtype=np.float32) * 0.6

    def curve(t: np.ndarray[Any, np.dtype[np.int64]], grain: int) -> np.ndarray[Any, Any]:
        day = (2 * np.pi * ((t % DAY) / DAY - 0.3)).astype(np.float32)[None, :]
        weekend = np.where((t // DAY + 3) % 7 > 4, 0.72, 1.0).astype(np.float32)[None, :]
        slow = rng.standard_normal((n, len(t) // grain + 1), dtype=np.float32)
        slow = np.repeat(slow, grain, axis=1)[:, : len(t)]
        values = np.sin(day + phase)
        values *= swing
        values += 1.0
        values *= weekend
        values += slow * np.float32(0.05)
        values += rng.standard_normal(values.shape, dtype=np.float32) * np.float32(0.04)
        values *= level
        return np.maximum(values, 0, out=values)

    coarse = curve(coarse_t0 + np.arange(points, dtype=np.int64) * step, 12)
    spikes = rng.integers(0, points, (n, 12))
    coarse[np.arange(n)[:, None], spikes] *= 1.6
    fine = curve(fine_t0 + np.arange(fine_points, dtype=np.int64) * FINE_S * 1_000_000, 10)
    ids = [f"m-{token(seed, 'series', ground.id(one[0]), one[1])}" for one in wanted]
    rows: dict[tuple[int, str], int] = {}
    for row, one in enumerate(wanted):
        rows.setdefault((one[0], one[1]), row)
    return Gauges(
        ids, [one[0] for one in wanted], [one[1] for one in wanted], [one[2] for one in wanted],
        coarse, fine, int(coarse_t0), int(fine_t0), rows,
    )  # fmt: skip
