"""What an active cause leaves behind: log lines along the path, moved metrics, nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heldout.graph.schema import LogBlock
from heldout.simulate.fault import Fault
from heldout.simulate.ground import Ground
from heldout.simulate.plot import Plot
from heldout.simulate.rhythm import MINUTE, SECOND
from heldout.simulate.scope import members
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
MOST_ROUTES = 3
"""Ways that show the mechanism: logs, then the gauge, then what controllers report."""
MOST_MEMBERS = 12
"""Members of a scope that write lines of their own; the facts tell of all of them."""
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


def spoken(plot: Plot, active: Active) -> dict[str, str]:
    """The words that logs and events of the active fault may use."""
    ground, fault = plot.land.ground, active.fault
    return {
        "said": fault.said_in(said_style(plot, fault)),
        "new": _plain(active.new),
        "old": _plain(active.old),
        "holder": ground.name(active.holder),
        "seat": ground.name(active.seat),
        "0": "{0}",
        "1": "{1}",
    }


def mechanism_lines(plot: Plot, active: Active) -> tuple[str, ...]:
    """The templates in which the seat states the mechanism."""
    words = spoken(plot, active)
    return tuple(filled(text, words) for text in active.fault.logs)


def filled(text: str, words: Mapping[str, str]) -> str:
    """The text with every ``{word}`` that is known put in."""
    for name, value in words.items():
        text = text.replace("{" + name + "}", value)
    return text


def _block(
    plot: Plot, entity: str, texts: list[tuple[str, str, int]], since: int, key: str
) -> LogBlock:
    """Lines of one entity from ``since`` to the trouble's end; texts are (level, text, count)."""
    rng = stream(plot.seed, "symptom", key)
    template = np.repeat(np.arange(len(texts), dtype=np.int32), [count for _, _, count in texts])
    total = len(template)
    span = max(plot.ended - since, MINUTE)
    ts = since + (np.sort(rng.random(total)) * span).astype(np.int64)
    rng.shuffle(template)
    return LogBlock(
        np.minimum(ts, plot.ended), template, rng.integers(1, 99_999, total),
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
    if active.fault.cause == "false_alarm":
        return Symptoms({}, (_remarks(plot, active),))
    level = spread(ground, active.seat, active.path, cut=cut, carries=active.fault.carries)
    depth = depths(ground, level, active.seat)
    victim = active.path[0]
    if victim in level:
        scale = alerted / level[victim]
        level = {entity: min(0.97, value * scale) for entity, value in level.items()}
    blocks = []
    minutes = max(3.0, (plot.ended - plot.onset) / MINUTE)
    for entity, value in level.items():
        since = plot.onset + depth.get(entity, 0) * LAG
        count = max(12, int(minutes * 34 * value))
        texts: list[tuple[str, str, int]] = []
        if entity == active.seat:
            texts += _stated(mechanism_lines(plot, active), count)
        for below in failing_below(ground, entity, level):
            if (entity, below) not in cut and below != entity:
                texts.append(("ERROR", _hop_text(ground, plot.seed, entity, below), count))
        if texts:
            blocks.append(_block(plot, ground.id(entity), texts, since, f"{ground.id(entity)}"))
    if active.seat == plot.binding.seat:
        blocks += _member_blocks(plot, active, int(minutes * 12))
    return Symptoms(level, tuple(blocks))


def _stated(lines: Sequence[str], count: int) -> list[tuple[str, str, int]]:
    return [("ERROR", lines[0], count), *(("WARN", text, count // 2) for text in lines[1:])]


def _remarks(plot: Plot, active: Active) -> LogBlock:
    """What the alerted service says of a false alarm: a few lines, and none of them an error."""
    own = plot.land.ground.id(active.seat)
    texts = [("WARN", text, 5) for text in mechanism_lines(plot, active)]
    return _block(plot, own, texts, plot.onset, own)


def _member_blocks(plot: Plot, active: Active, count: int) -> list[LogBlock]:
    """The mechanism in the words of each member of the scope; the spared ones say nothing."""
    lines = mechanism_lines(plot, active)
    ids = [plot.land.ground.id(one) for one in members(plot)[0][:MOST_MEMBERS]]
    return [_block(plot, own, _stated(lines, max(6, count)), plot.onset, own) for own in ids]


def move_metrics(plot: Plot, gauges: Gauges, active: Active, symptoms: Symptoms) -> None:
    """Error share and latency along the path, and the gauge of the mechanism at the seat."""
    ground = plot.land.ground
    depth = depths(ground, symptoms.level, active.seat)
    for entity, value in symptoms.level.items():
        since = plot.onset + depth.get(entity, 0) * LAG
        gauges.shift(entity, "error_share", since, until=plot.ended, plus=100 * value)
        gauges.shift(entity, "latency_p95", since, until=plot.ended, factor=1 + 9 * value)
    if plot.knob("routes", MOST_ROUTES) < 2:
        return
    gauge = active.fault.gauge
    ratio = gauge.biting - gauge.healthy
    since = plot.onset - 40 * SECOND
    gauges.shift(active.seat, gauge.name, since, until=plot.ended, plus=ratio)


def load_metrics(plot: Plot, gauges: Gauges) -> None:
    """The trigger's traffic: present whether or not a dormant cause waits for it."""
    load = plot.binding.fault.trigger.load
    if load <= 1:
        return
    for entity in plot.binding.path:
        gauges.shift(entity, "request_rate", plot.onset - 4 * MINUTE, factor=load)
        gauges.shift(entity, "active_sessions", plot.onset - 4 * MINUTE, factor=(1 + load) / 2)
