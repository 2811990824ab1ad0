"""What the model's tokens cost, from the table or the project's own prices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from heldout.llm.doctor.finding import Cost, Finding
from heldout.llm.doctor.subject import Subject
from heldout.llm.prices import FREE


@dataclass(frozen=True, slots=True)
class Priced:
    """Asks nothing."""

    name: ClassVar[str] = "price"
    title: ClassVar[str] = "price known"
    cost: ClassVar[Cost] = Cost()

    async def run(self, subject: Subject) -> Finding:
        """The price with its day."""
        price = subject.price
        if price is FREE:
            return Finding(self.name, self.title, "yes", "free, it runs in this process")
        if price is None:
            said = "costs will be told as unknown and caps in USD cannot be held; see prices.toml"
            return Finding(self.name, self.title, "no", said)
        cached = price.input if price.cached is None else price.cached
        day = str(price.as_of or "an unknown day")
        facts = {"input": price.input, "cached": cached, "output": price.output, "as_of": day}
        said = (
            f"USD {price.input:g} input, {cached:g} cached, {price.output:g} output "
            f"per million tokens, as of {day}"
        )
        return Finding(self.name, self.title, "yes", said, facts)
