"""Whether an answer can be bound by a JSON schema."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

from heldout.llm.doctor.finding import Cost, Finding
from heldout.llm.doctor.subject import ANSWER_TOKENS, Subject

QUESTION = "Which of the colours red, blue and green has a clear sky at noon?"
COLOURS = ("red", "blue", "green")
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "colour": {"type": "string", "enum": list(COLOURS)},
        "certain": {"type": "boolean"},
    },
    "required": ["colour", "certain"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Schema:
    """A question that says nothing of JSON, with a strict schema beside it."""

    name: ClassVar[str] = "schema"
    title: ClassVar[str] = "JSON schema obeyed"
    cost: ClassVar[Cost] = Cost(1, 150, ANSWER_TOKENS)

    async def run(self, subject: Subject) -> Finding:
        """Yes when the answer is what the schema demands, and nothing else."""
        reply = await subject.ask(QUESTION, response_schema=SCHEMA)
        if conforms(reply.text):
            return Finding(self.name, self.title, "yes", "the answer follows it")
        return Finding(self.name, self.title, "no", "accepted and not obeyed")


def conforms(text: str) -> bool:
    """True when the text is one JSON object of the schema."""
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return (
        isinstance(answer, dict)
        and answer.keys() == {"colour", "certain"}
        and answer["colour"] in COLOURS
        and isinstance(answer["certain"], bool)
    )
