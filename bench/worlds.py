"""What a full-size world costs: CPU to generate and to write, size on disk, peak memory."""

from __future__ import annotations

import resource
import statistics
import tempfile
import time
from pathlib import Path

from heldout.graph import write_world
from heldout.graph.collection import uncollected
from heldout.settings import load_settings
from heldout.simulate import generate
from heldout.split import read_specs

BUDGET_CPU_S, BUDGET_MB = 0.5, 300


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Make and write every train world of prod_hard once and print medians against the budget."""
    settings = load_settings(Path(__file__).resolve().parents[1])
    specs = [
        spec
        for spec in read_specs(settings.set_dir("prod_hard"), "train")
        if spec.origin == "simulated"
    ]
    generating, writing, sizes, counts = [], [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for spec in (specs[0], *specs):
            directory = Path(folder) / spec.id
            with uncollected():
                before = time.process_time()
                made = generate(spec)
                middle = time.process_time()
                write_world(made.tables, directory)
                after = time.process_time()
            generating.append(middle - before)
            writing.append(after - middle)
            sizes.append(sum(file.stat().st_size for file in directory.iterdir()) / 1e6)
            columns = made.tables.columns
            counts.append((len(columns["entity"]["id"]), len(columns["change_event"]["id"])))
    cold = generating[0] + writing[0]
    both = [a + b for a, b in zip(generating[1:], writing[1:], strict=True)]
    print(
        f"{len(specs)} worlds: generate {statistics.median(generating[1:]):.2f} + write "
        f"{statistics.median(writing[1:]):.2f} = {statistics.median(both):.2f} CPU-s each "
        f"(first {cold:.2f}; budget {BUDGET_CPU_S}), "
        f"{statistics.median(sizes):.1f} MB on disk, peak {_peak_mb():.0f} MB (budget {BUDGET_MB})"
    )
    entities, changes = zip(*counts, strict=True)
    print(
        f"entities {min(entities)} to {max(entities)}, "
        f"change events {min(changes)} to {max(changes)}, whole set {sum(both):.1f} CPU-s"
    )


if __name__ == "__main__":
    main()
