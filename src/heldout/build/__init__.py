"""Sets of incidents: making, validating, splitting, freezing, and worlds on demand."""

from heldout.build.append import append_incident
from heldout.build.pool import SetPlan
from heldout.build.sets import SetReport, build_everything, make_set, rehash
from heldout.build.worlds import cases, materialise

__all__ = [
    "SetPlan",
    "SetReport",
    "append_incident",
    "build_everything",
    "cases",
    "make_set",
    "materialise",
    "rehash",
]
