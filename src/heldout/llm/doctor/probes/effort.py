"""Whether an effort is taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from heldout.llm.doctor.finding import Cost, Finding
from heldout.llm.doctor.subject import ANSWER_TOKENS, Subject


@dataclass(frozen=True, slots=True)
class Effort:
    """The effort of the model's name, which every request carries, or else ``low``."""

    name: ClassVar[str] = "effort"
    title: ClassVar[str] = "effort accepted"
    cost: ClassVar[Cost] = Cost(1, 40, ANSWER_TOKENS)

    async def run(self, subject: Subject) -> Finding:
        """An endpoint may take an effort and ignore it: reasoning tokens are the better sign."""
        effort = subject.model.effort or "low"
        if subject.effort_refused:
            said = f"'@{effort}' is refused: {subject.effort_refused}"
            return Finding(self.name, self.title, "no", said)
        if not subject.model.effort:
            await subject.ask("How many legs do three spiders have?", effort=effort)
        reasoned = max((one.usage.reasoning_tokens for one in subject.replies), default=0)
        facts = {"effort": effort, "reasoning_tokens": reasoned}
        said = f"'@{effort}'"
        said += "" if reasoned else ", no reasoning tokens reported: it may be ignored"
        return Finding(self.name, self.title, "yes", said, facts)
