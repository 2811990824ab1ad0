"""Whether the endpoint says that it serves the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from heldout.errors import ProviderRefused
from heldout.llm.doctor.finding import Cost, Finding
from heldout.llm.doctor.subject import Subject
from heldout.llm.names import near

_GUESSED = 200
"""How many listed names are compared with a name that is not among them."""


@dataclass(frozen=True, slots=True)
class Listing:
    """One request that costs nothing. Many servers take any name, so a no is a warning."""

    name: ClassVar[str] = "listing"
    title: ClassVar[str] = "model listed"
    cost: ClassVar[Cost] = Cost(requests=1)

    async def run(self, subject: Subject) -> Finding:
        """Look for the name among those that the endpoint lists."""
        subject.spent.requests += 1
        try:
            subject.listing = await subject.client().models()
        except ProviderRefused as error:
            return Finding(self.name, self.title, "unknown", f"no list of models: {error.what}")
        names = tuple(name for one in subject.listing for name in names_of(one))
        facts = {"listed": len(subject.listing)}
        wanted = subject.model.name
        if wanted in names:
            said = f"'{wanted}' is one of {len(subject.listing)}"
            return Finding(self.name, self.title, "yes", said, facts)
        if not names:
            return Finding(self.name, self.title, "unknown", "the list of models is empty", facts)
        guess = names[0] if len(names) == 1 else near(wanted, names[:_GUESSED])
        said = f"'{wanted}' is not one of {len(subject.listing)}"
        said += f"; there is '{guess}'" if guess else ""
        return Finding(self.name, self.title, "no", said, facts)


def names_of(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """The name of a listed model and, where a server tells them, its other names."""
    others = entry.get("aliases")
    named = [entry.get("id"), *(others if isinstance(others, list) else ())]
    return tuple(dict.fromkeys(name for name in named if isinstance(name, str) and name))
