"""The arms of a score: what is compared, what shows noise, and what a tuned brain must beat.

``before`` and ``after`` are always played. Each further arm is one file of this folder behind one
protocol; the primary endpoint stays after against before, whatever else is played.
"""

from collections.abc import Mapping

from heldout.score.arms.arm import Brains, FurtherArm, Made, Supplies
from heldout.score.arms.blind import Blind
from heldout.score.arms.checklist import Checklist
from heldout.score.arms.evidence import Evidence
from heldout.score.arms.memory import Memory
from heldout.score.arms.noop import Noop, noop_seed
from heldout.score.arms.placebo import Placebo, placebo
from heldout.score.arms.plans import Lineup, line_up, plans_for
from heldout.score.arms.wording import FormatOnly, format_only

ARMS: Mapping[str, FurtherArm] = {
    one.name: one
    for one in (
        Noop(), Placebo(), FormatOnly(), Blind(), Checklist(), Memory(), Evidence(),
    )
}  # fmt: skip
"""Every further arm by its name, in the order of the table."""

__all__ = [
    "ARMS",
    "Brains",
    "FurtherArm",
    "Lineup",
    "Made",
    "Supplies",
    "format_only",
    "line_up",
    "noop_seed",
    "placebo",
    "plans_for",
]
