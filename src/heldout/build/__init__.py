"""Sets of incidents: making, validating, splitting, freezing, and worlds on demand."""

from heldout.build.append import append_incident
from heldout.build.making import SetReport, make_set
from heldout.build.plans import PLANS, SetPlan, plan_for
from heldout.build.sets import Built, build_everything, rehash
from heldout.build.variants import variants, vary
from heldout.build.worlds import cases, materialise

__all__ = [
    "PLANS",
    "Built",
    "SetPlan",
    "SetReport",
    "append_incident",
    "build_everything",
    "cases",
    "make_set",
    "materialise",
    "plan_for",
    "rehash",
    "variants",
    "vary",
]
