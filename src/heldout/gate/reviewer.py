"""A model that looks at added lines after the gate, for what no search can see.

Off unless the settings name one. It sees the lines and what the gate remarked on, never an
inventory; it runs outside the gate's process. What the gate refused stays refused and is not shown
to it. A reviewer that is away, or whose answer cannot be read, refuses: silence is no consent.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from heldout.brain import APPEND, Brain
from heldout.errors import ProviderError
from heldout.gate.report import Finding, GateReport
from heldout.signatures import QUESTIONS, Answered, Client, LineReview, Spent, review_lines
from heldout.terminal import visible

RULE = "reviewer"
NO_ANSWER = "no answer"
MOST_LINES = 80
"""More added lines than these are refused unread: no reviewer reads a book at once."""

Weight = Literal["warn", "reject"]


@dataclass(frozen=True, slots=True)
class Line:
    """One added line of a brain's file; ``number`` counts from 1."""

    file: str
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Reviewed:
    """The gate's report with the reviewer's findings in it, and what asking cost."""

    report: GateReport
    spent: Spent = field(default_factory=Spent)
    asked: bool = False

    @property
    def failure(self) -> str:
        """Why there is no review, empty where there is one or none was needed."""
        return next((one.hint for one in self.findings if one.identifier_type == NO_ANSWER), "")

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the reviewer has against the lines."""
        return tuple(one for one in self.report.findings if one.rule == RULE)

    def plain(self, model: str) -> dict[str, Any]:
        """Who was asked and what was found, for the ledger; empty where nobody was."""
        if not self.asked and not self.failure:
            return {}
        return {"model": model, "findings": [asdict(one) for one in self.findings]}


def added(before: Brain, after: Brain) -> list[Line]:
    """Every line that ``after`` has and ``before`` has not, in load order, and new files' names."""
    old, found = before.all_files(), []
    for name, text in after.all_files().items():
        theirs, lines = old.get(name, "").splitlines(), text.splitlines()
        if name not in old:
            found.append(Line(name, 1, name))
        for tag, _, _, start, end in difflib.SequenceMatcher(
            None, theirs, lines, autojunk=False
        ).get_opcodes():
            if tag in ("insert", "replace"):
                found += [Line(name, at + 1, lines[at]) for at in range(start, end)]
    return [one for one in found if one.text.strip() not in ("", APPEND)]


class Reviewer:
    """Asks one model; ``weight`` is what its objections are worth."""

    def __init__(self, client: Client, model: str, weight: Weight = "warn") -> None:
        self.model = model
        self._client = client
        self._weight: Weight = weight

    async def review(
        self, report: GateReport, before: Brain, after: Brain, *, seed: int | None = None
    ) -> Reviewed:
        """The report with what the model has against the lines that ``after`` adds."""
        lines = added(before, after)
        if not report.passed or not lines:
            return Reviewed(report)
        if len(lines) > MOST_LINES:
            return Reviewed(
                _refused(report, lines[0], f"{len(lines)} lines are too many to review")
            )
        try:
            answer = await self._ask(report, lines, seed)
        except ProviderError as error:
            return Reviewed(_refused(report, lines[0], f"the reviewer is away: {error.what}"))
        if answer.value is None:
            why = f"the reviewer's answer cannot be used: {answer.failure}"
            return Reviewed(_refused(report, lines[0], why), answer.spent, asked=True)
        findings = [
            _finding(lines[one.line - 1], one, self._weight)
            for one in answer.value
            if one.objections
        ]
        return Reviewed(_with(report, findings), answer.spent, asked=True)

    async def _ask(
        self, report: GateReport, lines: Sequence[Line], seed: int | None
    ) -> Answered[tuple[LineReview, ...]]:
        numbered = {number: line.text for number, line in enumerate(lines, 1)}
        # Of what a finding knows only the edit's own words go out, never what they matched.
        remarks = [
            {"rule": one.rule, "words": one.matched, "severity": one.severity}
            for one in report.findings
        ]
        return await review_lines(self._client, numbered, remarks, seed=seed)


def _finding(line: Line, review: LineReview, weight: Weight) -> Finding:
    return Finding(
        rule=RULE,
        severity=weight,
        file=line.file,
        line=line.number,
        column=1,
        end_column=len(line.text) + 1,
        matched=line.text[:200],
        identifier_type=", ".join(review.objections),
        hint="; ".join((*(QUESTIONS[name] for name in review.objections), review.why)),
    )


def _refused(report: GateReport, line: Line, why: str) -> GateReport:
    finding = Finding(
        rule=RULE,
        severity="reject",
        file=line.file,
        line=line.number,
        column=1,
        end_column=len(line.text) + 1,
        matched=line.text[:200],
        identifier_type=NO_ANSWER,
        hint=f"{why}; nothing is let through unread",
    )
    return _with(report, [finding])


def _with(report: GateReport, findings: Sequence[Finding]) -> GateReport:
    """The report with further findings: it may fall by them, and never rise."""
    order = {"reject": 0, "warn": 1, "info": 2}
    every = sorted((*report.findings, *findings), key=lambda one: order[one.severity])
    passed = report.passed and not any(one.severity == "reject" for one in findings)
    return replace(report, passed=passed, findings=tuple(every))


def reviewer_lines(plain: Mapping[str, Any]) -> list[str]:
    """What a review came to, in lines, from its plain data."""
    if not plain:
        return []
    found = plain["findings"]
    if not found:
        return [f"reviewer {plain['model']}: nothing against it"]
    return [
        f"REVIEWER {plain['model']} ({one['severity']}): "
        f"'{visible(one['matched'], 80)}': {visible(one['hint'], 300)}"
        for one in found
    ]
