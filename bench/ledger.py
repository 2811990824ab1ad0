"""Bytes of ledger per investigation, and what it costs: ``python bench/ledger.py [INCIDENTS]``.

Plays real worlds with the simulated agent, two arms and three repeats, then closes the ledger and
divides its size. The budget is 10 KB for an investigation of 15 tool calls; one of fewer calls is
scaled up. CPU is of the whole process: model, tools, judge, journal, landing, ledger.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from heldout.brain import load_brain
from heldout.build.pool import SetPlan, drafts
from heldout.errors import SpecError
from heldout.graph import WorldInterface, write_world
from heldout.incident import Incident
from heldout.run import Arm, Plan, play
from heldout.settings import Settings
from heldout.simulate import generate
from heldout.split import Case
from heldout.store import Ledger
from heldout.truth import Spec, write_truth

BUDGET = 10_240
CALLS = 15
ROOT = Path(__file__).resolve().parents[1]


def make_cases(settings: Settings, count: int) -> tuple[Case, ...]:
    """Worlds of the full size, made from the pool's first drafts."""
    found: list[Case] = []
    for spec in drafts(SetPlan(name="bench", traps=3 * count, onset_controls=0, no_change=0)):
        with suppress(SpecError):  # A draft whose fault finds no place in its estate.
            found.append(_case(settings, spec))
        if len(found) == count:
            break
    return tuple(found)


def _case(settings: Settings, spec: Spec) -> Case:
    made = generate(spec)
    world, truth = settings.worlds / spec.id, settings.truths / f"{spec.id}.json"
    digest = write_world(made.tables, world)
    return Case(
        incident=Incident(spec.id, "bench", made.alert, world, digest),
        side="train",
        kind=spec.kind,
        domain=spec.domain,
        family=spec.family,
        traps=spec.traps,
        group=spec.group,
        origin=spec.origin,
        truth_file=truth,
        truth_digest=write_truth(made.truth, truth),
    )


def measure(root: Path, incidents: int) -> None:
    """Play, close, print."""
    settings = Settings(root=root)
    cases = make_cases(settings, incidents)
    brain = load_brain(ROOT / "brain")
    other = replace(
        brain, extra={**brain.extra, "overlays/interfaces/world/bench.md": "Be brief.\n"}
    )
    plan = Plan(
        purpose="train",
        set="bench",
        model="sim/anchored@low",
        cases=cases,
        arms=(Arm("before", brain), Arm("after", other)),
        repeats=3,
        concurrency=8,
    )
    with Ledger.open(settings.ledger) as ledger:
        empty = settings.ledger.stat().st_size
        wall, cpu = time.perf_counter(), time.process_time()
        result = asyncio.run(play(plan, ledger, settings, interface=WorldInterface()))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        began = time.process_time()
        steps = sum(len(one.trace.steps) for one in result.outcomes if one.trace is not None)
        read = time.process_time() - began
        raw = sum(
            len(step.answer) for one in result.outcomes if one.trace for step in one.trace.steps
        )
    count = len(result.outcomes)
    size = settings.ledger.stat().st_size
    each = size / count
    scaled = each * CALLS * count / steps
    print(f"investigations             {count}, {steps / count:.1f} tool calls each")
    print(f"tool answers, raw          {raw / count / 1000:.1f} KB per investigation")
    print(
        f"ledger                     {each / 1000:.1f} KB per investigation, {empty} B when empty"
    )
    print(f"ledger at {CALLS} calls        {scaled / 1000:.1f} KB (budget {BUDGET / 1000:.1f})")
    print(f"CPU                        {1000 * cpu / count:.0f} ms per investigation, all in")
    print(f"wall                       {1000 * wall / count:.0f} ms per investigation")
    print(f"CPU to read a trace        {1000 * read / count:.1f} ms")


def main() -> None:
    """Measure in a temporary project."""
    named = sys.argv[1] if len(sys.argv) > 1 else ""
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), int(named) if named.isdigit() else 12)


if __name__ == "__main__":
    main()
