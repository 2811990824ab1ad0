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
    """A rule by its name. ``looks`` bounds the one, ``most`` (investigations) the other.

    What passed may cost twice ``most``: only edits with a proven fix come that far, and noise there
    must not lose them.
    """
    if name == "looks":
        return Rule(name, LooksTarget(batch, repeats, looks), LooksGuard(batch, repeats, looks))
    return Rule(name, EvidenceTarget(batch, repeats, most), EvidenceGuard(batch, 2 * most))


FINAL_MARGIN, FINAL_ALPHA = 0.10, 0.05
"""The fall of the pass rate that is too much for all edits of a job together, and how often edits
that cost it may be taken for harmless."""


def confirmation(targets: int, held: int, *, repeats: int, most: int) -> Rule:
    """The rule by which a job measures all that it accepted once more, on fresh repeats.

    Every one of so many targeted and held incidents is played ``repeats`` times at first; ``most``
    bounds the investigations that may be bought beyond that on the targets, twice that on the
    others. What was tried and seen before says nothing of fresh repeats, so one test has one bound,
    however many candidates the job tried.
    """
    return Rule(
        "confirmation",
        EvidenceTarget(targets, repeats, 2 * targets * repeats + most),
        EvidenceGuard(held, 2 * held * repeats + 2 * most, FINAL_MARGIN, FINAL_ALPHA),
    )


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
    "confirmation",
    "effect",
    "judge_guard",
    "judge_target",
    "merge",
    "one_sided",
    "rule",
]
