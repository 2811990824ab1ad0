"""Whether a prompt that was sent before is read from the provider's cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from heldout.llm.doctor.finding import Cost, Finding
from heldout.llm.doctor.subject import ANSWER_TOKENS, Subject

_LINES = 120
_PROMPT = "\n".join(
    f"{number}. A service calls its neighbours, and each call has a time limit of its own."
    for number in range(_LINES)
)


@dataclass(frozen=True, slots=True)
class Cache:
    """The same prompt of some 2,000 tokens twice: providers keep none that is much shorter."""

    name: ClassVar[str] = "cache"
    title: ClassVar[str] = "cached tokens told"
    cost: ClassVar[Cost] = Cost(2, 5000, 2 * ANSWER_TOKENS)

    async def run(self, subject: Subject) -> Finding:
        """Yes when the second answer says that tokens came from the cache."""
        for _ in range(2):
            reply = await subject.ask(f"{_PROMPT}\n\nReply with one word: ready")
        cached = reply.usage.cached_tokens
        if cached:
            said = f"{cached} of {reply.usage.input_tokens} input tokens of a repeated prompt"
            return Finding(self.name, self.title, "yes", said, {"cached_tokens": cached})
        return Finding(self.name, self.title, "no", "none, so every token is booked as fresh")
