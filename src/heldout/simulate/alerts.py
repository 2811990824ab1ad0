"""The alert that opens the incident, and the other alerts of the day."""

from __future__ import annotations

from typing import Any, NamedTuple

from heldout.simulate.landscape import Landscape
from heldout.simulate.plot import Plot
from heldout.simulate.rhythm import HOUR, MINUTE, moments
from heldout.simulate.streams import stream, token

_RULES = (
    "ErrorBudgetBurnFast", "CallFailuresAboveObjective", "AvailabilityObjectiveMissed",
    "FastBurnOfErrorBudget", "FailedAnswersAboveObjective",
)  # fmt: skip
_TEXTS = (
    "{share} % of calls to {name} failed over the last 5 minutes (objective {goal} %). "
    "The 95th percentile answer time is {p95} ms, usually {usual} ms.",
    "Over the last 5 minutes {share} % of answers of {name} were errors; the objective is "
    "{goal} %. Answer time p95 went from {usual} ms to {p95} ms.",
    "{name} misses its objective: {share} % failed answers in 5 minutes against {goal} % allowed, "
    "p95 {p95} ms (usually {usual} ms).",
    "Users see failed pages. {share} % of what {name} answered in the last 5 minutes was an "
    "error (allowed: {goal} %), p95 answer time {p95} ms instead of {usual} ms.",
)  # fmt: skip
_SIDE_RULES = (
    "CallFailuresAboveObjective", "AnswerTimeAboveObjective", "DiskFillsWithinDays",
    "CertificateExpiresSoon", "BackupOlderThanDay", "ReplicaBehind", "NodeCordonedLong",
    "SyntheticProbeSlow",
)  # fmt: skip


class Alarm(NamedTuple):
    """The alert that fired: share of failing calls (0..1), rule, and its Markdown."""

    share: float
    rule: str
    severity: str
    line: str
    markdown: str


def iso(ts: int) -> str:
    """A time as ``2026-03-04T12:00:00Z``."""
    import datetime

    moment = datetime.datetime.fromtimestamp(ts // 1_000_000, tz=datetime.UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def alarm(plot: Plot) -> Alarm:
    """The alert text; it depends on victim, time and seed, never on the cause."""
    rng = stream(plot.seed, "alarm")
    ground = plot.land.ground
    victim = ground.entities[plot.binding.victim]
    failed = 0.06 + 0.36 * float(rng.random())
    usual = int(rng.integers(80, 260))
    rule = _RULES[int(rng.integers(len(_RULES)))]
    severity = ("page", "critical")[int(rng.integers(2))]
    line = _TEXTS[int(rng.integers(len(_TEXTS)))].format(
        share=f"{100 * failed:.1f}", name=victim.name, usual=usual,
        p95=int(usual * (1 + 9 * failed) * 10) // 10, goal=("0.5", "1.0")[int(rng.integers(2))],
    )  # fmt: skip
    cluster = f"Cluster: {victim.cluster}\n" if victim.cluster else ""
    markdown = (
        f"# {rule}\n\nFired at {iso(plot.now)}\nService: {victim.name}\n{cluster}"
        f"Severity: {severity}\n\n{line}\n"
    )
    return Alarm(failed, rule, severity, line, markdown)


def alert_rows(plot: Plot, fired: Alarm, level: dict[int, float]) -> list[tuple[Any, ...]]:
    """Rows of the alert table: the day's others, some affected services, and the one that fired."""
    rows = _others(plot.land, plot.seed, plot.now)
    rng = stream(plot.seed, "alarm", "affected")
    ground = plot.land.ground
    for entity, value in level.items():
        draw = float(rng.random())
        if entity == plot.binding.victim or ground.entities[entity].kind != "Service":
            continue
        if draw < 0.4 and value > 0.08:
            ts = plot.now - int(draw * 6 * MINUTE)
            text = f"{100 * value:.1f} % of calls to {ground.name(entity)} failed in 5 minutes"
            rows.append(_row(plot.seed, ts, _RULES[1], ground.id(entity), "ticket", text, "firing"))
    victim = ground.id(plot.binding.victim)
    rows.append(_row(plot.seed, plot.now, fired.rule, victim, fired.severity, fired.line, "firing"))
    return rows


def _row(
    seed: int, ts: int, rule: str, entity: str, severity: str, text: str, state: str
) -> tuple[Any, ...]:
    own = f"a-{token(seed, 'alert', ts, rule, entity)}"
    return own, ts, rule, entity, severity, text, state


def _others(land: Landscape, seed: int, now: int) -> list[tuple[Any, ...]]:
    rng = stream(seed, "alarm", "others")
    count = int(rng.integers(6, 24))
    rows = []
    for ts in moments(rng, count, now - 30 * HOUR, now - 10 * MINUTE, flat=True).tolist():
        site = land.sites[int(rng.integers(len(land.sites)))]
        rule = _SIDE_RULES[int(rng.integers(len(_SIDE_RULES)))]
        name = land.ground.name(site.service)
        state = "firing" if rng.random() < 0.3 else "resolved"
        text = f"{rule} on {name} for {int(rng.integers(2, 50))} minutes"
        rows.append(_row(seed, int(ts), rule, land.ground.id(site.service), "ticket", text, state))
    return rows
