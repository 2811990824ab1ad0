"""The pool a set is drawn from: drafts of specs, without names of a side and without digests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from heldout.errors import UsageError
from heldout.simulate import GENERATOR, Fault
from heldout.simulate.fault import fault_named, faults
from heldout.simulate.streams import share, stream, token
from heldout.truth import Spec

ONSET_FIRST = (
    "image_rollout", "client_deadline", "worker_count", "issuer_switch", "evict_any",
    "replica_ceiling",
)  # fmt: skip
"""Faults whose onset controls read naturally: their change takes effect when it lands."""


PER_CLUSTER = ("NodeGroup", "ResourceQuota")
"""Holders that every cluster has under the same name, so that in a fleet they have siblings."""


@dataclass(frozen=True, slots=True)
class SetPlan:
    """What a set should hold. ``scale``, ``events`` and ``log_lines`` shrink worlds for tests."""

    name: str
    seed: int = 1
    traps: int = 24
    onset_controls: int = 6
    no_change: int = 2
    scale: float = 1.0
    log_lines: int = 100_000
    events: int = 0

    def check(self) -> None:
        """Raise :class:`UsageError` on a plan that cannot be split in two."""
        if min(self.traps, self.onset_controls, self.no_change) < 0 or self.total < 2:
            raise UsageError(
                "a set needs at least two incidents", where=self.name, mend="Ask for more"
            )

    @property
    def total(self) -> int:
        """How many incidents the set holds."""
        return self.traps + self.onset_controls + self.no_change


def trap_faults() -> list[Fault]:
    """Faults for trap incidents, two of each domain in turn."""
    usable = [f for f in faults().values() if f.cause == "change" and not f.lends]
    return sorted(usable, key=lambda fault: (fault.domain, fault.name))


def drafts(plan: SetPlan) -> list[Spec]:
    """Every draft of the plan, in a fixed order."""
    plan.check()
    made = [_trap(plan, number, fault) for number, fault in enumerate(_spread(plan))]
    for number in range(plan.onset_controls):
        fault = fault_named(ONSET_FIRST[number % len(ONSET_FIRST)])
        made.append(_onset(plan, number, fault))
    unchanged = [f for f in faults().values() if f.cause == "none"]
    for number in range(plan.no_change):
        made.append(_unchanged(plan, number, unchanged[number % len(unchanged)]))
    return made


def _spread(plan: SetPlan) -> list[Fault]:
    """Faults of the trap incidents: all once, then whole domains again, so halves can match."""
    usable = trap_faults()
    domains = list(dict.fromkeys(fault.domain for fault in usable))
    order = [domains[int(i)] for i in stream(plan.seed, plan.name, "domains").permutation(
        len(domains))]  # fmt: skip
    cycle = usable + [fault for domain in order for fault in usable if fault.domain == domain]
    return [cycle[number % len(cycle)] for number in range(plan.traps)]


def _knobs(plan: SetPlan, name: str, fleet: bool, **more: float | int | str) -> dict[
    str, float | int | str
]:  # fmt: skip
    events = plan.events or 4600 + int(share(plan.seed, plan.name, name, "events") * 5200)
    knobs: dict[str, float | int | str] = {
        "archetype": "fleet" if fleet else "saas", "events": events, "log_lines": plan.log_lines,
    }  # fmt: skip
    if plan.scale != 1.0:
        knobs["scale"] = plan.scale
    return {**knobs, **more}


def _single(fault: Fault) -> bool:
    """True for faults whose holder is one for all clusters."""
    return fault.holder_kind == "FeatureFlag"


def _trap(plan: SetPlan, number: int, fault: Fault) -> Spec:
    name = f"trap/{number}"
    rng = stream(plan.seed, plan.name, name)
    partial = not _single(fault) and number % 2 == 0
    traps = ["latent_cause"]
    if number % 12 != 5:
        traps.append("onset_decoy")
    if partial:
        traps.append("partial_fleet")
    if rng.random() < 0.62 or len(traps) < 2:
        traps.append("change_noise")
    short = number % 7 == 2
    days = 0.2 + 0.25 * float(rng.random()) if short else float(1.1 * 10.5 ** rng.random())
    fleet = partial or (rng.random() < 0.35 and fault.holder_kind not in PER_CLUSTER)
    knobs = _knobs(
        plan, name, fleet, latency_days=round(days, 2), hops=1 + (number * 7 + 1) % 4,
        decoys=1 + int(rng.integers(3)), noise=round(1 + 2 * float(rng.random()), 1),
    )  # fmt: skip
    return _spec(plan, name, "trap", fault, traps, knobs)


def _onset(plan: SetPlan, number: int, fault: Fault) -> Spec:
    name = f"onset/{number}"
    traps = ["older_change"] + (["change_noise"] if number % 2 else [])
    knobs = _knobs(plan, name, number % 3 == 2, hops=1 + number % 3, noise=1.0)
    return _spec(plan, name, "onset_control", fault, traps, knobs)


def _unchanged(plan: SetPlan, number: int, fault: Fault) -> Spec:
    name = f"none/{number}"
    knobs = _knobs(plan, name, False, hops=2, decoys=1)
    return _spec(plan, name, "no_change", fault, ["onset_decoy"], knobs)


def _spec(
    plan: SetPlan,
    name: str,
    kind: str,
    fault: Fault,
    traps: Sequence[str],
    knobs: dict[str, float | int | str],
) -> Spec:
    return reseeded(
        Spec(
            id="", kind=kind, domain=fault.domain, family=fault.family, fault=fault.name,  # type: ignore[arg-type]
            traps=tuple(sorted(traps)), group=fault.name, generator=GENERATOR, seed=0, canary="",
            knobs=knobs, source=fault.source,
        ),
        plan, name, 0,
    )  # fmt: skip


def reseeded(spec: Spec, plan: SetPlan, name: str, attempt: int) -> Spec:
    """The draft with the seed, id and canary of one attempt."""
    root = (plan.seed, plan.name, name, attempt)
    return replace(
        spec,
        id=f"inc-{token('id', plan.seed, plan.name, name, digits=6)}",
        seed=int(token("seed", *root, digits=12), 16),
        canary=token("canary", *root, digits=32),
    )
