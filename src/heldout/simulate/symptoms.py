"""What an active cause leaves behind: log lines along the path, moved metrics, nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from heldout.graph.schema import LogBlock
from heldout.simulate.fault import Fault
from heldout.simulate.ground import Ground
from heldout.simulate.plot import Plot
from heldout.simulate.rhythm import MINUTE, SECOND
from heldout.simulate.spread import failing_below, spread
from heldout.simulate.streams import share, stream
from heldout.simulate.telemetry import Gauges

_CALLS = (
    "call to {next} failed: {why}",
    "request to {next} failed after {1} ms: {why}",
    "upstream {next} unavailable: {why}",
    "rpc to {next} ended with code=Unavailable, {why}",
    "dependency {next} failed: {why} (request {0})",
)
_STORES = (
    "query on {next} failed: {why}",
    "call to {next} failed after {1} ms: {why}",
    "store {next} refused the operation: {why}",
)
_TOPICS = ("reading from {next} failed: {why}", "consumer of {next} stalled: {why}")
_WHY = ("status 503", "deadline exceeded", "status 500", "connection closed by peer",
        "no healthy answer after 3 attempts")  # fmt: skip
LAG = 20 * SECOND
"""How much later trouble shows at each hop."""


@dataclass(frozen=True, slots=True)
class Active:
    """The cause as it acts: which fault, at which seat, through which field and values."""

    fault: Fault
    seat: int
    holder: int
    field: str
    old: Any
    new: Any
    path: tuple[int, ...]
    change: str


@dataclass(frozen=True, slots=True)
class Symptoms:
    """Rendered evidence: blocks of log lines and the share of failing calls by entity."""

    level: dict[int, float]
    blocks: tuple[LogBlock, ...]


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ",".join(str(one) for one in value) + "]"
    return str(value)


def said_style(plot: Plot, fault: Fault) -> str:
    """How this incident's logs spell the field: half of the time not as the settings do."""
    other = "camel" if plot.land.style != "camel" else "snake"
    same = share(plot.seed, "said-style", fault.name) < 0.5
    return (plot.land.style if plot.land.style != "kebab" else "snake") if same else other


def mechanism_lines(plot: Plot, active: Active) -> tuple[str, ...]:
    """The templates in which the seat states the mechanism."""
    ground = plot.land.ground
    fault = active.fault
    words = {
        "said": fault.said_in(said_style(plot, fault)),
        "new": _plain(active.new),
        "old": _plain(active.old),
        "holder": ground.name(active.holder),
        "seat": ground.name(active.seat),
        "0": "{0}",
        "1": "{1}",
    }
    return tuple(_filled(text, words) for text in fault.logs)


def _filled(text: str, words: dict[str, str]) -> str:
    for name, value in words.items():
        text = text.replace("{" + name + "}", value)
    return text


def _block(
    plot: Plot, entity: str, texts: list[tuple[str, str, int]], since: int, key: str
) -> LogBlock:
    """Lines of one entity from ``since`` to the world's now; ``texts`` are (level, text, count)."""
    rng = stream(plot.seed, "symptom", key)
    template = np.repeat(np.arange(len(texts), dtype=np.int32), [count for _, _, count in texts])
    total = len(template)
    span = max(plot.now - since, MINUTE)
    ts = since + (np.sort(rng.random(total)) * span).astype(np.int64)
    rng.shuffle(template)
    return LogBlock(
        np.minimum(ts, plot.now), template, rng.integers(1, 99_999, total),
        rng.integers(800, 30_000, total), [text for _, text, _ in texts],
        [entity] * len(texts), [level for level, _, _ in texts],
    )  # fmt: skip


def _hop_text(ground: Ground, seed: int, src: int, dst: int) -> str:
    kind = ground.entities[dst].kind
    texts: tuple[str, ...] = _CALLS
    if kind in ("DbInstance", "Cache", "Bucket"):
        texts = _STORES
    elif kind in ("KafkaTopic", "Queue"):
        texts = _TOPICS
    draw = share(seed, "hop-text", ground.id(src))
    why = _WHY[int(share(seed, "hop-why", ground.id(src), ground.id(dst)) * len(_WHY))]
    text = texts[int(draw * len(texts))]
    return text.replace("{next}", ground.name(dst)).replace("{why}", why)


def depths(ground: Ground, level: dict[int, float], seat: int) -> dict[int, int]:
    """Hops from the seat to each affected entity, along failing edges."""
    found = {seat: 0}
    todo = [seat]
    while todo:
        at = todo.pop(0)
        for above in level:
            if above not in found and at in failing_below(ground, above, level):
                found[above] = found[at] + 1
                todo.append(above)
    return found


def render(
    plot: Plot,
    active: Active,
    alerted: float,
    *,
    cut: frozenset[tuple[int, int]] = frozenset(),
) -> Symptoms:
    """Symptoms of ``active``; levels are scaled so that the victim fails ``alerted`` of its calls.

    With a ``cut`` edge on every way to the victim it stays well, and its level is absent.
    """
    ground = plot.land.ground
    level = spread(ground, active.seat, active.path, cut=cut)
    depth = depths(ground, level, active.seat)
    victim = active.path[0]
    if victim in level:
        scale = alerted / level[victim]
        level = {entity: min(0.97, value * scale) for entity, value in level.items()}
    blocks = []
    minutes = max(3.0, (plot.now - plot.onset) / MINUTE)
    for entity, value in level.items():
        since = plot.onset + depth.get(entity, 0) * LAG
        count = max(12, int(minutes * 34 * value))
        texts: list[tuple[str, str, int]] = []
        if entity == active.seat:
            lines = mechanism_lines(plot, active)
            texts += [("ERROR", lines[0], count), *(("WARN", t, count // 2) for t in lines[1:])]
        for below in failing_below(ground, entity, level):
            if (entity, below) not in cut and below != entity:
                texts.append(("ERROR", _hop_text(ground, plot.seed, entity, below), count))
        if texts:
            blocks.append(_block(plot, ground.id(entity), texts, since, f"{ground.id(entity)}"))
    return Symptoms(level, tuple(blocks))


def move_metrics(plot: Plot, gauges: Gauges, active: Active, symptoms: Symptoms) -> None:
    """Error share and latency along the path, and the gauge of the mechanism at the seat."""
    ground = plot.land.ground
    depth = depths(ground, symptoms.level, active.seat)
    for entity, value in symptoms.level.items():
        since = plot.onset + depth.get(entity, 0) * LAG
        gauges.shift(entity, "error_share", since, plus=100 * value)
        gauges.shift(entity, "latency_p95", since, factor=1 + 9 * value)
    gauge = active.fault.gauge
    ratio = gauge.biting - gauge.healthy
    gauges.shift(active.seat, gauge.name, plot.onset - 40 * SECOND, plus=ratio)


def load_metrics(plot: Plot, gauges: Gauges) -> None:
    """The trigger's traffic: present whether or not a dormant cause waits for it."""
    load = plot.binding.fault.trigger.load
    if load <= 1:
        return
    for entity in plot.binding.path:
        gauges.shift(entity, "request_rate", plot.onset - 4 * MINUTE, factor=load)
        gauges.shift(entity, "active_sessions", plot.onset - 4 * MINUTE, factor=(1 + load) / 2)
