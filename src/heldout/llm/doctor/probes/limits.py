"""Which limits the endpoint tells in its headers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from heldout.llm.doctor.finding import Cost, Finding
from heldout.llm.doctor.subject import Subject
from heldout.terminal import visible

_PREFIXES = ("x-ratelimit-", "ratelimit-", "anthropic-ratelimit-")
_MOST = 12


@dataclass(frozen=True, slots=True)
class Limits:
    """Read from the newest response; asks nothing."""

    name: ClassVar[str] = "limits"
    title: ClassVar[str] = "limits told"
    cost: ClassVar[Cost] = Cost()

    async def run(self, subject: Subject) -> Finding:
        """Every rate-limit header, as it came."""
        told = {
            visible(name, 60): visible(value, 60)
            for name, value in sorted(subject.headers.items())
            if name.lower().startswith(_PREFIXES)
        }
        if not told:
            said = "no rate-limit headers; a 429 slows the client down"
            return Finding(self.name, self.title, "unknown", said)
        shown = dict(list(told.items())[:_MOST])
        said = ", ".join(
            f"{name.partition('ratelimit-')[2]} {value}"
            for name, value in shown.items()
            if "reset" not in name
        )
        return Finding(self.name, self.title, "yes", said, shown)
