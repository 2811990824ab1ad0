"""Whether the model writes JSON when asked in words, bare or in a fence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from heldout.llm.doctor.finding import Cost, Finding
from heldout.llm.doctor.probes.schema import QUESTION, conforms
from heldout.llm.doctor.subject import ANSWER_TOKENS, Subject

_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n?```", re.DOTALL)
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Fenced:
    """The question of the schema's probe, with the form told in the prompt."""

    name: ClassVar[str] = "fenced"
    title: ClassVar[str] = "JSON in words"
    cost: ClassVar[Cost] = Cost(1, 150, ANSWER_TOKENS)

    async def run(self, subject: Subject) -> Finding:
        """Yes when one object of the form can be read."""
        reply = await subject.ask(
            f"{QUESTION} Answer with one JSON object and nothing else, with the keys "
            '"colour" (one of "red", "blue", "green") and "certain" (true or false).'
        )
        text = _THOUGHT.sub("", reply.text).strip()
        fenced = _FENCE.findall(text)
        if any(conforms(part) for part in (text, *fenced)):
            how = "bare" if conforms(text) else "fenced"
            return Finding(self.name, self.title, "yes", f"{how} JSON in the form asked for")
        return Finding(self.name, self.title, "no", "no JSON in the form asked for")
