"""Whether a seed is taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from heldout.llm.doctor.finding import Cost, Finding
from heldout.llm.doctor.subject import ANSWER_TOKENS, Subject


@dataclass(frozen=True, slots=True)
class Seed:
    """Accepted, which promises nothing: few providers answer the same twice."""

    name: ClassVar[str] = "seed"
    title: ClassVar[str] = "seed accepted"
    cost: ClassVar[Cost] = Cost(2, 60, 2 * ANSWER_TOKENS)

    async def run(self, subject: Subject) -> Finding:
        """Ask for something that differs by chance, twice with one seed."""
        if subject.wire == "responses":
            return Finding(self.name, self.title, "no", "this wire has none; repeats differ anyway")
        question = "Name any animal, in one word."
        first = await subject.ask(question, seed=7)
        second = await subject.ask(question, seed=7)
        same = first.text.strip() == second.text.strip()
        said = "the same answer twice" if same else "other answers with the same seed"
        return Finding(self.name, self.title, "yes", said, {"same": same})
