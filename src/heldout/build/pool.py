"""The pool a set is drawn from: drafts of specs, more than the set needs, without digests."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from heldout.build.plans import Draw, SetPlan, Span
from heldout.errors import UsageError
from heldout.simulate import GENERATOR, Fault
from heldout.simulate.fault import faults
from heldout.simulate.landscape import ARCHETYPES
from heldout.simulate.streams import stream, token
from heldout.simulate.trap import trap_named, traps
from heldout.truth import KINDS, Spec
from heldout.truth.specs import Kind

Knobs = dict[str, float | int | str]

LATENT = "latent_cause"
OLDER = "older_change"
DECOY = "onset_decoy"
NOISE = "change_noise"
ELSEWHERE = "misleading_alert"
ONSET = (
    "acl_entry", "bucket_principals", "client_deadline", "egress_policy", "evict_any",
    "flag_exposure", "header_block", "image_rollout", "issuer_switch", "key_floor", "lookup_dots",
    "memory_ceiling", "partner_plan", "policy_detach", "pool_ceiling", "probe_timeout", "rate_cap",
    "replica_ceiling", "reserved_slots", "resolver_policy", "role_narrowed", "rule_revoked",
    "second_shard", "shape_unchecked", "worker_count", "zone_isolation",
)  # fmt: skip
"""Faults whose onset controls read naturally: their change takes effect when it lands."""
WEIGHT: Mapping[str, float] = {
    "onset_decoy": 3.0, "change_noise": 2.5, "partial_fleet": 4.0, "squashed_pr": 0.4,
}  # fmt: skip
"""How much likelier than the other traps these are stacked onto a trap incident.

A squashed cause is larger than most changes; were it common, size would point at causes.
"""
FLEET = "fleet"
LIKELY: Mapping[str, float] = {"saas": 0.24, FLEET: 0.36}
"""Shares of two archetypes; the others have the rest evenly."""


class Slot(NamedTuple):
    """One place in the pool: an incident of this kind with this fault."""

    kind: Kind
    number: int
    fault: Fault

    @property
    def name(self) -> str:
        """What its random draws are named by."""
        return f"{self.kind}/{self.number}"


def slots(plan: SetPlan) -> list[Slot]:
    """Every place of the pool, in a fixed order: domains in turn, every fault before any twice."""
    plan.check()
    found = []
    for kind in KINDS:
        if not plan.wanted[kind]:
            continue
        order = _in_turn(plan, kind)
        found += [
            Slot(kind, number, order[number % len(order)]) for number in range(plan.pooled(kind))
        ]
    return found


def usable(kind: Kind) -> list[Fault]:
    """The library's faults that an incident of this kind can be made of, by name."""
    known = faults()
    if kind == "onset_control":
        return [known[name] for name in ONSET if name in known]
    causes: Mapping[str, tuple[str, ...]] = {
        "no_change": ("none",), "no_fault": ("recovered", "false_alarm"),
    }  # fmt: skip
    return [f for f in known.values() if f.cause in causes.get(kind, ("change",)) and not f.lends]


def _in_turn(plan: SetPlan, kind: Kind) -> list[Fault]:
    """The usable faults, shuffled, one of each domain in turn."""
    pool = usable(kind)
    if not pool:
        raise UsageError(
            f"no fault of the library makes a '{kind}' incident",
            where=plan.name,
            mend="Add one, or ask for none",
        )
    rng = stream(plan.seed, plan.name, "order", kind)
    shuffled = [pool[int(at)] for at in rng.permutation(len(pool))]
    turns: dict[str, int] = {}
    placed = []
    for fault in shuffled:
        turns[fault.domain] = turns.get(fault.domain, 0) + 1
        placed.append((turns[fault.domain], fault))
    return [fault for _, fault in sorted(placed, key=lambda one: one[0])]


def drafts(plan: SetPlan) -> list[Spec]:
    """The first draft of every place of the pool."""
    return [draft(plan, slot, 0) for slot in slots(plan)]


def draft(plan: SetPlan, slot: Slot, attempt: int) -> Spec:
    """A spec for a place of the pool; every attempt draws traps, knobs and seed anew."""
    rng = stream(plan.seed, plan.name, slot.name, attempt)
    fault, knobs = slot.fault, _estate(rng, plan)
    stacked = _traps(rng, plan.draw, slot.kind, str(knobs["archetype"]))
    knobs["bank"] = bank_of(fault)
    knobs |= _incident(rng, plan.draw, slot, stacked)
    spec = Spec(
        id=f"inc-{token('id', plan.seed, plan.name, slot.name, digits=6)}",
        kind=slot.kind, domain=fault.domain, family=fault.family, fault=fault.name,
        traps=tuple(sorted(stacked)), group=lineage(fault.name, str(knobs["archetype"])),
        generator=GENERATOR, seed=0, canary="", knobs=knobs, source=fault.source,
    )  # fmt: skip
    return reseeded(spec, plan.seed, plan.name, slot.name, attempt)


def reseeded(spec: Spec, *names: object) -> Spec:
    """The spec with a seed and a canary of its own, drawn by name."""
    return replace(
        spec,
        seed=int(token("seed", *names, digits=12), 16),
        canary=token("canary", *names, digits=32),
    )


def lineage(fault: str, archetype: str) -> str:
    """What always stands on one side together: the same fault on the same kind of estate.

    A fault's binding (kinds of seat, holder and field) is fixed by its record, so fault and
    archetype say all three parts of a lineage.
    """
    return f"{fault}/{archetype}"


def bank_of(fault: Fault) -> int:
    """The half of the stock of names that a draft takes, until its side is known.

    Faults of one family take turns, so that many families can stand on both sides without moving.
    """
    family = [one.name for one in faults().values() if one.family == fault.family]
    offset = int(token("bank", fault.family, digits=4), 16)
    return (offset + family.index(fault.name)) % 2


def _traps(rng: np.random.Generator, draw: Draw, kind: Kind, archetype: str) -> list[str]:
    """Names of the traps of one incident."""
    least, most = {"trap": draw.traps, "unanswerable": (2, 3)}.get(kind, (1, 2))
    first = {"trap": LATENT, "unanswerable": LATENT, "onset_control": OLDER}.get(kind, DECOY)
    without = {LATENT, OLDER, first, *unfit(archetype)}
    if first != LATENT:
        without |= AT_ODDS
    count = int(rng.integers(least, most + 1)) - 1
    return [first, *drawn_traps(rng, count, without)]


def unfit(archetype: str) -> frozenset[str]:
    """Traps that an estate of this archetype has no place for: only a fleet has siblings."""
    return frozenset(name for name, trap in traps().items() if trap.siblings and archetype != FLEET)


AT_ODDS = frozenset({LATENT, OLDER, DECOY, "partial_fleet", "squashed_pr", "missing_telemetry"})
"""Traps that most controls have no use for: they hide a cause, and here none is hidden."""


def drawn_traps(rng: np.random.Generator, count: int, without: Collection[str]) -> list[str]:
    """``count`` different traps of the library, by weight; fewer where it has no more."""
    names = [name for name in traps() if name not in without]
    keys = {name: float(rng.random()) ** (1 / WEIGHT.get(name, 1.0)) for name in names}
    return sorted(names, key=lambda name: (-keys[name], name))[:count]


def _estate(rng: np.random.Generator, plan: SetPlan) -> Knobs:
    """Knobs of the estate and its history."""
    draw = plan.draw
    others = [name for name in ARCHETYPES if name not in LIKELY]
    rest = (1 - sum(LIKELY.values())) / len(others)
    weights = [LIKELY.get(name, rest) for name in ARCHETYPES]
    events = int((4600 + rng.random() * 5200) * plan.scale)
    knobs: Knobs = {
        "archetype": ARCHETYPES[int(rng.choice(len(ARCHETYPES), p=weights))],
        "events": plan.events or max(100, events), "log_lines": plan.log_lines,
        "pr_coverage": _within(rng, draw.pr_coverage), "drift": _within(rng, draw.drift),
        "log_coverage": _within(rng, draw.log_coverage),
    }  # fmt: skip
    if plan.scale != 1.0:
        knobs["scale"] = plan.scale
    return knobs


def _incident(rng: np.random.Generator, draw: Draw, slot: Slot, stacked: Sequence[str]) -> Knobs:
    """Knobs of the incident itself."""
    hops = draw.hops if slot.kind in ("trap", "unanswerable") else (1, 2, 3)
    knobs: Knobs = {
        "hops": _one(rng, hops), "routes": _one(rng, draw.routes),
        "alerts": int(rng.integers(draw.alerts[0], draw.alerts[1] + 1)),
    }  # fmt: skip
    if LATENT in stacked:
        young = slot.number % draw.hours_every == draw.hours_every // 2
        drawn = _log_within(rng, draw.hours) if young else _within(rng, draw.days)
        knobs["latency_days"] = drawn
    if ELSEWHERE in stacked:  # There must be an elsewhere.
        knobs["hops"] = max(1, int(knobs["hops"]))
    if DECOY in stacked:
        knobs["decoys"] = int(rng.integers(draw.decoys[0], draw.decoys[1] + 1))
    if NOISE in stacked:
        knobs["noise"] = _within(rng, draw.noise)
    if slot.fault.scope is not None or any(trap_named(name).siblings for name in stacked):
        knobs["fleet_share"] = _log_within(rng, draw.fleet_share)
    return knobs


def _one(rng: np.random.Generator, options: Sequence[int]) -> int:
    return options[int(rng.integers(len(options)))]


def _within(rng: np.random.Generator, span: Span) -> float:
    return round(span[0] + (span[1] - span[0]) * float(rng.random()), 2)


def _log_within(rng: np.random.Generator, span: Span) -> float:
    low, high = math.log(span[0]), math.log(span[1])
    return round(math.exp(low + (high - low) * float(rng.random())), 2)
