"""Knobs of a spec: what each may be. Anything else is a :class:`SpecError` that says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from heldout.errors import SpecError
from heldout.simulate.fault import nearest
from heldout.simulate.landscape import ARCHETYPES


class Range(NamedTuple):
    """The least and most of a numeric knob, what it does, and whether it counts things."""

    least: float
    most: float
    meaning: str
    whole: bool = False


NUMERIC: Mapping[str, Range] = {
    "latency_days": Range(0.15, 13, "days between the cause and onset, with trap latent_cause"),
    "decoys": Range(0, 3, "changes at onset, with trap onset_decoy", whole=True),
    "hops": Range(
        0, 4, "dependency edges between the alerted service and the seat of the fault", whole=True
    ),
    "fleet_share": Range(
        0.05, 1, "part of a population that the fault reaches, or of clusters, with a partial fleet"
    ),
    "noise": Range(1, 3, "factor on ordinary changes nearby, with trap change_noise"),
    "log_coverage": Range(0.5, 1, "share of log streams that are collected"),
    "pr_coverage": Range(0, 1, "share of reviewed kinds of change that name a pull request"),
    "drift": Range(0, 1, "share of cloud resources that no stack declares"),
    "alerts": Range(3, 25, "other alerts of the day", whole=True),
    "routes": Range(
        1, 3, "ways that show the mechanism: logs, the gauge, a controller's event", whole=True
    ),
    "name_similarity": Range(0, 1, "share of services named much like another"),
    "clusters": Range(1, 6, "clusters of the estate", whole=True),
    "bank": Range(
        0, 1, "which half of the stock of names; each side of a split has its own", whole=True
    ),
    "scale": Range(0.1, 1.5, "size of the estate; 1 is about 1,500 entities"),
    "events": Range(100, 11_000, "change events of the healthy history", whole=True),
    "log_lines": Range(500, 400_000, "healthy log lines", whole=True),
}
CHOICES: Mapping[str, tuple[str, ...]] = {"archetype": ARCHETYPES}


def checked(knobs: Mapping[str, float | int | str]) -> Mapping[str, float | int | str]:
    """The knobs, unchanged; an unknown one or one out of range is a :class:`SpecError`."""
    for name, value in knobs.items():
        where = f"spec.knobs.{name}"
        if name in CHOICES:
            if value not in CHOICES[name]:
                raise SpecError(
                    f"'{str(value)[:60]}' is not one of its values", where=where,
                    mend=f"Use one of: {', '.join(CHOICES[name])}",
                )  # fmt: skip
        elif name not in NUMERIC:
            raise SpecError(
                "there is no such knob", where=where, mend=nearest(name, {**NUMERIC, **CHOICES})
            )
        else:
            _within(value, NUMERIC[name], where)
    return knobs


def _within(value: object, limits: Range, where: str) -> None:
    span = f"{limits.least:g} to {limits.most:g} ({limits.meaning})"
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not limits.least <= value <= limits.most
    ):
        raise SpecError(f"{str(value)[:60]!r} is out of range", where=where, mend=f"Choose {span}")
    if limits.whole and value != int(value):
        raise SpecError(
            f"{value!r} is no whole number", where=where, mend=f"Choose a whole number, {span}"
        )
