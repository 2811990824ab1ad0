"""The judge of models: ids in code, words by one model or by the majority of several."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from heldout.errors import ConfigError
from heldout.interface import Submission
from heldout.judge.llm import Member, Opinion, Prose, prose_of
from heldout.judge.questions import LCS_PASS, LOCALISATION
from heldout.judge.structure import (
    Structure,
    near_text,
    praise,
    sentence,
    silence,
    solution,
    structure_of,
    structure_texts,
)
from heldout.judge.verdict import NoVerdict, Verdict
from heldout.signatures.records import Spent
from heldout.terminal import visible
from heldout.truth import Truth

NAME = "llm"
_LONGEST = 300
_FAULTS = {
    "mechanism": "The mechanism is not the one that failed",
    "single_cause": "It offers several causes instead of one",
    "not_near_miss": "It gives a known wrong explanation",
    "honest": "It does not say that the cause cannot be proven, or blames what nothing proves",
}


class Panel:
    """Judges submissions with one model, or with several by majority.

    What ids decide against stays a fail, whatever models say and even if none can be reached; they
    are asked all the same, since the nine-question score is about the words. Where words decide, a
    tie, or half of the members without a usable answer, is no verdict (:class:`NoVerdict`).
    """

    def __init__(self, members: Sequence[Member]) -> None:
        self.members = tuple(members)

    async def __call__(self, submission: Submission, truth: Truth) -> Verdict:
        """The verdict on one submission; each member's answers stand in its criteria."""
        found = structure_of(submission, truth)
        prose = prose_of(submission)
        if not (found.answered and prose.speaks):
            return _unexplained(found, submission, truth, prose)
        opinions = await self._ask(submission, truth, prose)
        if found.holds:
            passed = _decide(opinions)
            return _by_words(found, submission, truth, opinions, passed, prose)
        return _by_ids(found, submission, truth, opinions, prose)

    async def _ask(self, submission: Submission, truth: Truth, prose: Prose) -> list[Opinion]:
        asked = (member.ask(submission, truth, prose) for member in self.members)
        answers = await asyncio.gather(*asked, return_exceptions=True)
        for one in answers:
            if isinstance(one, BaseException):
                raise one  # A cap, or a mistake: not an opinion.
        return [one for one in answers if isinstance(one, Opinion)]

    async def aclose(self) -> None:
        """Close every member's client."""
        for member in self.members:
            await member.aclose()


def _decide(opinions: Sequence[Opinion]) -> bool:
    """The majority of the usable opinions; :class:`NoVerdict` where there is none."""
    valid, spent = _valid(opinions), _spent(opinions)
    passed = sum(one.passed for one in valid)
    if all(one.refused for one in opinions):
        raise ConfigError(
            f"the judge's provider refuses: {opinions[0].failure}",
            mend="Mend the key or '[judge] models', then 'heldout resume'; nothing is lost",
        )
    if 2 * len(valid) <= len(opinions):
        why = next(one.failure for one in opinions if one.failure)
        raise NoVerdict(
            f"{len(valid)} of {len(opinions)} judges answered: {why}",
            spent,
            mend="Run 'heldout resume': the investigation is kept, only the judge is asked again",
        )
    if 2 * passed == len(valid):
        raise NoVerdict(
            f"the judges are divided, {passed} to {len(valid) - passed}",
            spent,
            mend="Name an odd number of '[judge] models'",
        )
    return 2 * passed > len(valid)


def _valid(opinions: Sequence[Opinion]) -> list[Opinion]:
    return [one for one in opinions if not one.failure]


def _spent(opinions: Sequence[Opinion]) -> Spent:
    return sum((one.spent for one in opinions), Spent())


def _unexplained(found: Structure, submission: Submission, truth: Truth, prose: Prose) -> Verdict:
    """The verdict on an answer that says nothing, or nothing but words to the judge."""
    criteria = {
        **found.criteria(),
        "mechanism": False,
        "single_cause": not found.listed,
        "decided_by": "ids",
        "lcs": _lcs(found, truth, []),
        **({"appeals": prose.appeals} if prose.appeals else {}),
    }
    if not found.answered:
        return Verdict("fail", silence(truth), NAME, criteria)
    parts = [
        *_id_faults(found, submission, truth),
        "It explains nothing.",
        solution(truth),
    ]
    return Verdict("fail", " ".join(part for part in parts if part), NAME, criteria)


def _by_ids(
    found: Structure,
    submission: Submission,
    truth: Truth,
    opinions: Sequence[Opinion],
    prose: Prose,
) -> Verdict:
    """The fail of an answer whose ids are wrong, with what models say of its words beside it."""
    valid = _valid(opinions)
    words = {
        name: 2 * sum(one.criteria[name] for one in valid) > len(valid)
        for name in (valid[0].criteria if valid else ())
    }
    criteria = _criteria(found, truth, words, opinions, prose) | {"decided_by": "ids"}
    faults = [_fault(name, valid) for name, held in words.items() if not held]
    parts = [*_id_faults(found, submission, truth), *faults, solution(truth)]
    text = " ".join(part for part in parts if part)
    return Verdict("fail", text, NAME, criteria, _spent(opinions))


def _by_words(
    found: Structure,
    submission: Submission,
    truth: Truth,
    opinions: Sequence[Opinion],
    passed: bool,
    prose: Prose,
) -> Verdict:
    # Of those who decided: a majority may agree on the result and differ about why.
    deciding = [one for one in _valid(opinions) if one.passed == passed]
    words = {
        name: 2 * sum(one.criteria[name] for one in deciding) >= len(deciding)
        for name in deciding[0].criteria
    }
    if not passed and all(words.values()):
        words = dict(deciding[0].criteria)
    criteria = _criteria(found, truth, words, opinions, prose) | {"decided_by": "words"}
    if passed:
        return Verdict("pass", praise(submission, truth), NAME, criteria, _spent(opinions))
    parts = [_fault(name, deciding) for name, held in words.items() if not held]
    return Verdict("fail", " ".join([*parts, solution(truth)]), NAME, criteria, _spent(opinions))


def _criteria(
    found: Structure,
    truth: Truth,
    words: Mapping[str, bool],
    opinions: Sequence[Opinion],
    prose: Prose,
) -> dict[str, Any]:
    by_ids = found.criteria()
    both = {name: held and by_ids.get(name, True) for name, held in words.items()}
    if "single_cause" in both:
        both["single_cause"] = both["single_cause"] and not found.listed
    given = [one.lcs for one in _valid(opinions) if one.lcs is not None]
    return {
        **by_ids,
        **both,
        "members": {one.model: one.plain() for one in opinions},
        "lcs": _lcs(found, truth, given) if given else None,
        **({"appeals": prose.appeals} if prose.appeals else {}),
    }


def _id_faults(found: Structure, submission: Submission, truth: Truth) -> list[str]:
    return [
        *structure_texts(found, submission, truth, None),
        f"It offers several causes instead of one ('{found.listed}')." if found.listed else "",
        near_text(found, truth),
    ]


def _fault(criterion: str, opinions: Sequence[Opinion]) -> str:
    """What is wrong by one criterion, with the reason of the first who said so."""
    asked = {"single_cause": "causes", "not_near_miss": "near_miss"}.get(criterion, criterion)
    reasons = [
        one.answers[asked].reason
        for one in opinions
        if asked in one.answers and not one.criteria[criterion]
    ]
    why = visible(reasons[0], _LONGEST) if reasons and reasons[0] else ""
    return sentence(f"{_FAULTS[criterion]}: {why}" if why else _FAULTS[criterion])


def _lcs(found: Structure, truth: Truth, given: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """The nine answers and whether seven are yes; where models differ, the majority of them.

    Without an answer of a model (there was no text) only localisation can be yes.
    """
    victims = {one.casefold() for one in truth.affected}
    healthy = {one.casefold() for one in (*truth.unaffected, *(d.entity for d in truth.decoys))}
    right = found.entity_right
    localised = (right, right or found.entity not in victims, right or found.entity not in healthy)
    yes = {
        name: found.answered and held for name, held in zip(LOCALISATION, localised, strict=True)
    }
    for name in given[0] if given else ():
        yes[name] = 2 * Counter(one.get(name) for one in given)["yes"] > len(given)
    total = sum(yes.values())
    return {"answers": dict(sorted(yes.items())), "yes": total, "pass": total >= LCS_PASS}
