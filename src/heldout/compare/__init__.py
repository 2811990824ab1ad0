"""Two runs side by side, paired by incident."""

from heldout.agent.footprint import (
    CHANGE_SEARCHES,
    Footprint,
    call_key,
    footprint,
    incident_day,
    reaches_before,
    searched_since,
)
from heldout.compare.measures import Behaviour, Cost, Footprints, behaviour, cost
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
from heldout.compare.worlds import known_changes, known_entities

__all__ = [
    "CHANGE_SEARCHES",
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
    "call_key",
    "call_text",
    "compare_runs",
    "compare_stored",
    "cost",
    "final_outcomes",
    "first_difference",
    "footprint",
    "incident_day",
    "known_changes",
    "known_entities",
    "named_arm",
    "reaches_before",
    "searched_since",
    "render_comparison",
    "require",
    "tallies",
    "worlds_of",
    "worst_case",
]
