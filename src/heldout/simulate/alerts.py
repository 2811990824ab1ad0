"""The alert that opens the incident, and the other alerts of the day.

What an alert says depends on victim, time and seed, never on the cause or on whether there is one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from heldout.simulate.plot import Plot
from heldout.simulate.rhythm import HOUR, MINUTE, iso, moments
from heldout.simulate.streams import share, stream, token

_RULES = (
    "ErrorBudgetBurnFast", "CallFailuresAboveObjective", "AvailabilityObjectiveMissed",
    "FastBurnOfErrorBudget", "FailedAnswersAboveObjective", "ObjectiveAtRisk",
    "GoodAnswersBelowGoal", "UserFacingErrorsRising", "ServedErrorsHigh", "AnswersFailOften",
    "BudgetBurnTwoSpans", "PromiseToCallersBroken",
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
    "{name}: failed answers at {share} %, objective {goal} %. p95 {p95} ms against {usual} ms on "
    "a usual day.",
    "The error budget of {name} burns fast: {share} % of answers failed in 5 minutes where "
    "{goal} % are allowed; p95 is {p95} ms (usual: {usual} ms).",
    "{share} % of what callers asked of {name} came back as an error. Allowed: {goal} %. Answers "
    "take {p95} ms at p95, before that {usual} ms.",
    "Objective at risk for {name}: {good} % good answers over 5 minutes, wanted {wanted} %. The "
    "slowest twentieth takes {p95} ms, as a rule {usual} ms.",
    "Callers of {name} see {share} % errors (objective {goal} %) and wait {p95} ms at p95, "
    "usually {usual} ms.",
    "{name} answered {good} % of calls well over the last 5 minutes; {wanted} % are promised. "
    "p95 is {p95} ms, a week ago it was {usual} ms.",
    "Failed answers of {name} over 5 minutes: {share} % (goal {goal} %). Answer time p95: {p95} "
    "ms; same hour yesterday: {usual} ms.",
    "{good} % of the last 5 minutes' calls to {name} went well, the promise is {wanted} %. Answer "
    "time p95 {p95} ms, normally about {usual} ms.",
)  # fmt: skip
_AFFECTED = (
    "{share} % of calls to {name} failed in 5 minutes",
    "{name}: {share} % failed answers, objective missed",
    "good answers of {name} down to {good} %",
    "{name} burns its error budget ({share} % failed)",
    "p95 of {name} is {p95} ms, objective {usual} ms",
    "answers of {name} take {p95} ms at p95, usually {usual} ms",
)
_ELSEWHERE: tuple[tuple[str, str, str], ...] = (
    ("Service", "AnswerTimeAboveObjective", "p95 of {name} at {n}0 ms for {m} minutes"),
    ("Service", "CallFailuresAboveObjective", "0.{n} % of calls to {name} failed in {m} minutes"),
    ("Service", "OutsideCheckSlow", "outside check of {name} took {n}0 ms"),
    ("Service", "TrafficBelowForecast", "{name} gets {n} % less traffic than forecast"),
    ("Certificate", "CertificateExpiresSoon", "{name} runs out in {m} days"),
    ("DbInstance", "BackupOlderThanDay", "last backup of {name} is {m} hours old"),
    ("DbInstance", "ReplicaBehind", "a replica of {name} is {m} s behind"),
    ("DbInstance", "DiskFillsWithinDays", "the volume of {name} is full within {m} days"),
    ("Node", "NodeCordonedLong", "{name} is cordoned for {n} minutes"),
    ("Node", "ClockOffset", "the clock of {name} is off by {n} ms"),
    ("CronJob", "JobStartedLate", "{name} started {m} minutes late"),
    ("Deployment", "PodsRestartOften", "{m} restarts of pods of {name} within a day"),
    ("KafkaTopic", "ReadersBehind", "readers of {name} are {n} thousand records behind"),
    ("Cache", "HitShareLow", "hit share of {name} is {n} %"),
    ("Bucket", "GrowthAboveForecast", "{name} grew by {n} % in a week"),
    ("Queue", "OldestMessageAge", "the oldest message in {name} waits for {m} minutes"),
)
"""(kind, rule, text) of alerts that have nothing to do with an incident."""
_OF_SERVICES = 4
_SPAN = 30 * HOUR
_LEVELS = ("ticket", "ticket", "ticket", "info", "page")


class Alarm(NamedTuple):
    """The alert that fired: share of failing calls (0..1), rule, and its Markdown."""

    share: float
    rule: str
    severity: str
    line: str
    markdown: str


def rule_for(*names: object) -> str:
    """A rule about failing calls, drawn from a path of names."""
    return _RULES[int(share("rule", *names) * len(_RULES))]


def failing_text(name: str, failed: float, *names: object) -> str:
    """What an alert says of a service that fails ``failed`` (0..1) of its calls."""
    usual = 80 + int(share("usual", *names) * 180)
    return _AFFECTED[int(share("text", *names) * len(_AFFECTED))].format(
        name=name, share=f"{100 * failed:.1f}", good=f"{100 - 100 * failed:.1f}", usual=usual,
        p95=int(usual * (1 + 9 * failed)),
    )  # fmt: skip


def alarm(plot: Plot) -> Alarm:
    """The alert text: the symptom at the victim, and the plot's hint where it has one."""
    rng = stream(plot.seed, "alarm")
    ground = plot.land.ground
    victim = ground.entities[plot.binding.victim]
    failed = 0.06 + 0.36 * float(rng.random())
    usual = int(rng.integers(80, 260))
    rule = _RULES[int(rng.integers(len(_RULES)))]
    severity = ("page", "critical")[int(rng.integers(2))]
    goal = (0.5, 1.0)[int(rng.integers(2))]
    line = _TEXTS[int(rng.integers(len(_TEXTS)))].format(
        share=f"{100 * failed:.1f}", good=f"{100 - 100 * failed:.1f}", name=victim.name,
        usual=usual, p95=int(usual * (1 + 9 * failed) * 10) // 10, goal=goal, wanted=100 - goal,
    )  # fmt: skip
    cluster = f"Cluster: {victim.cluster}\n" if victim.cluster else ""
    hint = f"\n{plot.hint}\n" if plot.hint else ""
    markdown = (
        f"# {rule}\n\nFired at {iso(plot.now)}\nService: {victim.name}\n{cluster}"
        f"Severity: {severity}\n\n{line}\n{hint}"
    )
    return Alarm(failed, rule, severity, line, markdown)


def alert_rows(plot: Plot, fired: Alarm, level: dict[int, float]) -> list[tuple[Any, ...]]:
    """Rows of the alert table, the one that fired last.

    Before it stand ``alerts`` (3 to 25) others, 30 to 70 % of them about things that the trouble
    does not reach and the rest about services that it does, as far as there are any; then the rings
    of the plot.
    """
    ground = plot.land.ground
    rng = stream(plot.seed, "alarm", "count")
    count = int(plot.knob("alerts", int(rng.integers(6, 24))))
    near = _affected(plot, level)[: round(count * (1 - float(rng.uniform(0.3, 0.7))))]
    rows = _unrelated(plot, rng, 25)[: count - len(near)] + near
    rows += [
        _row(plot.seed, ring.ts, ring.rule, ground.id(ring.entity), ring.severity, ring.text,
             ring.state)
        for ring in plot.rings
    ]  # fmt: skip
    victim = ground.id(plot.binding.victim)
    line = f"{fired.line} {plot.hint}".strip()
    rows.append(_row(plot.seed, plot.now, fired.rule, victim, fired.severity, line, "firing"))
    return rows


def _row(
    seed: int, ts: int, rule: str, entity: str, severity: str, text: str, state: str
) -> tuple[Any, ...]:
    own = f"a-{token(seed, 'alert', ts, rule, entity, text)}"
    return own, ts, rule, entity, severity, text, state


def _affected(plot: Plot, level: dict[int, float]) -> list[tuple[Any, ...]]:
    """Alerts on services that fail, in a stable order; the seat's own rule is not through yet."""
    ground = plot.land.ground
    found = []
    for entity, value in level.items():
        if entity in (plot.binding.victim, plot.binding.seat) or value <= 0.06:
            continue
        if ground.entities[entity].kind != "Service":
            continue
        own = ground.id(entity)
        for number in range(2):
            draw = share(plot.seed, "affected", own, number)
            late = plot.onset + MINUTE + int(draw * max(MINUTE, plot.ended - plot.onset - MINUTE))
            severity = ("ticket", "page")[int(draw * 997) % 2]
            rule = rule_for(plot.seed, own, number)
            text = failing_text(ground.name(entity), value, plot.seed, own, number)
            state = "firing" if plot.ended == plot.now else "resolved"
            ts = min(late, plot.ended)
            found.append((draw, _row(plot.seed, ts, rule, own, severity, text, state)))
    return [row for _, row in sorted(found)]


def elsewhere(plot: Plot, rng: np.random.Generator) -> tuple[int, str, str]:
    """(entity, rule, text) of an alert on something off the failing path, drawn from ``rng``."""
    ground, binding = plot.land.ground, plot.binding
    near = {*binding.path, binding.seat, binding.holder}
    u = rng.random(4).tolist()
    kind, rule, text = _ELSEWHERE[int(u[0] * len(_ELSEWHERE))]
    pool = [one for one in ground.of_kind(kind) if one not in near]
    if not pool:
        _, rule, text = _ELSEWHERE[int(u[0] * _OF_SERVICES)]
        pool = [one for one in ground.of_kind("Service") if one not in near] or [binding.victim]
    entity = pool[int(u[1] * len(pool))]
    said = text.format(name=ground.name(entity), n=11 + int(u[2] * 78), m=2 + int(u[3] * 38))
    return entity, rule, said


def _unrelated(plot: Plot, rng: np.random.Generator, count: int) -> list[tuple[Any, ...]]:
    """A fixed series of alerts on things off the failing path, of which the first are used."""
    times = moments(rng, count, plot.now - _SPAN, plot.now - 10 * MINUTE, flat=True).tolist()
    rows = []
    for ts in times:
        entity, rule, said = elsewhere(plot, rng)
        draw = float(rng.random())
        state = "firing" if draw < 0.3 else "resolved"
        severity = _LEVELS[int(draw * 997) % len(_LEVELS)]
        own = plot.land.ground.id(entity)
        rows.append(_row(plot.seed, int(ts), rule, own, severity, said, state))
    return rows
