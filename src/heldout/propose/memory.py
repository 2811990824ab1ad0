"""What was tried and refused, as the proposer may know it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from heldout.edit import Edit


@dataclass(frozen=True, slots=True)
class Rejected:
    """A refused edit: what it answered, what it said (marked spans blanked), and why it fell."""

    edit: str
    cluster: str
    text: str
    why: str

    def plain(self) -> dict[str, Any]:
        """Plain data for the prompt; the id stays here."""
        return {"cluster": self.cluster, "text": self.text, "why": self.why}


def remembered(edit: Edit, why: str, marked: Sequence[str] = ()) -> Rejected:
    """A memory of a refused edit in which the spans that a checker marked are blanked."""
    text = "\n".join(edit.added_lines())
    for span in sorted({span for span in marked if span.strip()}, key=len, reverse=True):
        text = text.replace(span, "[...]")
    return Rejected(edit.id, edit.cluster, text[:1200], why[:400])


def recent(memory: Sequence[Rejected], cluster: str, limit: int = 12) -> tuple[Rejected, ...]:
    """The memories to show for a cluster: its own first, then the newest others."""
    own = [item for item in memory if item.cluster == cluster]
    others = [item for item in memory if item.cluster != cluster]
    return tuple([*own[-limit:], *others[-max(0, limit - len(own)) :]][:limit])
