"""Measures what a strategy pays for what it gains: ``python -m bench efficiency``.

For each seed one throw-away project with a small set: a job per strategy, each without memory of
the others, with the same simulated model and proposer; then one score that opens the held-out half
once, with the brain of each as an arm. The table is written into docs/how-to/tuning.md;
``python -m bench.efficiency`` prints it for the first seed, with a number after it for so many, and
then writes it as well. Finished seeds are kept until the code changes, so a bench that was stopped
goes on.
"""

from __future__ import annotations

from bench.efficiency.keeping import keep, kept
from bench.efficiency.measuring import measure
from bench.efficiency.table import SEEDS, goal, table, write_page


def main(seeds: tuple[int, ...] = SEEDS) -> None:
    """Measure every strategy at every seed and print it; with several seeds, write the page too."""
    found = []
    for seed in seeds:
        rows = kept(seed)
        if rows is None:
            rows = measure(seed)
            keep(seed, rows)
        for one in rows:
            print(one.line(), flush=True)
        found += rows
    print("\n".join([*table(found), "", *goal(found)]))
    if len(seeds) > 1:
        write_page(found)
