"""Whether the model answers at all, how fast, and under which name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from heldout.llm.doctor.finding import Cost, Finding
from heldout.llm.doctor.subject import ANSWER_TOKENS, Subject
from heldout.llm.messages import ModelReply, RequestRefused


@dataclass(frozen=True, slots=True)
class Answer:
    """A word. Where the effort of the name is refused, asked again without."""

    name: ClassVar[str] = "answer"
    title: ClassVar[str] = "answers"
    cost: ClassVar[Cost] = Cost(2, 60, 2 * ANSWER_TOKENS)

    async def run(self, subject: Subject) -> Finding:
        """Ask for one word."""
        try:
            reply = await self._asked(subject)
        except RequestRefused as error:
            if not subject.model.effort:
                raise
            subject.effort_refused = error.what
            reply = await self._asked(subject)
        served = reply.served_model
        other = bool(served) and not _same(served, subject.model.name)
        facts = {"seconds": round(reply.seconds, 3), "served_model": served, "other_name": other}
        if not (reply.text or reply.tool_calls):
            why = "the answer is empty"
            if reply.finish_reason == "length":
                why = f"{ANSWER_TOKENS} tokens of reasoning and no answer: try a lower effort"
            return Finding(self.name, self.title, "no", why, facts)
        said = f"in {reply.seconds:.1f} s"
        if other:
            said += f", as '{served}', which is another name"
        elif served:
            said += f", as '{served}'"
        return Finding(self.name, self.title, "yes", said, facts)

    async def _asked(self, subject: Subject) -> ModelReply:
        return await subject.ask("Reply with one word: ready")


def _same(served: str, asked: str) -> bool:
    """True for the name itself, a dated snapshot of it, and its last part alone."""
    served, asked = served.casefold(), asked.casefold()
    return served.startswith(asked) or asked.endswith("/" + served)
