"""Backstops for what no text check can see: how a model behaves with a brain, and without it.

Four probes: the alert alone (does the brain tell answers), other names and values (does the effect
survive), each added line dropped (whom does it help), canaries (does a spec or truth leak). They
work on train only.
"""

from heldout.behaviour.bench import Bench, Plays, Setup
from heldout.behaviour.canaries import RunWatch, WatchedClient, search
from heldout.behaviour.closed_book import ClosedBook, closed_book
from heldout.behaviour.lines import Line, Unit, units, whole
from heldout.behaviour.options import ProbeOptions
from heldout.behaviour.probing import probe
from heldout.behaviour.renaming import Counts, Survival, invariance
from heldout.behaviour.report import BehaviourReport, UnitReport

__all__ = [
    "BehaviourReport",
    "Bench",
    "ClosedBook",
    "Counts",
    "Line",
    "Plays",
    "ProbeOptions",
    "RunWatch",
    "Setup",
    "Survival",
    "Unit",
    "UnitReport",
    "WatchedClient",
    "closed_book",
    "invariance",
    "probe",
    "search",
    "units",
    "whole",
]
