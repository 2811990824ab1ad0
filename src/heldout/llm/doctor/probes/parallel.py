"""How the endpoint takes several requests at once."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import ClassVar

from heldout.llm.doctor.finding import Cost, Finding, Outcome
from heldout.llm.doctor.subject import ANSWER_TOKENS, Subject

AT_ONCE = 4
_TOO_FAST = 0.2
"""Seconds: of shorter answers the time says nothing about the server."""


@dataclass(frozen=True, slots=True)
class Parallel:
    """One request, then four at once: a server with one slot takes four times as long."""

    name: ClassVar[str] = "parallel"
    title: ClassVar[str] = "several at once"
    cost: ClassVar[Cost] = Cost(AT_ONCE + 1, (AT_ONCE + 1) * 30, (AT_ONCE + 1) * ANSWER_TOKENS)

    async def run(self, subject: Subject) -> Finding:
        """Yes when four take clearly less than four times one, and no 429 is seen."""
        question = "Reply with one word: ready"
        began = time.monotonic()
        await subject.ask(question)
        one = time.monotonic() - began
        seen, began = subject.throttled, time.monotonic()
        asked = (subject.ask(question) for _ in range(AT_ONCE))
        replies = await asyncio.gather(*asked, return_exceptions=True)
        ratio = (time.monotonic() - began) / max(one, 1e-6)
        throttled = subject.throttled - seen
        failed = next((one for one in replies if isinstance(one, BaseException)), None)
        if failed is not None and not throttled:
            raise failed
        facts = {"at_once": AT_ONCE, "ratio": round(ratio, 2), "throttled": throttled}
        if throttled:
            said = f"429 came for {AT_ONCE} at once"
            return Finding(self.name, self.title, "no", said, facts)
        said = f"{AT_ONCE} at once took {ratio:.1f} times as long as one"
        if one < _TOO_FAST:
            return Finding(self.name, self.title, "unknown", "too fast to tell", facts)
        outcome: Outcome = "yes" if ratio < AT_ONCE * 0.75 else "no"
        return Finding(self.name, self.title, outcome, said, facts)
