"""What one investigation of a simulated model costs, all in: world, tools, loop, judge, ledger.

Train incidents of prod_hard are played once, so that each opens its world, and three times, as a
run does. The first investigation of a process, which imports everything, is left out.
"""

from __future__ import annotations

import asyncio
import resource
import tempfile
import time
from pathlib import Path

from heldout.brain import load_brain
from heldout.build import cases
from heldout.graph import WorldInterface
from heldout.run import Arm, Plan, play
from heldout.settings import Settings, load_settings
from heldout.split import Case, declare_process
from heldout.store import Ledger, remember_brain

ROOT = Path(__file__).resolve().parents[1]
MODELS = ("sim/anchored@low", "sim/scattered@low")
INCIDENTS = 36
BUDGET_MS = 150


async def _played(settings: Settings, model: str, played: tuple[Case, ...], repeats: int) -> float:
    """CPU milliseconds per investigation."""
    brain = load_brain(settings.brain)
    plan = Plan("train", "prod_hard", model, played, (Arm("brain", brain),), repeats)
    with (
        tempfile.TemporaryDirectory() as folder,
        Ledger.open(Path(folder) / "ledger.duckdb") as ledger,
    ):
        remember_brain(ledger, brain)
        began = time.process_time()
        result = await play(plan, ledger, settings, interface=WorldInterface())
        spent = time.process_time() - began
    return 1000 * spent / len(result.outcomes)


def main() -> None:
    """Print the figures against the budget."""
    declare_process("run")
    settings = load_settings(ROOT)
    train = cases(settings, "prod_hard", "train")
    asyncio.run(_played(settings, MODELS[0], train[-1:], 1))
    print(f"CPU ms per investigation, {INCIDENTS} incidents (budget {BUDGET_MS})")
    for model in MODELS:
        once, thrice = (
            asyncio.run(_played(settings, model, tuple(train[:INCIDENTS]), repeats))
            for repeats in (1, 3)
        )
        print(f"  {model:<18} once {once:6.1f}   three times {thrice:6.1f}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MB, twelve worlds open")


if __name__ == "__main__":
    main()
