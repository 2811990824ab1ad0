"""What a job or a score will take, and what it can show, said before anything is spent.

Nothing here opens a model's client, writes to the ledger or uses up a look.
"""

from heldout.pipeline.planning.asking import scoring_plan, tuning_plan
from heldout.pipeline.planning.scoring import plan_scoring
from heldout.pipeline.planning.stage import Plan, Stage
from heldout.pipeline.planning.text import render_plan
from heldout.pipeline.planning.transferring import plan_transfer
from heldout.pipeline.planning.tuning import plan_tuning

__all__ = [
    "Plan",
    "Stage",
    "plan_scoring",
    "plan_transfer",
    "plan_tuning",
    "render_plan",
    "scoring_plan",
    "tuning_plan",
]
