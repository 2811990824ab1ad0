"""A small classifier over the surface of changes: it must not tell causes from ordinary ones.

Logistic regression, left out by group: what it learned on other faults is asked about this one.
The score is the chance that the cause ranks above an ordinary change of its type in its own world.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from heldout.build.validity.probes import Made, Scene
from heldout.build.validity.subject import Subject
from heldout.simulate.rhythm import DAY, HOUR, SECOND, weekday
from heldout.simulate.streams import stream

MOST_NOISE = 60
"""Ordinary changes of the cause's type that are compared with it in one world."""
_PENALTY = 1.0
_STEPS = 25

Matrix = np.ndarray[Any, np.dtype[np.float64]]

FEATURES = (
    "position", "hour sine", "hour cosine", "weekday", "odd hour", "id prefix", "id length",
    "author's share", "bot", "title length", "title words", "fields", "entities", "value length",
    "pull request", "repository", "commit", "collection lag", "source",
)  # fmt: skip
"""What a row of a :class:`Lineup` holds."""


class Lineup(NamedTuple):
    """The cause (row 0) among ordinary changes of its type; ``group`` is its fault."""

    group: str
    rows: Matrix


def lineup(subject: Subject) -> Lineup | None:
    """The lineup of one incident; ``None`` where no change is the cause or it has no peers."""
    changes = Scene(subject).changes
    cause = next((one for one in changes if one.id == subject.truth.culprit_change), None)
    if cause is None:
        return None
    peers = [one for one in changes if one.type == cause.type and one.id != cause.id]
    if not peers:
        return None
    order = stream(subject.spec.seed, "lineup").permutation(len(peers))[:MOST_NOISE]
    authors = Counter(one.actor for one in changes)
    total = len(changes)
    rows = [_features(one, authors[one.actor] / total) for one in
            (cause, *(peers[int(at)] for at in sorted(order)))]  # fmt: skip
    return Lineup(subject.spec.fault, np.array(rows))


def _features(one: Made, share: float) -> list[float]:
    turn = 2 * math.pi * (one.ts % DAY) / DAY
    hour = one.ts % DAY // HOUR
    return [
        one.place, math.sin(turn), math.cos(turn), weekday(one.ts),
        float(weekday(one.ts) > 4 or not 7 <= hour < 19), int(one.id[2:4] or "0", 16), len(one.id),
        share, float(one.bot), len(one.summary), len(one.summary.split()), len(one.diffs),
        len(one.entities), math.log1p(one.size), float(bool(one.pr)), float(bool(one.repo)),
        float(bool(one.commit)), one.lag / SECOND, sum(map(ord, one.source)) % 7,
    ]  # fmt: skip


def told_apart(lineups: Sequence[Lineup]) -> float | None:
    """Mean chance that a classifier ranks the cause above a peer, each group by the others' lead.

    ``None`` with fewer than two groups, where nothing can be learned elsewhere.
    """
    names = sorted({one.group for one in lineups})
    if len(names) < 2:
        return None
    chances: list[float] = []
    for name in names:
        weights = _fitted([one for one in lineups if one.group != name])
        for one in lineups:
            if one.group == name:
                chances.append(_chance(_standard(one.rows) @ weights))
    return float(np.mean(chances))


def _chance(scores: Matrix) -> float:
    """Area under the curve of one positive: the share of peers it beats, ties count half."""
    peers = scores[1:]
    return float((np.sum(scores[0] > peers) + 0.5 * np.sum(scores[0] == peers)) / len(peers))


def _standard(rows: Matrix) -> Matrix:
    """Rows relative to their own world, so that worlds of other size and rhythm compare."""
    spread = rows.std(axis=0)
    scaled: Matrix = (rows - rows.mean(axis=0)) / np.where(spread > 1e-9, spread, 1.0)
    return scaled


def _fitted(lineups: Sequence[Lineup]) -> Matrix:
    """Weights of a ridge-penalised logistic regression by Newton's method.

    Causes and peers weigh the same in total, and each world as much as any other.
    """
    x = np.concatenate([_standard(one.rows) for one in lineups])
    y = np.concatenate([np.eye(1, len(one.rows))[0] for one in lineups])
    weight = np.concatenate(
        [np.array([1.0] + [1.0 / (len(one.rows) - 1)] * (len(one.rows) - 1)) for one in lineups]
    )
    beta = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-np.clip(x @ beta, -30, 30)))
        slope = x.T @ (weight * (y - p)) - _PENALTY * beta
        bend = (x * (weight * p * (1 - p))[:, None]).T @ x + _PENALTY * np.eye(x.shape[1])
        step = np.linalg.solve(bend, slope)
        beta += step
        if np.abs(step).max() < 1e-8:
            break
    return beta
