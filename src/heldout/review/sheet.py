"""One proposal as data for one screen: the diff line by line with what is known beside each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from heldout.behaviour.closed_book import closed_book_sentence
from heldout.behaviour.renaming import survival_sentence
from heldout.edit import Edit
from heldout.gate.consistency import Conflict
from heldout.review.decision import Proposed, open_proposal
from heldout.review.divergence import Divergence, divergence
from heldout.review.flags import Flag, Looked, Subject, look
from heldout.review.page import (
    evidence_class,
    measures,
    state_words,
    subject,
    verdict_sentence,
)
from heldout.review.rebasing import has_a_place
from heldout.settings import Settings
from heldout.store import Ledger

RowKind = Literal["file", "hunk", "same", "add", "del"]
MOVED = (
    "The brain in use is no longer the one that this was proposed for, so it cannot be accepted: "
    "reject it, or run 'heldout tune' again."
)
WRITTEN = "Written by a person; the amendment was measured as a whole, not line by line."
KEPT = "Kept by an amendment, which was measured as a whole."


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the diff. ``dropped`` says what happens without it, in ``tone``."""

    kind: RowKind
    text: str
    dropped: str = ""
    tone: Literal["", "good", "bad", "open"] = ""
    conflicts: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """What is known of one edit: what the agent will now do, whom it fixed, what was probed."""

    edit: str
    will_do: str
    because: str = ""
    feared: str = ""
    effect: str = ""
    elsewhere: str = ""
    harmful: bool = False
    probes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring lines of the diff that belong to one edit, or to none."""

    rows: tuple[Row, ...]
    note: Note | None = None


@dataclass(frozen=True, slots=True)
class Sheet:
    """Everything that one screen shows of a proposal; all text in it is as it was stored."""

    proposal: str
    diff_hash: str
    model: str
    set: str
    before: str
    after: str
    evidence_class: str
    verdict: str
    confirmed: bool
    state: str
    waits: bool
    moved: str
    failures: tuple[str, ...]
    looked: tuple[Looked, ...]
    blocks: tuple[Block, ...]
    edits: tuple[str, ...]
    measures: tuple[tuple[str, str], ...]
    divergence: Divergence | None = None


def sheet(settings: Settings, ledger: Ledger, proposal_id: str) -> Sheet:
    """Read a proposal and lay it out; a diff that is not the one proposed is a UsageError."""
    proposed = open_proposal(ledger, proposal_id)
    row, evidence = proposed.row, proposed.row.evidence or {}
    asked = subject(proposed)
    looked = look(asked)
    placed = has_a_place(settings, proposed.before, proposed.after, row.model or "")
    return Sheet(
        proposal=row.proposal,
        diff_hash=row.diff_hash,
        model=row.model or "",
        set=row.set or "",
        before=row.before_hash,
        after=row.after_hash,
        evidence_class=evidence_class(evidence),
        verdict=verdict_sentence(evidence),
        confirmed=bool(evidence.get("confirmed")),
        state=state_words(proposed),
        waits=row.decision is None,
        moved="" if placed else MOVED,
        failures=tuple((evidence.get("behaviour") or {}).get("failures", ())),
        looked=looked,
        blocks=_blocks(
            proposed,
            asked,
            [flag for one in looked for flag in one.flags],
            _origin(ledger, evidence),
        ),
        edits=tuple(edit.id for edit in proposed.edits),
        measures=tuple(measures(evidence)),
        divergence=divergence(ledger, evidence.get("trace_pair")),
    )


@dataclass(slots=True)
class _Known:
    """What is known of lines and edits, by their text."""

    effects: Mapping[str, Mapping[str, Any]]
    conflicts: Sequence[Conflict]
    flags: Sequence[Flag]
    added: list[tuple[str, str]]
    taken: list[tuple[str, str]]
    used: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def owner(self, kind: str, text: str) -> str:
        """The edit that a changed line belongs to, each of its lines once."""
        listed = self.added if kind == "add" else self.taken
        total = Counter((edit, line) for edit, line in listed if line == text)
        for edit, line in total:
            if self.used[(kind, edit, line)] < total[(edit, line)]:
                self.used[(kind, edit, line)] += 1
                return edit
        return ""

    def row(self, kind: RowKind, text: str) -> Row:
        """One line with what is known of it."""
        said = text.strip()
        if kind != "add" or not said:
            return Row(kind, text)
        dropped, tone = _dropped(self.effects.get(said))
        clashes = tuple(
            f"{one.what}: {one.other_file}:{one.other_line} {one.other}"
            for one in self.conflicts
            if one.text == said
        )
        kinds = dict.fromkeys(flag.kind for flag in self.flags if flag.line.strip() == said)
        return Row(kind, text, dropped, tone, clashes, tuple(kinds))


def _origin(ledger: Ledger, evidence: Mapping[str, Any]) -> list[tuple[Edit, Mapping[str, Any]]]:
    """The edits that an amended proposal began with, so that its lines keep what they are for."""
    name = str(evidence.get("amends") or "")
    if not name:
        return []
    older = open_proposal(ledger, name)
    found: list[tuple[Edit, Mapping[str, Any]]] = list(
        zip(older.edits, [dict(one) for one in older.row.edits or []], strict=True)
    )
    return found or _origin(ledger, older.row.evidence or {})


def _blocks(
    proposed: Proposed,
    asked: Subject,
    flags: Sequence[Flag],
    origin: Sequence[tuple[Edit, Mapping[str, Any]]],
) -> tuple[Block, ...]:
    """The diff in order, cut where the edit changes that a line belongs to."""
    known = _known(asked, flags, [edit for edit, _ in (*asked.edits, *origin)])
    notes = {edit.id: _note(edit, stored) for edit, stored in asked.edits}
    notes |= {edit.id: _as_proposed(edit) for edit, _ in origin}
    blocks: list[tuple[str | None, list[Row]]] = []
    for kind, text in diff_lines(proposed.row.diff):
        changed, said = kind in {"add", "del"}, text.strip()
        owner: str | None = None
        if changed and said:
            owner = known.owner(kind, said)
        elif changed:  # A blank line goes with what stands before it.
            owner = (blocks[-1][0] if blocks else None) or ""
        if not blocks or blocks[-1][0] != owner:
            blocks.append((owner, []))
        blocks[-1][1].append(known.row(kind, text))
    own = Note("", WRITTEN) if not proposed.edits else None
    return tuple(
        Block(tuple(rows), None if owner is None else notes.get(owner, own))
        for owner, rows in blocks
    )


def _known(asked: Subject, flags: Sequence[Flag], edits: Sequence[Edit]) -> _Known:
    return _Known(
        effects={str(one["line"]["text"]).strip(): one for one in asked.effects()},
        conflicts=asked.conflicts,
        flags=flags,
        added=[(edit.id, line.strip()) for edit in edits for line in edit.added_lines()],
        taken=[
            (edit.id, op.anchor.strip())
            for edit in edits
            for op in edit.ops
            if op.action in {"replace", "delete"}
        ],
    )


_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


def diff_lines(text: str) -> Iterator[tuple[RowKind, str]]:
    """A unified diff as (kind, line without its mark).

    A hunk's header says how many lines it has: a changed line that looks like a header is shown.
    """
    old = new = 0
    for line in text.splitlines():
        if old > 0 or new > 0:
            mark = line[:1]
            old, new = old - (mark != "+"), new - (mark != "-")
            kinds: Mapping[str, RowKind] = {"+": "add", "-": "del"}
            yield kinds.get(mark, "same"), line[1:]
        elif match := _HUNK.match(line):
            old, new = (int(count) if count is not None else 1 for count in match.groups())
            yield "hunk", line
        elif line.startswith("+++ "):
            yield "file", line[4:].removeprefix("b/")


def _note(edit: Edit, stored: Mapping[str, Any]) -> Note:
    target, guard = stored.get("target") or {}, stored.get("regression") or {}
    unit = stored.get("behaviour") or {}
    probes = []
    if stored.get("closed_book"):
        probes.append(closed_book_sentence(stored["closed_book"]))
    if unit.get("rename"):
        probes.append(survival_sentence(unit["rename"]))
    return Note(
        edit=edit.id,
        will_do=edit.expected_effect or edit.reason,
        because=edit.reason if edit.expected_effect else "",
        feared=edit.feared_harm,
        effect=_counts(target),
        elsewhere=_counts(guard),
        harmful=int(guard.get("broken", 0)) > int(guard.get("fixed", 0)),
        probes=tuple(probes),
    )


def _as_proposed(edit: Edit) -> Note:
    """An edit that an amendment was made of; its own counts were another brain's."""
    return Note("", edit.expected_effect or edit.reason, because=KEPT, feared=edit.feared_harm)


def _counts(effect: Mapping[str, Any]) -> str:
    if not effect.get("pairs"):
        return "not played"
    return f"{effect['fixed']} fixed, {effect['broken']} broken of {effect['pairs']}"


def _dropped(
    effect: Mapping[str, Any] | None,
) -> tuple[str, Literal["", "good", "bad", "open"]]:
    """What dropping a line did, short; empty where it was not tried as a line of its own."""
    if effect is None:
        return "", ""
    counts = f"{effect['lost']} of {effect['pairs']} fail again"
    kinds = f"{effect['leaning']} of {effect['tried']} kinds of incident need it"
    said: Mapping[str, tuple[str, Literal["good", "bad", "open"]]] = {
        "several": (f"{counts}; {kinds}", "good"),
        "case_specific": (f"{counts}; one kind of incident alone needs it", "bad"),
        "none": (f"{counts}; nothing needs it", "bad"),
        "undecided": (f"undecided: {counts}" if effect["pairs"] else "not tried", "open"),
    }
    return said[str(effect["verdict"])]
