"""The questions that a judging model is asked, read from the texts in ``prompts/``.

A question has a name, a text, and a closed list of options. Which options hold is said here, not in
the text: a model that is asked does not decide what counts.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from heldout.truth import NONE, Truth

PROMPTS = Path(__file__).with_name("prompts")
LOCALISATION = ("L1", "L2", "L3")
"""Of the nine: same component, its origin and not a victim, no healthy one blamed. Ids decide."""
LCS_PASS = 7
"""SREGym's three weighted dimensions and threshold pass exactly from seven of nine on."""

_YES = (("yes", ""), ("no", ""), ("unclear", ""))
_OPTION = re.compile(r"^- (\w+): (.+(?:\n  .+)*)", re.MULTILINE)
LONGEST_REASON = 600
"""Characters of a reason that are kept."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question; ``options`` are (name, meaning)."""

    name: str
    text: str
    options: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model chose, and the reason that it gave before."""

    choice: str
    reason: str


Answers = Mapping[str, Answer]


@cache
def form(name: str) -> tuple[str, dict[str, Question]]:
    """A prompt's text before its questions, and the questions by name."""
    text = (PROMPTS / f"{name}.md").read_text(encoding="utf-8")
    head, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    questions = {}
    for part in parts:
        title, _, body = part.partition("\n")
        options = tuple((one, " ".join(said.split())) for one, said in _OPTION.findall(body))
        asked = " ".join(_OPTION.sub("", body).split())
        questions[title.strip()] = Question(title.strip(), asked, options or _YES)
    return head.strip(), questions


@cache
def prompts_hash() -> str:
    """Hash over the texts of all prompts."""
    digest = hashlib.sha256()
    for path in sorted(PROMPTS.glob("*.md")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def unproven(truth: Truth) -> bool:
    """True where the right answer is that the cause cannot be proven."""
    return not truth.accepted_changes and not truth.mechanism_terms


def blameless(truth: Truth) -> bool:
    """True where the right answer blames no entity and no change."""
    return not truth.accepted_changes and set(truth.accepted_entities) <= {NONE}


def strict_questions(truth: Truth) -> list[Question]:
    """The questions that fit a truth: only what ids cannot decide."""
    _, known = form("strict")
    names = ["causes"]
    if not unproven(truth):
        names.append("mechanism")
    if wrong_explanations(truth):
        names.append("near_miss")
    if unproven(truth) or blameless(truth):
        names.append("honest")
    return [known[name] for name in names]


def lcs_questions() -> list[Question]:
    """Six of the nine; the other three are localisation, which ids decide."""
    return list(form("lcs")[1].values())


def wrong_explanations(truth: Truth) -> list[str]:
    """Known wrong answers with what is wrong about them."""
    found = [
        f"blaming {' / '.join(one for one in (miss.entity, miss.change) if one)}: {miss.why_wrong}"
        for miss in truth.near_misses
    ]
    known = {(miss.entity, miss.change) for miss in truth.near_misses}
    found += [
        f"blaming {one.entity} / {one.change}: {one.why_innocent}"
        for one in truth.decoys
        if (one.entity, one.change) not in known
    ]
    return found


def strict_criteria(truth: Truth, answers: Answers) -> dict[str, bool]:
    """What the answers say of the criteria that words decide."""
    said = {name: answer.choice for name, answer in answers.items()}
    held = {"mechanism": said.get("mechanism", "same") == "same"}
    firm = {"one", "none"} if unproven(truth) or blameless(truth) else {"one"}
    held["single_cause"] = said["causes"] in firm
    held["not_near_miss"] = said.get("near_miss", "no") == "no"
    if "honest" in said:
        held["honest"] = said["honest"] == "admits"
    return held


def drawn(questions: Sequence[Question], draw: random.Random) -> list[Question]:
    """The questions in a drawn order, each with its options in a drawn order."""
    mixed = [
        Question(one.name, one.text, tuple(draw.sample(one.options, len(one.options))))
        for one in questions
    ]
    return draw.sample(mixed, len(mixed))


def asked_text(questions: Sequence[Question]) -> str:
    """The questions as they stand in a prompt."""
    parts = []
    for one in questions:
        options = "\n".join(
            f"- {name}: {meaning}" if meaning else f"- {name}" for name, meaning in one.options
        )
        parts.append(f"### {one.name}\n{one.text}\n{options}")
    return "\n\n".join(parts)


def schema(questions: Sequence[Question]) -> dict[str, Any]:
    """The JSON schema of the answers: for every question a reason, then one of its options."""

    def one(question: Question) -> dict[str, Any]:
        return _closed(
            {
                "reason": {"type": "string"},
                "answer": {"type": "string", "enum": [name for name, _ in question.options]},
            }
        )

    return _closed({question.name: one(question) for question in questions})


def read_answers(text: str, questions: Sequence[Question]) -> dict[str, Answer]:
    """The answers in a model's text; a ``ValueError`` says what is missing or not on the list."""
    found = _object(text)
    answers = {}
    for question in questions:
        given = found.get(question.name)
        choice = given.get("answer") if isinstance(given, dict) else given
        known = [name for name, _ in question.options]
        if not isinstance(choice, str) or choice.strip().casefold() not in {
            name.casefold() for name in known
        }:
            raise ValueError(f"'{question.name}' needs one of {', '.join(known)}")
        reason = given.get("reason", "") if isinstance(given, dict) else ""
        answers[question.name] = Answer(
            next(name for name in known if name.casefold() == choice.strip().casefold()),
            " ".join(str(reason).split())[:LONGEST_REASON],
        )
    return answers


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _object(text: str) -> dict[str, Any]:
    """The JSON object in a text, fenced or with words around it."""
    first, last = text.find("{"), text.rfind("}")
    if first < 0 or last < first:
        raise ValueError("it holds no JSON object")
    try:
        found = json.loads(text[first : last + 1])
    except (ValueError, RecursionError) as error:
        raise ValueError("it is not JSON") from error
    if not isinstance(found, dict):
        raise ValueError("it is no JSON object")
    return found
