"""How far a judge can be trusted: its verdicts against labels, beyond chance, class by class.

Two kappas are told. The whole one is what a run's verdicts are worth. The other counts only the
answers that words decide, where ids are right and a model's opinion is all there is; the exact
judge has both too, so that judges can be compared.
"""

from __future__ import annotations

import asyncio
import inspect
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from heldout.errors import JudgeError
from heldout.interface import Submission
from heldout.judge.choice import JudgeChoice, judge_hash, under_test
from heldout.judge.labels import BUILT_IN, CLASSES, Labelled, Labels, built_in
from heldout.judge.llm import prose_of
from heldout.judge.structure import structure_of
from heldout.judge.verdict import NoVerdict, Verdict
from heldout.signatures.records import Spent
from heldout.stats import Interval, clopper_pearson, cohen_kappa
from heldout.store import Ledger, now_us
from heldout.store.judging import CalibrationRow, calibrations, remember_calibration
from heldout.truth import Truth

Judge = Callable[[Submission, Truth], "Verdict | Awaitable[Verdict]"]


@dataclass(frozen=True, slots=True)
class Calibration:
    """One judge over labelled answers. Invalid verdicts count in ``invalid`` and in no interval.

    ``confusion`` counts results by class; ``errors`` names the answers that were judged wrongly.
    """

    labels: str
    answers: int
    invalid: int
    agreement: Interval
    kappa: Interval
    words_answers: int
    words_agreement: Interval
    words_kappa: Interval
    confusion: Mapping[str, Mapping[str, int]]
    errors: tuple[str, ...]
    members: Mapping[str, Interval] = field(default_factory=dict)
    """Of a panel: each model's own kappa where words decide, over what it answered."""
    spent: Spent = field(default_factory=Spent)

    def plain(self) -> dict[str, Any]:
        """Plain data for the ledger; what is not a number becomes ``None``."""

        def told(value: Any) -> Any:
            if isinstance(value, float) and math.isnan(value):
                return None
            if isinstance(value, list | tuple):
                return [told(one) for one in value]
            if isinstance(value, dict):
                return {key: told(one) for key, one in value.items()}
            return value

        plain: dict[str, Any] = told(asdict(self))
        return plain


async def calibrate(judge: Judge, labels: Labels, *, concurrency: int = 8) -> Calibration:
    """Have a judge decide every labelled answer, and compare.

    A verdict that could not be had is counted as invalid; a refused key is raised.
    """
    gate = asyncio.Semaphore(concurrency)

    async def one(answer: Labelled) -> tuple[str, Spent, Mapping[str, Any]]:
        async with gate:
            try:
                verdict = judge(answer.submission, answer.truth)
                given = await verdict if inspect.isawaitable(verdict) else verdict
            except NoVerdict as error:
                return "invalid", error.spent, {}
            except JudgeError:
                return "invalid", Spent(), {}
            return given.result, given.spent, given.criteria.get("members", {})

    results = await asyncio.gather(*(one(answer) for answer in labels.answers))
    spent = sum((spent for _, spent, _ in results), Spent())
    found = compared(labels, [result for result, _, _ in results], spent)
    return replace(found, members=_members(labels, [said for _, _, said in results]))


def compared(labels: Labels, results: Sequence[str], spent: Spent) -> Calibration:
    """The calibration of results in the order of the labelled answers."""
    pairs = list(zip(labels.answers, results, strict=True))
    valid = [(answer, result) for answer, result in pairs if result != "invalid"]
    words = [(answer, result) for answer, result in valid if decided_by_words(answer)]
    confusion: dict[str, Counter[str]] = {}
    for answer, result in pairs:
        confusion.setdefault(answer.kind, Counter())[result] += 1
    return Calibration(
        labels=labels.name,
        answers=len(pairs),
        invalid=len(pairs) - len(valid),
        agreement=_agreement(valid),
        kappa=_kappa(valid),
        words_answers=len(words),
        words_agreement=_agreement(words),
        words_kappa=_kappa(words),
        confusion={kind: dict(counts) for kind, counts in confusion.items()},
        errors=tuple(answer.id for answer, result in valid if result != answer.result),
        spent=spent,
    )


def _members(labels: Labels, said: Sequence[Mapping[str, Any]]) -> dict[str, Interval]:
    """Each model's own kappa, where several were asked."""
    pairs: dict[str, list[tuple[Labelled, str]]] = {}
    for answer, members in zip(labels.answers, said, strict=True):
        for model, opinion in members.items() if decided_by_words(answer) else ():
            if opinion["result"] != "invalid":
                pairs.setdefault(model, []).append((answer, opinion["result"]))
    return {model: _kappa(own) for model, own in sorted(pairs.items())} if len(pairs) > 1 else {}


def decided_by_words(answer: Labelled) -> bool:
    """True where the ids of an answer are right, so that its words decide."""
    found = structure_of(answer.submission, answer.truth)
    return found.holds and prose_of(answer.submission).speaks


def keep(ledger: Ledger, choice: JudgeChoice, labels: Labels, found: Calibration) -> None:
    """Store a calibration, bound to the judge and to the labels."""
    row = CalibrationRow(
        judge=choice.by,
        models=choice.models,
        judge_hash=judge_hash(choice),
        labels=labels.name,
        labels_hash=labels.hash,
        result=found.plain(),
        at=now_us(),
    )
    remember_calibration(ledger, row)


def standing(ledger: Ledger, choice: JudgeChoice, agent: str) -> list[str]:
    """What must be said of models that judge, in sentences; nothing of the exact judge.

    Who judges itself is named, and a calibration that is missing or of another version.
    """
    if choice.by == "exact":
        return []
    own = under_test(choice, agent)
    said = [f"JUDGED BY THE MODEL UNDER TEST: {', '.join(own)}"] if own else []
    mend = "run 'heldout judge calibrate'"
    rows = [row for row in calibrations(ledger) if row.judge == choice.by]
    same = [row for row in rows if sorted(row.models) == sorted(choice.models)]
    fitting = [
        row
        for row in same
        if row.judge_hash == judge_hash(choice)
        and (row.labels != BUILT_IN or row.labels_hash == built_in().hash)
    ]
    if fitting:
        return [*said, f"judge {choice.words()}: {_figures(fitting[0])}"]
    if same:
        why = "its prompts, its code or the labels changed since"
        return [*said, f"judge {choice.words()}: calibration STALE ({why}); {mend}"]
    return [*said, f"judge {choice.words()}: NOT CALIBRATED; {mend}"]


def calibration_text(name: str, found: Calibration) -> str:
    """A calibration for people: figures, confusion by class, wrong answers."""
    whose = "labels of this project's authors" if found.labels == BUILT_IN else found.labels
    lines = [
        f"judge {name} on {found.answers} labelled answers ({whose})",
        f"  all answers   kappa {_interval(found.kappa)} · agrees {_share(found.agreement)}",
        f"  words decide  kappa {_interval(found.words_kappa)} · agrees "
        f"{_share(found.words_agreement)} · {found.words_answers} answers",
        f"  invalid {found.invalid} · {found.spent.calls} calls · "
        + ("USD unknown" if found.spent.usd is None else f"{found.spent.usd:.4f} USD"),
        f"  {'class':<30} {'pass':>5} {'fail':>5} {'invalid':>8}",
    ]
    for kind in [*CLASSES, *sorted(set(found.confusion) - set(CLASSES))]:
        counts = found.confusion.get(kind)
        if counts:
            row = [counts.get(result, 0) for result in ("pass", "fail", "invalid")]
            label = CLASSES.get(kind, kind)[:30]
            lines.append(f"  {label:<30} {row[0]:>5} {row[1]:>5} {row[2]:>8}")
    lines += [f"  member {name}: kappa {_interval(one)}" for name, one in found.members.items()]
    if found.errors:
        lines.append(f"  judged wrongly: {', '.join(found.errors)}")
    return "\n".join(lines)


def _agreement(pairs: Sequence[tuple[Labelled, str]]) -> Interval:
    return clopper_pearson(sum(answer.result == result for answer, result in pairs), len(pairs))


def _kappa(pairs: Sequence[tuple[Labelled, str]]) -> Interval:
    return cohen_kappa([(answer.result, result) for answer, result in pairs])


def _figures(row: CalibrationRow) -> str:
    value, low, high, _ = row.result["words_kappa"]
    if value is None:
        return f"calibrated on {row.result['answers']} answers, of which words decide none"
    return (
        f"kappa {value:.2f} ({low:.2f} to {high:.2f}) where words decide, on "
        f"{row.result['words_answers']} labelled answers ({row.labels})"
    )


def _interval(one: Interval) -> str:
    if math.isnan(one.value):
        return "unknown"
    return f"{one.value:.2f} ({one.low:.2f} to {one.high:.2f})"


def _share(one: Interval) -> str:
    if math.isnan(one.value):
        return "unknown"
    return f"{one.value:.1%} ({one.low:.1%} to {one.high:.1%})"
