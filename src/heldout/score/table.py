"""The table for a sceptic: one row per arm, every figure against the brain before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from heldout.compare import Comparison, compare_runs
from heldout.score.arms import ARMS
from heldout.score.result import ArmRow, Rivalry
from heldout.score.views import Material, controls_of
from heldout.stats import adjusted_p


def arm_rows(material: Material, *, looks: int, margin: float) -> tuple[ArmRow, ...]:
    """A row for each arm that was planned: before first, the change last."""
    known = [arm for arm in ARMS if arm in material.outcomes]
    others = [arm for arm in material.outcomes if arm not in {"before", "after", *ARMS}]
    order = ["before", *known, *others, "after"]
    return tuple(_row(material, arm, looks, margin) for arm in order)


def unseen(material: Material) -> list[str] | None:
    """Held-out traps of a family, or with a trap, that no train trap incident has.

    ``None`` where nothing is known of the train half.
    """
    if not material.train_families:
        return None
    return [
        case.incident.id
        for case in material.cases
        if case.is_trap
        and (
            case.family not in material.train_families
            or not set(case.traps) <= material.train_traps
        )
    ]


def _row(material: Material, arm: str, looks: int, margin: float) -> ArmRow:
    traps = material.compare(material.ids(trap=True), arm)
    everything = sorted(case.incident.id for case in material.cases)
    side = material.compare(everything, arm).after
    apart = unseen(material)
    row = ArmRow(
        arm=arm,
        solved=traps.after.solved_count,
        incidents=len(traps.pairs),
        unseen=None if apart is None else (_solved(material, apart, arm), len(apart)),
        valid=side.valid,
        planned=side.planned,
        invalid=sum(side.invalid.values()),
        absent=side.absent,
        tokens=side.cost.total_tokens,
        usd=side.cost.total_usd,
    )
    if arm == "before":
        return row
    calm = material.ids(trap=False)
    return replace(
        row,
        fixed=traps.count("fixed"),
        broken=traps.count("broken"),
        p=traps.p,
        p_adjusted=adjusted_p(traps.p, looks),
        harm=controls_of(material.compare(calm, arm) if calm else None, margin),
        rivalry=None if arm == "after" else _rivalry(material, arm),
    )


def _solved(material: Material, incidents: Sequence[str], arm: str) -> int:
    return material.compare(incidents, arm).after.solved_count if incidents else 0


def _rivalry(material: Material, arm: str) -> Rivalry:
    """The brain after against a rival, on the traps."""
    found: Comparison = compare_runs(
        material.outcomes[arm],
        material.outcomes["after"],
        material.ids(trap=True),
        material.repeats,
        names=(arm, "after"),
        footprints=material.footprints,
    )
    return Rivalry(found.count("fixed"), found.count("broken"), found.p)
