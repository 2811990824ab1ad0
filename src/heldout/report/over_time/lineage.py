"""What the brain in use says against the first one in the ledger, and where each line comes from.

Decisions are walked in order. An accepted proposal is replayed edit by edit, so that every line
that came in or went knows its edit; what changed between two decisions came from outside them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from heldout.brain import APPEND, Brain, load_brain
from heldout.edit import apply_edit
from heldout.errors import HeldoutError
from heldout.review.decision import edits_of
from heldout.settings import Settings
from heldout.store import Ledger, first_brain, queries
from heldout.store import brain as stored_brain
from heldout.store.queries import DecisionRow, ProposalRow


@dataclass(frozen=True, slots=True)
class Origin:
    """The edit and proposal that a line came in by, or went by, and who accepted it.

    Without a proposal it is nobody's edit: somebody changed the file. Without an edit the proposal
    was amended and stands as a whole.
    """

    edit: str = ""
    proposal: str = ""
    model: str = ""
    name: str = ""
    at: int = 0

    def words(self) -> str:
        """For people."""
        if not self.proposal:
            return "changed outside any proposal"
        what = f"edit {self.edit} of {self.proposal}" if self.edit else f"{self.proposal}, amended"
        return f"{what}, accepted by {self.name or 'somebody unnamed'}"


@dataclass(frozen=True, slots=True)
class BrainLine:
    """A line that is new, or one that is gone; ``number`` counts in the brain that has it."""

    kind: Literal["add", "del"]
    number: int
    text: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file's new and gone lines, in the order of the file."""

    file: str
    lines: tuple[BrainLine, ...]


@dataclass(frozen=True, slots=True)
class BrainChange:
    """The brain in use against the first one in the ledger. ``base_at`` in microseconds, UTC."""

    base: str
    base_at: int
    now: str
    files: tuple[FileChange, ...]
    note: str = ""
    """Why nothing can be said, where that is so."""

    @property
    def lines(self) -> tuple[BrainLine, ...]:
        """All lines of all files."""
        return tuple(line for one in self.files for line in one.lines)

    def count(self, kind: str) -> int:
        """How many lines are new (``add``) or gone (``del``)."""
        return sum(line.kind == kind for line in self.lines)


OUTSIDE = Origin()


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a brain on its way: its number in the base (from 1), or what brought it in."""

    text: str
    base: int = 0
    origin: Origin = OUTSIDE


@dataclass(frozen=True, slots=True)
class _Traced:
    """A brain whose lines know where they come from; ``gone`` is by file and number in the base."""

    files: Mapping[str, Sequence[_Line]]
    gone: Mapping[tuple[str, int], Origin] = field(default_factory=dict)

    @classmethod
    def of(cls, brain: Brain) -> _Traced:
        """The base."""
        return cls(
            {
                name: [_Line(line, number) for number, line in enumerate(text.splitlines(), 1)]
                for name, text in brain.all_files().items()
            }
        )

    def step(self, brain: Brain, origin: Origin) -> _Traced:
        """The same after a change by ``origin`` to ``brain``."""
        files: dict[str, Sequence[_Line]] = {}
        gone = dict(self.gone)
        texts = brain.all_files()
        for name in dict.fromkeys([*self.files, *texts]):
            held = self.files.get(name, ())
            kept: list[_Line] = []
            target = texts.get(name, "").splitlines()
            for tag, i1, i2, j1, j2 in _opcodes([one.text for one in held], target):
                if tag == "equal":
                    kept += held[i1:i2]
                    continue
                gone.update({(name, one.base): origin for one in held[i1:i2] if one.base})
                kept += [_Line(text, origin=origin) for text in target[j1:j2]]
            if name in texts:
                files[name] = kept
        return _Traced(files, gone)


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    return difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes()


def brain_change(ledger: Ledger, settings: Settings) -> BrainChange | None:
    """The brain in use against the first one that the ledger kept; ``None`` before there is one.

    What cannot be read, on disk or in the ledger, is said in ``note``: a report is more than this.
    """
    first = first_brain(ledger)
    if first is None:
        return None
    base, at = first
    try:
        now = load_brain(settings.brain)
    except HeldoutError as error:
        return BrainChange(base.hash, at, "", (), f"the brain in use cannot be read: {error.what}")
    try:
        traced = _walk(ledger, base, now)
    except HeldoutError as error:
        return BrainChange(base.hash, at, now.hash, (), f"its past cannot be read: {error.what}")
    files = [_file_change(name, base, now, traced) for name in _names(base, now)]
    return BrainChange(base.hash, at, now.hash, tuple(one for one in files if one.lines))


def _names(base: Brain, now: Brain) -> list[str]:
    return list(dict.fromkeys([*now.all_files(), *base.all_files()]))


def _walk(ledger: Ledger, base: Brain, now: Brain) -> _Traced:
    """The brain in use, traced through every decision and every return to an earlier brain."""
    proposed = {row.proposal: row for row in queries.proposals(ledger)}
    known = {base.hash: _Traced.of(base)}
    last = known[base.hash]
    steps: list[tuple[int, DecisionRow | str]] = [
        (row.at, row) for row in queries.decisions(ledger) if row.action == "accept"
    ]
    steps += [
        (row.at, row.brain_hash) for row in queries.releases(ledger) if row.action == "revert"
    ]
    for _, step in sorted(steps, key=lambda one: one[0]):
        if isinstance(step, str):
            if step not in known:
                known[step] = last.step(stored_brain(ledger, step), OUTSIDE)
            last = known[step]
        elif step.proposal in proposed:
            last = _accepted(ledger, step, proposed[step.proposal], known, last)
    return known[now.hash] if now.hash in known else last.step(now, OUTSIDE)


def _accepted(
    ledger: Ledger,
    decision: DecisionRow,
    proposal: ProposalRow,
    known: dict[str, _Traced],
    last: _Traced,
) -> _Traced:
    """The trace after one accepted proposal; ``known`` gains its brain before and after."""
    said = decision.edits if isinstance(decision.edits, dict) else {}
    # Another model's overlay may have changed since it was proposed: what it was laid on counts.
    before = stored_brain(ledger, str(said.get("before") or proposal.before_hash))
    after = stored_brain(ledger, str(said.get("after") or proposal.after_hash))
    whole = Origin(
        proposal=proposal.proposal,
        model=proposal.model or "",
        name=decision.name or "",
        at=decision.at,
    )
    if before.hash not in known:
        known[before.hash] = last.step(before, OUTSIDE)
    traced = known[before.hash]
    for edit, brain in _replayed(proposal, before, said.get("only") or ()):
        traced = traced.step(brain, replace(whole, edit=edit))
    known[after.hash] = traced.step(after, whole)
    return known[after.hash]


def _replayed(
    proposal: ProposalRow, before: Brain, only: Sequence[str]
) -> Iterator[tuple[str, Brain]]:
    """Each accepted edit with the brain after it; ends early where an edit does not apply.

    What is missing then, the proposal as a whole has to answer for.
    """
    brain = before
    try:
        for edit in edits_of(proposal):
            if only and not any(edit.id.startswith(one) for one in only):
                continue
            brain = apply_edit(brain, edit)
            yield edit.id, brain
    except HeldoutError:
        return


def _says(line: str) -> bool:
    """True for what a model reads: no blank line, and not the mark of an overlay."""
    return line.strip() not in ("", APPEND)


def _file_change(name: str, base: Brain, now: Brain, traced: _Traced) -> FileChange:
    old = base.all_files().get(name, "").splitlines()
    new = now.all_files().get(name, "").splitlines()
    held = traced.files.get(name, ())
    lines: list[BrainLine] = []
    for tag, i1, i2, j1, j2 in _opcodes(old, new):
        if tag == "equal":
            continue
        lines += [
            BrainLine("del", i + 1, old[i], traced.gone.get((name, i + 1), OUTSIDE))
            for i in range(i1, i2)
            if _says(old[i])
        ]
        lines += [
            BrainLine("add", j + 1, new[j], held[j].origin) for j in range(j1, j2) if _says(new[j])
        ]
    return FileChange(name, tuple(lines))
