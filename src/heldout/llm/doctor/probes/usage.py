"""Whether the endpoint sends how many tokens an answer took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from heldout.llm.doctor.finding import Cost, Finding
from heldout.llm.doctor.subject import Subject


@dataclass(frozen=True, slots=True)
class UsageSent:
    """Read from the first answer; asks nothing."""

    name: ClassVar[str] = "usage"
    title: ClassVar[str] = "usage sent"
    cost: ClassVar[Cost] = Cost()

    async def run(self, subject: Subject) -> Finding:
        """Real counts, or an estimate from bytes."""
        if not subject.replies:
            return Finding(self.name, self.title, "unknown", "there was no answer")
        usage = subject.replies[0].usage
        if usage.estimated:
            said = "tokens will be estimated and costs told as unknown"
            return Finding(self.name, self.title, "no", said)
        said = f"{usage.input_tokens} in, {usage.output_tokens} out"
        if usage.reasoning_tokens:
            said += f" of which {usage.reasoning_tokens} reasoning"
        return Finding(self.name, self.title, "yes", said)
