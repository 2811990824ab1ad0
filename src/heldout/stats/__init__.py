"""Statistics of a score: exact where exact is cheap, deterministic everywhere.

Nothing here draws a random number, reads a file or knows what a brain is.
"""

from heldout.stats.agreement import cohen_kappa
from heldout.stats.decision import (
    Evidence,
    Harm,
    adjusted_p,
    harm_lower_bound,
    harm_upper_bound,
    harm_verdict,
    majority,
    outcome,
)
from heldout.stats.evidence import (
    clean_pairs,
    clustered_evidence,
    fix_evidence,
    harmless_evidence,
    sign_evidence,
)
from heldout.stats.mover import mover_difference
from heldout.stats.paired import (
    cluster_difference,
    mcnemar_exact,
    tango_interval,
    worst_case_p,
)
from heldout.stats.power import DetectableGain, mcnemar_power, minimum_detectable_gain
from heldout.stats.rates import Interval, clopper_pearson, cluster_rate, wilson
from heldout.stats.strata import Stratum, noticeable_change, signed_rank, stratified_exact

__all__ = [
    "DetectableGain",
    "Evidence",
    "Harm",
    "Interval",
    "Stratum",
    "adjusted_p",
    "clean_pairs",
    "clopper_pearson",
    "cluster_difference",
    "cluster_rate",
    "clustered_evidence",
    "cohen_kappa",
    "fix_evidence",
    "harm_lower_bound",
    "harm_upper_bound",
    "harm_verdict",
    "harmless_evidence",
    "majority",
    "mcnemar_exact",
    "mcnemar_power",
    "minimum_detectable_gain",
    "mover_difference",
    "noticeable_change",
    "outcome",
    "sign_evidence",
    "signed_rank",
    "stratified_exact",
    "tango_interval",
    "wilson",
    "worst_case_p",
]
