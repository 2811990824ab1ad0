"""The measures in the order in which they are shown; a new one is a class and a line here."""

from heldout.usage.measure import Measure
from heldout.usage.measures.answers import Invented, UnshownEvidence
from heldout.usage.measures.asked_for import (
    Malformed,
    RefusedValues,
    UnknownArguments,
    UnknownTools,
)
from heldout.usage.measures.came_back import (
    CallsPerTool,
    EmptyAnswers,
    NeverPaged,
    Unavailable,
    UnknownIds,
)
from heldout.usage.measures.reach import Hops, Walks, Windows
from heldout.usage.measures.rounds import GiveUps, Repeats, SameAnswers

MEASURES: tuple[Measure, ...] = (
    CallsPerTool(),
    UnknownTools(),
    UnknownArguments(),
    RefusedValues(),
    Malformed(),
    UnknownIds(),
    EmptyAnswers(),
    NeverPaged(),
    Unavailable(),
    Hops(),
    Walks(),
    Windows(),
    Repeats(),
    SameAnswers(),
    UnshownEvidence(),
    Invented(),
    GiveUps(),
)

__all__ = ["MEASURES"]
