"""Whether a tool call can be demanded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from heldout.llm.doctor.finding import Cost, Finding
from heldout.llm.doctor.probes.tools import TOOLS
from heldout.llm.doctor.subject import ANSWER_TOKENS, Subject


@dataclass(frozen=True, slots=True)
class Choice:
    """``tool_choice: required`` where words would be the natural answer."""

    name: ClassVar[str] = "choice"
    title: ClassVar[str] = "tool_choice required"
    cost: ClassVar[Cost] = Cost(1, 300, ANSWER_TOKENS)

    async def run(self, subject: Subject) -> Finding:
        """Yes when a call comes back."""
        reply = await subject.ask("Good morning!", tools=TOOLS, tool_choice="required")
        if reply.tool_calls:
            return Finding(self.name, self.title, "yes", "obeyed")
        return Finding(self.name, self.title, "no", "accepted and not obeyed")
