"""Whether an edit is accepted: paired, sequential, and aware of noise; rules behind one seam.

Each incident is investigated with the brain before and after, repeat by repeat with the same seed:
on the *target* (failing incidents of the cluster), and for what convinces there on the *guard*
batch (solved incidents, controls among them). Where a batch does not settle it the answer is
"indecisive": more repeats are bought, up to a cap, then the edit is rejected.
"""

from typing import Literal

from heldout.tune.acceptance.counts import Decision, Effect, Pairs, Ruling, effect, merge, one_sided
from heldout.tune.acceptance.evidence import EvidenceGuard, EvidenceTarget
from heldout.tune.acceptance.looks import LooksGuard, LooksTarget, judge_guard, judge_target
from heldout.tune.acceptance.rule import Batch, Purchase, Question, Rule

RuleName = Literal["evidence", "looks"]


def rule(name: RuleName, *, batch: int, repeats: int, looks: int, most: int) -> Rule:
    """A rule by its name. ``looks`` bounds the one, ``most`` (investigations) the other."""
    if name == "looks":
        return Rule(name, LooksTarget(batch, repeats, looks), LooksGuard(batch, repeats, looks))
    return Rule(name, EvidenceTarget(batch, repeats, most), EvidenceGuard(batch, most))


__all__ = [
    "Batch",
    "Decision",
    "Effect",
    "EvidenceGuard",
    "EvidenceTarget",
    "LooksGuard",
    "LooksTarget",
    "Pairs",
    "Purchase",
    "Rule",
    "RuleName",
    "Ruling",
    "Question",
    "effect",
    "judge_guard",
    "judge_target",
    "merge",
    "one_sided",
    "rule",
]
