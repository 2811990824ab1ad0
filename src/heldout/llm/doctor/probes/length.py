"""Whether the cap on an answer's length holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from heldout.llm.doctor.finding import Cost, Finding
from heldout.llm.doctor.subject import Subject

CAP = 32
_SLACK = 8


@dataclass(frozen=True, slots=True)
class Length:
    """A long answer asked for with few tokens."""

    name: ClassVar[str] = "length"
    title: ClassVar[str] = "output limit held"
    cost: ClassVar[Cost] = Cost(1, 40, 10 * CAP)

    async def run(self, subject: Subject) -> Finding:
        """Yes when the answer ends at the cap; told as cut or by its count."""
        reply = await subject.ask(
            "Write the numbers from 1 to 300, separated by commas.", max_output_tokens=CAP
        )
        count = reply.usage.output_tokens
        facts = {"asked": CAP, "output_tokens": count, "finish_reason": reply.finish_reason}
        if not reply.usage.estimated and count > CAP + _SLACK:
            said = f"{count} tokens came where {CAP} were allowed"
            return Finding(self.name, self.title, "no", said, facts)
        if reply.finish_reason == "length":
            return Finding(self.name, self.title, "yes", "cut, and told as cut", facts)
        if len(reply.text) > 10 * CAP:
            return Finding(self.name, self.title, "no", "the answer was not cut", facts)
        return Finding(self.name, self.title, "unknown", "the answer was short by itself", facts)
