"""Further opinions on stored investigations: another judge's, a person's, and how they agree.

The figures of a run or score stay those of its own first verdicts: a score that could be judged
again until it pleases would be worth nothing. A further opinion is a further row, shown beside.
"""

from heldout.rejudge.again import Again, Changed, judge_again
from heldout.rejudge.agreement import Agreement, agreement_of, agreement_text
from heldout.rejudge.override import Override, override

__all__ = [
    "Again",
    "Agreement",
    "Changed",
    "Override",
    "agreement_of",
    "agreement_text",
    "judge_again",
    "override",
]
