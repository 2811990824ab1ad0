"""Two runs side by side, paired by incident."""

from heldout.compare.measures import Behaviour, Cost, behaviour, cost
from heldout.compare.pairs import (
    Cell,
    Comparison,
    Pair,
    Played,
    Side,
    Tally,
    WorstCase,
    compare_runs,
    require,
    tallies,
    worst_case,
)
from heldout.compare.stored import compare_stored, final_outcomes
from heldout.compare.text import render_comparison

__all__ = [
    "Behaviour",
    "Cell",
    "Comparison",
    "Cost",
    "Pair",
    "Played",
    "Side",
    "Tally",
    "WorstCase",
    "behaviour",
    "compare_runs",
    "compare_stored",
    "cost",
    "final_outcomes",
    "render_comparison",
    "require",
    "tallies",
    "worst_case",
]
