"""What it costs to find out whether an incident is valid: its world, its twins, every point."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict

from heldout.build.plans import plan_for
from heldout.build.pool import Slot, draft, slots
from heldout.build.validity import Subject, points
from heldout.build.validity.entry import play
from heldout.build.validity.probes import hits
from heldout.errors import SpecError
from heldout.graph.collection import uncollected
from heldout.simulate import Generated, generate
from heldout.truth import Spec

INCIDENTS = 8
BUDGET_CPU_S = 5.0
TWINS = ("no_cause", "no_decoy", "no_trigger")


def main() -> None:
    """Examine the first trap drafts of prod_hard at full size; medians against the budget."""
    spent: dict[str, list[float]] = defaultdict(list)
    for slot in slots(plan_for("prod_hard"))[:INCIDENTS]:
        _timed(spent, slot)
    total = [sum(values) for values in zip(*spent.values(), strict=True)]
    print(
        f"{INCIDENTS} incidents of full size: {statistics.median(total):.2f} CPU-s each "
        f"(budget {BUDGET_CPU_S:.0f})"
    )
    for name, values in spent.items():
        print(f"{name:<24} {statistics.median(values):6.3f} CPU-s")


def _timed(spent: dict[str, list[float]], slot: Slot) -> None:
    """Add what one incident costs, part by part; what is cached is paid for where it is made."""
    mark = time.process_time()

    def lap(name: str) -> None:
        nonlocal mark
        now = time.process_time()
        spent[name].append(now - mark)
        mark = now

    spec, made = _found(slot)
    lap("generate")
    subject = Subject(spec, made)
    assert subject.refused is None
    lap("write and load")
    for variant in TWINS:
        subject.twin(variant)
    lap("three twins")
    for name, point in points().items():
        point.check(subject)
        lap(f"point {name}")
    hits(subject)
    lap("shortcuts")
    play(subject)
    lap("floors")


def _found(slot: Slot) -> tuple[Spec, Generated]:
    """The first draft of a place that finds one in its estate."""
    plan = plan_for("prod_hard")
    for attempt in range(20):
        spec = draft(plan, slot, attempt)
        try:
            with uncollected():
                return spec, generate(spec)
        except SpecError:
            continue
    raise AssertionError(f"no estate has a place for {slot.fault.name}")
