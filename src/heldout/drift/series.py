"""Which runs of the canary may be compared: those that differ in nothing but their day."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from heldout.brain import load_brain
from heldout.errors import UsageError
from heldout.interface import Interface
from heldout.run import Arm, Limits, Plan, Terms
from heldout.run.judging import judge_pin
from heldout.run.manifest import pinned
from heldout.run.plan import Purpose
from heldout.settings import Settings
from heldout.split import Case
from heldout.store import Ledger
from heldout.store import brain as stored_brain
from heldout.store.queries import RunRow, runs

PURPOSE: Purpose = "canary"
SERIES, SITTING = "canary_series", "canary"
"""Pins: when the series began, and when this run did. Only the latter differs within a series."""
SITTING_US = 24 * 3600 * 1_000_000
"""A run that was stopped is gone on with for a day; later its two parts would be of two models."""
ARM = "frozen"
_ANY = frozenset({"concurrency", "max_invalid", "job"})
_ANY_PIN = frozenset({SITTING, "settings"})


@dataclass(frozen=True, slots=True)
class Series:
    """A canary about to be played: its plan, the earlier runs, and why it begins anew if it does.

    ``resume`` names a run of the same sitting that was stopped and is gone on with.
    """

    plan: Plan
    earlier: tuple[RunRow, ...]
    begins: str = ""
    resume: str = ""


def series_of(manifest: Mapping[str, Any]) -> str:
    """Hash over everything of a manifest that must be the same for two runs to be compared."""
    plain = {name: one for name, one in manifest.items() if name not in _ANY}
    plain["pins"] = {n: one for n, one in manifest["pins"].items() if n not in _ANY_PIN}
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16]


def next_sitting(
    settings: Settings,
    ledger: Ledger,
    model: str,
    cases: Sequence[Case],
    interface: Interface,
    *,
    now: int,
    restart: bool = False,
) -> Series:
    """The plan of the next run: the newest series as it is, or a new one and why.

    ``cases`` are all train incidents of the set, ``now`` is in microseconds.
    """
    if any(case.side != "train" for case in cases) or not cases:
        raise UsageError("a canary needs train incidents, and only those", mend="Name another set")
    name = cases[0].incident.set
    held = [row for row in runs(ledger, purpose=PURPOSE, model=model) if row.set == name]
    stamp = datetime.fromtimestamp(now / 1e6, UTC).isoformat()
    fresh = pinned(_begun(settings, model, cases, stamp), settings, interface)
    if restart or not held:
        return Series(fresh, (), "asked for" if held else "the first of this model and set")
    newest = held[-1]
    again, why = _again(ledger, newest, fresh, cases)
    if again is None:
        return Series(fresh, (), why)
    same = tuple(row for row in held if series_of(row.manifest) == series_of(newest.manifest))
    if newest.status not in {"finished", "error"} and newest.started >= now - SITTING_US:
        return Series(again, same[:-1], resume=newest.run)
    return Series(again, same)


def _begun(settings: Settings, model: str, cases: Sequence[Case], stamp: str) -> Plan:
    """A series' first plan: the brain in use is frozen, the incidents are chosen."""
    limits, terms = settings.limits, Terms.of(settings)
    return Plan(
        purpose=PURPOSE,
        set=cases[0].incident.set,
        model=model,
        cases=chosen(cases, settings.canary.incidents),
        arms=(Arm(ARM, load_brain(settings.brain)),),
        repeats=settings.canary.repeats,
        seed=settings.run.seed,
        limits=Limits(limits.max_steps, limits.max_tokens, limits.max_seconds, limits.max_usd),
        concurrency=settings.run.concurrency,
        max_invalid=settings.run.max_invalid,
        base_url=settings.models.base_url,
        terms=terms,
        pins={"judge": judge_pin(terms), SERIES: stamp, SITTING: stamp},
    )


def _again(
    ledger: Ledger, newest: RunRow, fresh: Plan, cases: Sequence[Case]
) -> tuple[Plan | None, str]:
    """The newest run's plan for another day; ``None`` and why where it cannot be played again."""
    said = newest.manifest
    known = {case.incident.id: case for case in cases}
    names = [one["incident"] for one in said["cases"]]
    if any(name not in known for name in names):
        return None, "an incident of the earlier series is no longer on the train side"
    plan = replace(
        fresh,
        cases=tuple(known[name] for name in names),
        arms=(Arm(ARM, stored_brain(ledger, said["arms"][0]["brain"])),),
        repeats=said["repeats"],
        seed=said["seed"],
        pins={**fresh.pins, SERIES: said["pins"][SERIES]},
    )
    now = plan.manifest()
    if series_of(now) == series_of(said):
        return plan, ""
    changed = sorted(
        name
        for name in now.keys() - _ANY - {"pins"}
        if json.dumps(now[name], sort_keys=True) != json.dumps(said.get(name), sort_keys=True)
    )
    pins = now["pins"].keys() | said["pins"].keys()
    changed += sorted(
        name for name in pins - _ANY_PIN if now["pins"].get(name) != said["pins"].get(name)
    )
    return None, f"changed since the earlier series: {', '.join(changed)}"


def chosen(cases: Sequence[Case], count: int) -> tuple[Case, ...]:
    """So many train incidents: two traps, then a control, in an order that only ids decide."""
    order = sorted(cases, key=lambda case: _mark(case.incident.id))
    traps = [case for case in order if case.is_trap]
    controls = [case for case in order if not case.is_trap]
    picked: list[Case] = []
    while (traps or controls) and len(picked) < count:
        picked += traps[:2] + controls[:1]
        traps, controls = traps[2:], controls[1:]
    return tuple(sorted(picked[:count], key=lambda case: case.incident.id))


def _mark(incident: str) -> str:
    return hashlib.sha256(f"canary\0{incident}".encode()).hexdigest()
