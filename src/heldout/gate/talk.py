"""Talk about the evaluation, about single incidents, and tables that answer alerts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from heldout.gate.hits import Context, Hit, line_place
from heldout.gate.pages import RATIONALE, Page, Place
from heldout.gate.report import Severity

TALK = "evaluation-talk"
TABLE = "answer-table"
_TALK_HINT = "A brain is for production: say nothing about how it is measured"
_CASE_HINT = "State the method for any incident, not for one that was seen"
_TABLE_HINT = "Say how to find the cause; a list of alerts with their causes is an answer sheet"

_ORDINAL = r"first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\d+(?:st|nd|rd|th)"
_COUNTED = r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_CASE = r"(?:incident|scenario|sample|task)"
_PATTERNS: tuple[tuple[str, Severity, str, str], ...] = (
    ("evaluation", "reject", _TALK_HINT,
     r"\b(?:train(?:ing)?|test|dev|eval(?:uation)?)[ -]"
     r"(?:split|half|side|set|incidents?|cases?)\b"),
    ("evaluation", "reject", _TALK_HINT, r"\bheld[ -]?out\b|\bground[ -]truth\b|\bbenchmarks?\b"),
    ("evaluation", "reject", _TALK_HINT,
     r"\b(?:the|a|this|our|llm) (?:judge|grader|scorer)\b|\bjudge's\b|\bgraded on\b"),
    ("evaluation", "reject", _TALK_HINT,
     r"\b(?:the|this|a) (?:simulat(?:or|ion)|simulated (?:world|incident))\b|\bfault[ -]?inject"),
    ("evaluation", "reject", _TALK_HINT,
     r"\b(?:canary string|expected answer|accepted answers?|near[ -]miss "
     r"answers?)\b"),
    ("evaluation", "warn", _TALK_HINT, r"\bdecoys?\b|\bscenario\b|\bdata ?set\b"),
    ("single incident", "reject", _CASE_HINT,
     rf"\b(?:the|this|that|in|of) (?:{_ORDINAL}) {_CASE}\b(?! of\b)"
     r"|\b(?:incident|scenario) ?(?:#|no\.?|number)? ?\d+\b"
     rf"|\b(?:incident|scenario) (?:no\.?|number) (?:{_COUNTED})\b"),
    ("single incident", "reject", _CASE_HINT,
     r"\b(?:the|this) (?:past|recent|known|seen|failed|failing) incident\b"),
    ("answer", "reject", _TABLE_HINT,
     r"\b(?:if|when|whenever) (?:the |an )?(?:alert|page|title|alarm)(?:'s title| text)? "
     r"(?:says|reads|mentions|contains|is|names)\b[^.]{0,120}\b(?:answer|submit|blame|report|"
     r"the (?:root )?cause is|it is always|root_cause)\b"),
)  # fmt: skip
_COMPILED = tuple((k, s, h, re.compile(p, re.IGNORECASE)) for k, s, h, p in _PATTERNS)
_HEAD_CAUSE = re.compile(r"cause|culprit|answer|reason|fix|diagnos|blame", re.IGNORECASE)
_HEAD_SIGN = re.compile(
    r"alert|symptom|sign|alarm|error|incident|title|service|\bsee|observ|happen|\bif\b|\bwhen\b",
    re.IGNORECASE,
)
_ARROW = re.compile(r"(?:->|=>|→|⇒|:=)")


class _Talk(NamedTuple):
    kind: str
    severity: Severity
    hint: str
    first: int
    last: int


def check_talk(context: Context) -> Iterator[Hit]:
    """Wording that only makes sense to somebody who knows about the evaluation."""
    for row in context.scan.folded:
        if row[0].file == RATIONALE:
            continue
        for talk in _talk(row[2].text):
            place = line_place(row, talk.first, talk.last)
            yield Hit(TALK, talk.severity, place, place.source, "", talk.kind, (), talk.hint)


@lru_cache(maxsize=20_000)
def _talk(line: str) -> tuple[_Talk, ...]:
    return tuple(
        _Talk(kind, severity, hint, *match.span())
        for kind, severity, hint, pattern in _COMPILED
        for match in pattern.finditer(line)
    )


def check_tables(context: Context) -> Iterator[Hit]:
    """Tables and arrow lists that map a sign to its cause."""
    for page in context.scan.pages:
        if page.file == RATIONALE:
            continue
        yield from _tables(page)
        yield from _arrows(page)


def _tables(page: Page) -> Iterator[Hit]:
    for number, line in enumerate(page.lines, 1):
        following = page.lines[number] if number < len(page.lines) else ""
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) < 2 or not re.fullmatch(r"[\s|:-]+", following) or "-" not in following:
            continue
        heads = " ".join(cells)
        if _HEAD_CAUSE.search(heads) and _HEAD_SIGN.search(heads):
            yield _whole_line(page, number)
        elif _maps_text(page.lines[number + 1 :]):
            yield _whole_line(page, number, "warn")


def _maps_text(body: Sequence[str]) -> bool:
    """True for a table that sets sentences beside sentences, whatever its columns are called."""
    rows = 0
    for line in body:
        cells = [cell for cell in line.strip().strip("|").split("|") if cell.strip()]
        if "|" not in line:
            break
        rows += sum(len(re.findall(r"\b[A-Za-z]{2,}\b", cell)) >= 2 for cell in cells) >= 2
    return rows >= 2


def _arrows(page: Page) -> Iterator[Hit]:
    run = 0
    for number, line in enumerate((*page.lines, ""), 1):
        sides = _ARROW.split(line)
        two = len(sides) == 2 and all(len(re.findall(r"[A-Za-z]{3,}", s)) >= 2 for s in sides)
        run = run + 1 if two else 0
        if run == 2:
            yield _whole_line(page, number)


def _whole_line(page: Page, number: int, severity: Severity = "reject") -> Hit:
    line = page.lines[number - 1]
    place = Place(page, number, 1, number, len(line) + 1)
    return Hit(TABLE, severity, place, line[:200], "", "answer table", (), _TABLE_HINT)
