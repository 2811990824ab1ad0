"""Measures what a strategy pays for what it gains: ``python -m bench efficiency``.

For each seed one throw-away project with a small set: a job per strategy, each without memory of
the others, with the same simulated model and proposer; then one score that opens the held-out half
once, with the brain of each as an arm. The table is written into docs/how-to/tuning.md;
``python -m bench.efficiency`` prints it for the first seed.
"""

from __future__ import annotations

from bench.efficiency.measuring import measure
from bench.efficiency.table import SEEDS, Measured, goal, table, write_page


def main(seeds: tuple[int, ...] = SEEDS) -> None:
    """Measure every strategy at every seed and print it; with all seeds, write the page too."""
    found: list[Measured] = []
    for seed in seeds:
        for one in measure(seed):
            found.append(one)
            print(one.line(), flush=True)
    print("\n".join([*table(found), "", *goal(found)]))
    if seeds == SEEDS:
        write_page(found)
