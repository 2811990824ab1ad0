"""Knobs of a spec: what each may be. Anything else is a :class:`SpecError` that says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from heldout.errors import SpecError
from heldout.simulate.fault import nearest
from heldout.simulate.landscape import ARCHETYPES


class Range(NamedTuple):
    """The least and most of a numeric knob, and what it does."""

    least: float
    most: float
    meaning: str


NUMERIC: Mapping[str, Range] = {
    "latency_days": Range(0.15, 13, "days between the cause and onset, with trap latent_cause"),
    "decoys": Range(1, 3, "changes at onset, with trap onset_decoy"),
    "noise": Range(1, 3, "factor on ordinary changes nearby, with trap change_noise"),
    "hops": Range(1, 4, "dependency edges between the alerted service and the seat of the fault"),
    "bank": Range(0, 1, "which half of the stock of names; each side of a split has its own"),
    "scale": Range(0.1, 1.5, "size of the estate; 1 is about 1,500 entities"),
    "events": Range(100, 11_000, "change events of the healthy history"),
    "log_lines": Range(500, 400_000, "healthy log lines"),
}
CHOICES: Mapping[str, tuple[str, ...]] = {"archetype": ARCHETYPES}


def checked(knobs: Mapping[str, float | int | str]) -> Mapping[str, float | int | str]:
    """The knobs, unchanged; an unknown one or one out of range is a :class:`SpecError`."""
    for name, value in knobs.items():
        where = f"spec.knobs.{name}"
        if name in CHOICES:
            if value not in CHOICES[name]:
                raise SpecError(
                    f"'{value}' is not one of its values", where=where,
                    mend=f"Use one of: {', '.join(CHOICES[name])}",
                )  # fmt: skip
        elif name not in NUMERIC:
            raise SpecError(
                "there is no such knob", where=where, mend=nearest(name, {**NUMERIC, **CHOICES})
            )
        elif isinstance(value, str) or not NUMERIC[name].least <= value <= NUMERIC[name].most:
            limits = NUMERIC[name]
            raise SpecError(
                f"{value!r} is out of range", where=where,
                mend=f"Choose {limits.least:g} to {limits.most:g} ({limits.meaning})",
            )  # fmt: skip
    return knobs
