"""What typed calls return: a reading of one failure, drafts of edits, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")

BEHAVIOURS: Mapping[str, str] = {
    "short_history": "change searches did not reach far enough back before the alert",
    "value_origin": "found the mechanism or the value, never asked when it became what it is",
    "proximity": "took the change nearest to the onset for the cause because of its timing",
    "fleet": "never compared the affected members of the fleet with the unaffected ones",
    "noise": "the list of changes was cut off or too wide and was never narrowed or paged",
    "dependency": "stopped at the alerted service, did not follow what it depends on",
    "unread_diff": "named a change without having read what it changed",
    "forced_blame": "named a change although none explains the symptom",
    "stale_blame": "named an old change although one at the onset touches the mechanism",
    "passed_trouble": "never checked whether the trouble was real and still there",
    "trusted_hint": "took what the alert suggests as the cause for a finding",
    "other_alert": "followed another alert to something that the errors do not lead to",
    "blind_spot": "took missing telemetry for the absence of trouble, used no other source",
    "namesake": "mixed up things of the same or of nearly the same name",
    "taken_back": "named a change that had been undone before the trouble began",
    "late_change": "named a change that was made after the trouble had begun",
    "long_diff": "did not read a change that touches many fields to its end",
    "unproven": "did not say that the proof is missing where it is",
    "mechanism": "never established how the failure works",
    "unfinished": "ran into a limit or ended without an answer",
    "other": "none of these",
}
"""The closed list of behaviours that failures are clustered by."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """How one investigation went wrong, in words that name nothing of the incident.

    ``window_days`` is how far back its change searches reached, in days before the alert (0 when
    there was none). ``primary`` is the behaviour that would have changed the outcome.
    ``decoy`` says what kind of thing was believed instead of the cause, empty if nothing was.
    """

    found: str
    never_asked: tuple[str, ...]
    window_days: float
    decoy_believed: bool
    primary: str
    behaviours: tuple[str, ...]
    decoy: str = ""

    def plain(self) -> dict[str, Any]:
        """Plain data for the ledger and for the next prompt."""
        data = asdict(self)
        return {**data, "never_asked": list(self.never_asked), "behaviours": list(self.behaviours)}


def diagnosis_from_plain(data: Mapping[str, Any]) -> Diagnosis:
    """The reading as the ledger keeps it, back as a record."""
    return Diagnosis(
        found=str(data["found"]),
        never_asked=tuple(str(item) for item in data["never_asked"]),
        window_days=float(data["window_days"]),
        decoy_believed=bool(data["decoy_believed"]),
        primary=str(data["primary"]),
        behaviours=tuple(str(item) for item in data["behaviours"]),
        decoy=str(data.get("decoy", "")),
    )


QUESTIONS: Mapping[str, str] = {
    "needs_incidents": "nobody could have written it who had not seen particular incidents",
    "describes_component": "it names a component by description, so that one can tell which",
    "maps_to_cause": "it maps a symptom to a cause instead of saying how to find out",
}
"""What a reviewer may have against a line of method; each is answered with yes or no."""


@dataclass(frozen=True, slots=True)
class LineReview:
    """A reviewer's answer about one line: its number, the objections by name, and why."""

    line: int
    objections: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Spent:
    """What calls cost. ``usd`` is ``None`` as soon as one price is unknown."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0

    def __add__(self, other: Spent) -> Spent:
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return Spent(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            usd,
        )

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Answered(Generic[T]):
    """A typed call's outcome: a ``value``, or ``None`` and the ``failure`` in one sentence."""

    value: T | None
    spent: Spent
    failure: str = ""
