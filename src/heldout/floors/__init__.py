"""Floors: what rules without any model reach on the same incidents, through the same tools.

A brain that does not beat them has learned nothing worth a model's price.
"""

from heldout.floors.bm25 import rank
from heldout.floors.rules import (
    FLOORS,
    WORK,
    Desk,
    Floor,
    generous_judge,
    investigate,
    play_floors,
    points_at_cause,
    submit,
)

__all__ = [
    "FLOORS",
    "WORK",
    "Desk",
    "Floor",
    "generous_judge",
    "investigate",
    "play_floors",
    "points_at_cause",
    "rank",
    "submit",
]
