"""One recorded incident as its importer hands it over, and how importers of them are found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from heldout.errors import UsageError
from heldout.ingest.importer import registered
from heldout.truth import Truth
from heldout.truth.specs import Kind, Origin

if TYPE_CHECKING:
    from heldout.ingest.draft import WorldDraft
    from heldout.ingest.importer import ImportOptions


OVER = (
    "no active", "no failure", "no fault", "not a failure", "not failing", "nothing is broken",
    "nothing is wrong", "healthy", "recovered", "resolved", "self-resolved", "transient",
    "already over", "is over", "has passed", "back to normal", "cleared", "false alarm",
    "false positive", "spurious", "stale", "normal", "no issue", "no incident", "no problem",
)  # fmt: skip
"""What says that nothing is wrong now."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A case that became an incident.

    ``key`` names it within its source and never reaches the agent, since a source's own names tell
    the cause. ``kind`` is ``trap`` for what is scored, a fault that is there, and a kind of control
    for the rest. ``family`` and ``group`` are the cause: whatever shares a group stands on one side
    of a split. ``truth`` holds ids of the draft's entities; its incident and its canary are filled
    in when it is kept. ``now`` is when the world stands, in microseconds. ``draft`` is written and
    closed by who takes the case.
    """

    key: str
    alert: str
    kind: Kind
    domain: str
    family: str
    group: str
    truth: Truth
    draft: WorldDraft = field(repr=False)
    now: int | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A case that became none, and why."""

    key: str
    reason: str


class CaseImporter(Protocol):
    """Reads one source of recorded incidents; nothing in it is executed."""

    @property
    def name(self) -> str:
        """The KIND of ``heldout ingest KIND PATH --into-set SET``."""
        ...

    @property
    def reads(self) -> str:
        """What it reads, in a few words."""
        ...

    @property
    def source(self) -> str:
        """Where such cases come from and under which licence, in a sentence."""
        ...

    @property
    def origin(self) -> Origin:
        """What its incidents are as evidence: recorded elsewhere, or reconstructed."""
        ...

    @property
    def halves(self) -> bool:
        """Whether a set of them is halved by cause; else all of it is held out."""
        ...

    def cases(self, path: Path, options: ImportOptions) -> Iterator[Recorded | Skipped]:
        """Every case at or below ``path``, one at a time, in a stable order."""
        ...


def truth(
    entity: str,
    mechanism: str,
    terms: tuple[tuple[str, ...], ...],
    *,
    accepted: tuple[str, ...] = (),
    change: str = "",
    field_: str = "",
    affected: tuple[str, ...] = (),
) -> Truth:
    """The truth of a recorded case: which entity, and what its mechanism must say.

    ``accepted`` are further entities that may be named. Without a ``change`` no change may be
    blamed, which is what most recordings allow: they hold none.
    """
    return Truth(
        incident="",
        culprit_entity=entity,
        culprit_change=change,
        culprit_field=field_,
        accepted_entities=tuple(dict.fromkeys((entity, *accepted))) if entity else accepted,
        accepted_changes=(change,) if change else (),
        mechanism=mechanism,
        mechanism_terms=terms,
        trigger="",
        affected=affected,
        unaffected=(),
        chain=(mechanism,),
        decoys=(),
        near_misses=(),
        recommended_fix="",
        canary="",
    )


@cache
def case_importers() -> dict[str, CaseImporter]:
    """Every importer of recorded incidents, by name."""
    from heldout.ingest.cases import kinds

    return registered(kinds, "CASES")


def case_importer(name: str) -> CaseImporter:
    """An importer by its name; any other is a :class:`UsageError` that names them all."""
    known = case_importers()
    if name not in known:
        raise UsageError(
            f"'{name[:40]}' holds no incidents", mend=f"Name one of: {', '.join(known)}"
        )
    return known[name]
