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
from heldout.compare.steps import call_text, first_difference
from heldout.compare.stored import compare_stored, final_outcomes, named_arm, worlds_of
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
    "call_text",
    "compare_runs",
    "compare_stored",
    "cost",
    "final_outcomes",
    "first_difference",
    "footprint",
    "named_arm",
    "render_comparison",
    "require",
    "tallies",
    "worlds_of",
    "worst_case",
]
