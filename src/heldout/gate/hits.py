"""What a checker is, what it sees, and what it reports before redaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from heldout.brain import Brain
from heldout.gate.inventory import Inventory, Owner
from heldout.gate.names import Name
from heldout.gate.pages import Page, Place, Scan
from heldout.gate.report import Finding, Provenance, Severity
from heldout.gate.views import View

GENERAL_HINT = "Say what kind of component, not which one"
VALUE_HINT = "State the method without the number, or compare with a healthy sibling's value"
PHRASE_HINT = "Write the method in your own words; this sentence tells one incident's story"
SOURCES = 5
"""How many places of train incidents a finding names at most."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One hit with what only the gate may know: who owns it, and whether it proves a leak.

    ``strong`` says that nobody writes this by chance (an unknown name, a sentence of a truth).
    """

    rule: str
    severity: Severity
    place: Place
    matched: str
    identifier: str = ""
    identifier_type: str = ""
    owners: tuple[Owner, ...] = ()
    hint: str = ""
    strong: bool = False
    tier: str = ""
    sources: tuple[Provenance, ...] = ()
    """Where it stands in incidents of the train side."""

    @property
    def held_out(self) -> bool:
        """True when it belongs to the test side alone."""
        return bool(self.owners) and all(owner.side == "test" for owner in self.owners)

    def identity(self) -> tuple[str, ...]:
        """What makes it the same hit in another brain: rule, name, file and the lines it is on."""
        lines = tuple(" ".join(line.split()) for line in self.place.lines)
        return (self.rule, self.identifier, self.matched, self.place.page.file, *lines)

    def finding(self) -> Finding:
        """What leaves the gate: redacted when the held-out half alone owns it."""
        place = self.place
        one_line = place.line == place.end_line
        end = place.end_column if one_line else len(place.lines[0]) + 1
        train = next((owner for owner in self.owners if owner.side == "train"), None)
        finding = Finding(
            rule=self.rule,
            severity=self.severity,
            file=place.page.file,
            line=place.line,
            column=place.column,
            end_column=end,
            matched=self.matched,
            identifier=self.identifier,
            identifier_type=self.identifier_type,
            incident=train.incident if train else "",
            hint=self.hint,
            tier=self.tier,
            sources=self.sources,
            end_line=0 if one_line else place.end_line,
            end_line_column=0 if one_line else place.end_column,
        )
        return finding.redacted() if self.held_out else finding


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes beyond which an edit is refused.

    ``line_characters`` and ``brain_characters`` bound what is read at all; ``added_characters`` is
    the longest line that an edit may add, ``brain_lines`` what a brain may grow to.
    """

    added_lines: int = 60
    added_characters: int = 1_000
    digit_share: float = 0.10
    brain_lines: int = 1_500
    line_characters: int = 20_000
    brain_characters: int = 1_000_000


class Tools(NamedTuple):
    """Names of the tools that an agent has, and of their arguments; empty where nobody knows."""

    names: frozenset[str] = frozenset()
    arguments: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Context:
    """What a checker sees of one brain. ``base`` is the brain before, ``None`` without one."""

    scan: Scan
    inventory: Inventory
    brain: Brain
    base: Brain | None = None
    job_phrases: frozenset[int] = field(default_factory=frozenset)
    limits: Limits = field(default_factory=Limits)
    tools: Tools = field(default_factory=Tools)


class Checker(Protocol):
    """One rule. A module in ``checkers/`` with these three names is one."""

    name: str

    def check(self, context: Context) -> Iterable[Hit]:
        """Every hit in the context's brain, whether it is new or not."""
        ...

    def bait(self, inventory: Inventory) -> Sequence[str]:
        """Texts that the rule must refuse; the gate does not start when one gets through."""
        ...


def name_hit(
    rule: str,
    severity: Severity,
    place: Place,
    name: Name,
    *,
    matched: str | None = None,
    hint: str = GENERAL_HINT,
    strong: bool = False,
) -> Hit:
    """A hit on a name of the inventory."""
    ordered = sorted(name.carriers, key=lambda c: (c.side == "test", c.role != "culprit"))
    owners = tuple(dict.fromkeys(Owner(c.incident, c.side) for c in ordered))
    return Hit(
        rule=rule,
        severity=severity,
        place=place,
        matched=place.source if matched is None else matched,
        identifier=name.surface,
        identifier_type=name.carrier.kind,
        owners=owners,
        hint=hint,
        strong=strong,
        tier=name.tier,
        sources=tuple(
            Provenance(c.incident, c.field, c.role) for c in ordered if c.side == "train"
        )[:SOURCES],
    )


def line_place(row: tuple[Page, int, View], first: int, last: int) -> Place:
    """The place of folded characters ``first`` up to ``last`` of one line."""
    page, number, view = row
    start, end = view.span(first, last)
    return Place(page, number, start + 1, number, end + 1)
