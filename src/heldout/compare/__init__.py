"""Two runs side by side, paired by incident."""

from heldout.compare.measures import (
    Behaviour,
    Cost,
    Footprint,
    Footprints,
    behaviour,
    cost,
    footprint,
)
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
    "Footprint",
    "Footprints",
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
    "footprint",
    "render_comparison",
    "require",
    "tallies",
    "worst_case",
]
