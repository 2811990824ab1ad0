"""How agents used what they were offered, and what the graph or the tools should gain."""

from heldout.usage.measure import Finding, Measure, Row, Suggestion, Tally
from heldout.usage.measures import MEASURES
from heldout.usage.plain import usage_plain
from heldout.usage.play import Known, Play
from heldout.usage.reading import Group, Usage, usage
from heldout.usage.text import render_usage

__all__ = [
    "MEASURES",
    "Finding",
    "Group",
    "Known",
    "Measure",
    "Play",
    "Row",
    "Suggestion",
    "Tally",
    "Usage",
    "render_usage",
    "usage",
    "usage_plain",
]
