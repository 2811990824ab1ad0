"""Measures how edits are accepted: ``python -m bench acceptance``.

Candidates of known effect (:mod:`bench.acceptance.effects`, fixed before the rules were) are put
before the rules of a tuning job and before a strict sum over three incidents, as GEPA accepts,
whose validation pass is counted; then whole jobs of them. The table is written into
docs/how-to/acceptance.md; ``python -m bench.acceptance`` prints it for a twentieth of the draws.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np

from bench.acceptance.effects import CLUSTERS, CORRELATIONS, DRAWS, EFFECTS, JOBS, SEED, draw
from bench.acceptance.jobs import JobCell, measured_jobs
from bench.acceptance.rules import nets, rules
from bench.acceptance.table import Cell, Measured, verdicts, write_page


def main(draws: int = DRAWS, jobs: int = JOBS) -> None:
    """Measure every cell and print it; with the committed draws, write the page too.

    Each correlation is measured by a process of its own: every cell has its own draws.
    """
    cells: list[Cell] = []
    ended: list[JobCell] = []
    with ProcessPoolExecutor(len(CORRELATIONS)) as pool:
        for single, whole in pool.map(partial(measured, draws, jobs), CORRELATIONS):
            cells += single
            ended += whole
    for line in (*(one.line() for one in cells), *(one.line() for one in ended)):
        print(line)
    found = Measured(cells, ended, nets(draws))
    for line in verdicts(found):
        print(line)
    if (draws, jobs) == (DRAWS, JOBS):
        write_page(found)


def measured(draws: int, jobs: int, rho: float) -> tuple[list[Cell], list[JobCell]]:
    """Every rule on every effect and cluster size, and every job; the same draws for each rule."""
    cells = []
    for effect in EFFECTS:
        for name, rule in rules().items():
            accepted, costs = [], []
            for cluster in CLUSTERS:
                rng = np.random.default_rng(SEED)
                ruled = [rule(rng, draw(rng, effect, rho, cluster)) for _ in range(draws)]
                accepted.append(sum(one.accepted for one in ruled))
                costs.append(sum(one.cost for one in ruled))
            cells.append(Cell(name, effect, rho, draws, tuple(accepted), tuple(costs)))
    return cells, list(measured_jobs(jobs, rho))
