"""What was tried and refused, as the proposer may know it: in this job, and in earlier ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from heldout.edit import Edit
from heldout.propose.redact import Redactor

BLANKED = "[...]"
"""What stands for a span of a refused edit that must not be written again."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A refused edit: what it answered, what it said (marked spans blanked), and why it fell."""

    edit: str
    cluster: str
    text: str
    why: str
    author: str = ""
    """The strategy that wrote it."""

    def plain(self) -> dict[str, Any]:
        """Plain data for the prompt; the id and the author stay here."""
        return {"cluster": self.cluster, "text": self.text, "why": self.why}

    def stored(self) -> dict[str, Any]:
        """Plain data for the ledger."""
        return asdict(self)


def remembered(edit: Edit, why: str, marked: Sequence[str] = ()) -> Rejected:
    """A memory of a refused edit.

    The spans that a checker marked are blanked, and what else stands in their lines that is shaped
    like an identifier or a quantity is replaced: a mark may cover no more than a part of it.
    """
    spans = sorted({span for span in marked if span.strip()}, key=len, reverse=True)
    redactor = Redactor()
    lines = []
    for line in edit.added_lines():
        blanked = line
        for span in spans:
            blanked = blanked.replace(span, BLANKED)
        lines.append(line if blanked == line else redactor.text(blanked))
    return Rejected(edit.id, edit.cluster, "\n".join(lines)[:1200], why[:400], edit.author)


def remembered_from(data: Mapping[str, Any]) -> Rejected:
    """A memory as the ledger keeps it, back as a record."""
    return Rejected(**{name: str(value) for name, value in data.items()})


def recent(memory: Sequence[Rejected], cluster: str, limit: int = 12) -> tuple[Rejected, ...]:
    """The memories to show for a cluster: its own first, then the newest others."""
    own = [item for item in memory if item.cluster == cluster]
    others = [item for item in memory if item.cluster != cluster]
    return tuple([*own[-limit:], *others[-max(0, limit - len(own)) :]][:limit])
