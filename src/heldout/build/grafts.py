"""Faults laid over an imported estate, validated, and appended to a set on the side of their group.

The estate gives its topology as it stands: entities, what they connect to and the fields they hold.
Its own history, logs, metrics and alerts stay out. They hold real trouble with causes that nobody
wrote down, no twin of them can be made without the fault, and they are the one part of an import
that cannot be shown to name nobody. How much happens there is kept: the daily numbers of changes
and log lines set how noisy the invented history is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from heldout.build.append import Addition, append_incidents
from heldout.build.placing import (
    SIDES,
    Placement,
    Standing,
    place,
    refuse_crossing,
    standing,
    telling_ids,
)
from heldout.build.pool import usable
from heldout.build.similarity import portrait
from heldout.build.validity import Subject, findings
from heldout.errors import SpecError
from heldout.graph.topology import Topology
from heldout.settings import Settings
from heldout.simulate import GENERATOR, Generated, graft
from heldout.simulate.fault import fault_named
from heldout.split import HeldoutAccess, Side
from heldout.truth import Spec

ATTEMPTS = 12
"""Seeds tried until a fault finds a place and the validity gate is content."""
TRAPS = ("change_noise", "latent_cause", "onset_decoy")
KNOBS: Mapping[str, float | int | str] = {
    "latency_days": 4.0, "decoys": 2, "noise": 1.5, "log_lines": 60_000,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class GraftPlan:
    """What to lay over an estate: faults by name (empty: every one that a change explains).

    ``side`` is followed only where a fault's group is new. ``first`` ends with the first that fits.
    ``source`` says where the estate comes from; ``knobs`` are set beside :data:`KNOBS`.
    """

    set: str
    source: str
    faults: tuple[str, ...] = ()
    side: Side | None = None
    seed: int = 1
    first: bool = False
    knobs: Mapping[str, float | int | str] = field(default_factory=dict)


@dataclass(slots=True)
class Grafts:
    """What became of a plan: incidents with where they went, and why the other faults did not."""

    made: list[tuple[Spec, Placement]] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)

    def lines(self, estate: str) -> list[str]:
        """For people; of a made incident nothing that tells its cause, whichever side it is on."""
        said = [
            f"grafted incident {spec.id} onto {estate}: {placement.side} side, "
            + ("where its group stands" if placement.bound else placement.why)
            for spec, placement in self.made
        ]
        return said + [f"left out {fault}: {why}" for fault, why in self.refused.items()]


def graft_faults(
    settings: Settings, topology: Topology, plan: GraftPlan, access: HeldoutAccess
) -> Grafts:
    """Graft every fault of a plan that finds a place, is valid and may join the set.

    An unknown fault is a :class:`SpecError`; a fault that does not fit is told, not raised.
    """
    names = [fault_named(name).name for name in plan.faults]
    done = Grafts()
    directory = settings.set_path(plan.set)
    others = standing(settings, directory, access)
    for fault in dict.fromkeys(names or [one.name for one in usable("trap")]):
        made = _grafted(topology, plan, fault, others)
        if isinstance(made, str):
            done.refused[fault] = made
            continue
        addition, placement = made
        done.made += [
            (pinned, placement)
            for pinned in append_incidents(settings, plan.set, [addition], placement.side, access)
        ]
        if plan.first:
            break
        others = standing(settings, directory, access)
    return done


def _grafted(
    topology: Topology, plan: GraftPlan, fault: str, others: Sequence[Standing]
) -> tuple[Addition, Placement] | str:
    """One fault on its side, or why it cannot be laid over this estate or join this set."""
    try:
        spec = _spec(plan, fault, 0)
        placement = place(plan.set, portrait(spec), spec.kind, others, plan.side)
    except SpecError as error:
        return error.what
    reason = ""
    for attempt in range(ATTEMPTS):
        spec = _spec(plan, fault, attempt)
        spec = replace(
            spec, group=placement.group,
            knobs={**spec.knobs, "bank": SIDES.index(placement.side)},
        )  # fmt: skip
        try:
            made = graft(topology, spec)
        except SpecError as error:  # It finds no place here, and no other seed gives it one.
            return error.what
        reason = _wrong(plan.set, spec, made, placement, others)
        if not reason:
            return Addition(spec, made), placement
    return reason


def _wrong(
    name: str, spec: Spec, made: Generated, placement: Placement, others: Sequence[Standing]
) -> str:
    found = findings(Subject(spec, made))
    if found:
        return f"the validity gate says: {found[0]}"
    own = portrait(spec, made.truth, made.alert, telling_ids(made.truth))
    try:
        refuse_crossing(name, own, placement.side, others)
    except SpecError as error:
        return error.what
    return ""


def _spec(plan: GraftPlan, fault: str, attempt: int) -> Spec:
    record = fault_named(fault)
    seed = _number("graft", fault, plan.seed, attempt, plan.set) % 2**48
    return Spec(
        id=f"inc-{_number('id', seed) % 16**6:06x}",
        kind="trap",
        domain=record.domain,
        family=record.family,
        fault=fault,
        traps=TRAPS,
        group=fault,
        generator=GENERATOR,
        seed=seed,
        canary=f"{_number('canary', seed):032x}",
        knobs={**KNOBS, **plan.knobs},
        origin="overlay",
        source=plan.source,
    )


def _number(*parts: object) -> int:
    text = "\0".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")
