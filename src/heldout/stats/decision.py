"""From counts to a word: gain, no gain shown, harm, indecisive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from heldout.stats.paired import mcnemar_exact
from heldout.stats.rates import clopper_pearson

Outcome = Literal["gain", "no gain shown", "harm", "indecisive"]
Harm = Literal["within margin", "not shown", "harm"]


def adjusted_p(p: float, looks: int) -> float:
    """``p`` adjusted for how often these incidents were opened: Bonferroni, ``min(1, looks * p)``.

    ``looks`` counts this look too, and is the largest count among the incidents compared. Rule:
    every look is one more chance to be lucky on the same incidents, whichever brain it was for;
    Bonferroni holds whatever the dependence between them. Source: Dunn (1961), JASA 56:52.
    """
    if looks < 1:
        raise ValueError(f"the present look counts, so looks >= 1: {looks}")
    return min(1.0, p * looks)


def harm_upper_bound(broken: int, n: int, level: float = 0.95) -> float:
    """One-sided upper bound of the share of controls that break: 1 when there are none.

    Exact (Clopper & Pearson 1934): the two-sided interval at ``2 * level - 1`` has it as its upper
    end. With 0 broken of n it is ``1 - (1 - level)^(1/n)``, the "rule of three".
    """
    return clopper_pearson(broken, n, 2 * level - 1).high


def harm_lower_bound(broken: int, n: int, level: float = 0.95) -> float:
    """One-sided exact lower bound of the share of controls that break: 0 when there are none."""
    return clopper_pearson(broken, n, 2 * level - 1).low


def harm_verdict(fixed: int, broken: int, n: int, margin: float) -> Harm:
    """Whether controls are shown unharmed: ``within margin``, ``harm``, or ``not shown``.

    Within the margin when the upper bound of the broken share is at most ``margin``. Harm when more
    broke than were fixed and either the lower bound exceeds ``margin`` or the exact McNemar test is
    below 0.05. Anything between is not shown either way, which is an answer.
    """
    if broken > fixed and (
        harm_lower_bound(broken, n) > margin or mcnemar_exact(fixed, broken) < 0.05
    ):
        return "harm"
    return "within margin" if harm_upper_bound(broken, n) <= margin else "not shown"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the outcome of a score hangs on.

    ``coverage`` is the smaller of both arms' shares of valid investigations; ``paired`` the trap
    incidents that could be compared; ``looks`` as in :func:`adjusted_p`.
    """

    fixed: int
    broken: int
    paired: int
    coverage: float
    looks: int = 1
    controls: Harm = "not shown"
    same_model: bool = True


def outcome(evidence: Evidence, *, min_coverage: float = 0.9, alpha: float = 0.05) -> Outcome:
    """The word that a score ends with.

    Indecisive when nothing could be paired, coverage is below ``min_coverage`` or the served model
    changed between or within the arms. Harm when controls are harmed, or significantly more traps
    broke than were fixed (the raw p: a warning needs no discount for looks). Gain when more were
    fixed than broken with the look-adjusted p below ``alpha``. Otherwise no gain is shown.
    """
    if evidence.paired == 0 or evidence.coverage < min_coverage or not evidence.same_model:
        return "indecisive"
    p = mcnemar_exact(evidence.fixed, evidence.broken)
    if evidence.controls == "harm" or (evidence.broken > evidence.fixed and p < alpha):
        return "harm"
    if evidence.fixed > evidence.broken and adjusted_p(p, evidence.looks) < alpha:
        return "gain"
    return "no gain shown"


def majority(passes: int, valid: int, repeats: int) -> bool | None:
    """Whether an incident is solved: a majority of its valid repeats, a tie is unsolved.

    ``None`` (unpaired) when fewer than two thirds of the planned ``repeats``, rounded up, are
    valid.
    """
    if not 0 <= passes <= valid <= repeats or repeats < 1:
        raise ValueError(f"need 0 <= passes <= valid <= repeats: {passes}, {valid}, {repeats}")
    return None if valid < -(-2 * repeats // 3) else 2 * passes > valid
