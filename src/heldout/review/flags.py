"""What a reviewer must not miss: over-correction, a leak in other words, padding, contradictions.

Nothing is measured here. Each signal is made where it belongs (controls and screening in ``tune``,
the probes in ``behaviour``, a reviewing model and the comparison of lines in ``gate``); this room
says which of them speak against a proposal, and which were never asked: silence of a probe that did
not run is no acquittal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from heldout.behaviour.ablation import LEAST
from heldout.behaviour.closed_book import closed_book_sentence
from heldout.behaviour.renaming import survival_sentence
from heldout.edit import Edit
from heldout.gate.consistency import Conflict
from heldout.gate.reviewer import NO_ANSWER
from heldout.review.wording import allows_no_exception

OVER, LEAK, PADDING = "over-correction", "leak in other words", "padding"
CONTRADICTION = "contradiction"
State = Literal["flag", "look", "clear", "not measured"]
IDLE = 2
"""Lines that nothing needs, beside needed ones, from which a proposal is called padded."""
FEWEST_CONTROLS = 5
"""Train controls below which unbroken ones clear nobody: half of all such may still break."""


@dataclass(frozen=True, slots=True)
class Flag:
    """One remark. ``flag``: a measurement speaks against it; ``look``: a person must judge.

    ``line`` is the added line that it is about, empty where it is about more.
    """

    kind: str
    weight: Literal["flag", "look"]
    said: str
    line: str = ""


@dataclass(frozen=True, slots=True)
class Looked:
    """What came of looking for one kind of fault; ``missing`` says what could not be looked at."""

    kind: str
    flags: tuple[Flag, ...]
    missing: tuple[str, ...] = ()

    @property
    def state(self) -> State:
        """The worst of its flags; without any, whether something was measured at all."""
        weights = {flag.weight for flag in self.flags}
        if weights:
            return "flag" if "flag" in weights else "look"
        return "not measured" if self.missing else "clear"

    def lines(self) -> list[str]:
        """Each remark with the kind in upper case, and what was not measured, for a terminal."""
        if self.state == "clear":
            return [f"{self.kind}: nothing found"]
        found = [f"{self.kind.upper()} ({flag.weight}): {flag.said}" for flag in self.flags]
        return found + [f"{self.kind}: not measured, {why}" for why in self.missing]


@dataclass(frozen=True, slots=True)
class Subject:
    """What is looked at: the added lines, the edits as stored, the evidence, pairs of lines."""

    added: Sequence[str]
    edits: Sequence[tuple[Edit, Mapping[str, Any]]]
    evidence: Mapping[str, Any]
    conflicts: Sequence[Conflict] = ()

    @property
    def behaviour(self) -> Mapping[str, Any]:
        """What the probes found; empty where none ran."""
        return self.evidence.get("behaviour") or {}

    def effects(self) -> list[Mapping[str, Any]]:
        """What dropping each line did, of every edit."""
        return [one for unit in self.behaviour.get("units", ()) for one in unit.get("lines", ())]


def look(subject: Subject) -> tuple[Looked, ...]:
    """Every kind of fault in a fixed order, found or not."""
    return (
        Looked(OVER, tuple(_over_correction(subject)), tuple(_no_controls(subject.evidence))),
        Looked(LEAK, tuple(_leak(subject)), tuple(_unprobed(subject, "alert only", "renaming"))),
        Looked(PADDING, tuple(_padding(subject)), tuple(_unprobed(subject, "dropping lines"))),
        Looked(CONTRADICTION, tuple(_contradictions(subject.conflicts))),
    )


def _over_correction(subject: Subject) -> Iterator[Flag]:
    controls = subject.evidence.get("controls") or {}
    incidents, broken = int(controls.get("incidents", 0)), int(controls.get("broken_incidents", 0))
    if broken:
        yield Flag(OVER, "flag", f"it broke {broken} of {incidents} train controls")
    elif int(controls.get("broken", 0)) > int(controls.get("fixed", 0)):
        said = f"{controls['broken']} of {controls['pairs']} investigations of train controls broke"
        yield Flag(OVER, "look", f"{said}, {controls['fixed']} were fixed")
    for edit, stored in subject.edits:
        guard = stored.get("regression") or {}
        if int(guard.get("broken", 0)) > int(guard.get("fixed", 0)):
            said = f"edit {edit.id} broke {guard['broken']} of {guard['pairs']} that passed before"
            yield Flag(OVER, "look", said)
    for line in subject.added:
        if allows_no_exception(line):
            yield Flag(OVER, "look", f"it blames or clears by age alone: '{line.strip()}'", line)


def _no_controls(evidence: Mapping[str, Any]) -> Iterator[str]:
    controls = evidence.get("controls") or {}
    played = int(controls.get("incidents", 0)) if controls.get("pairs") else 0
    if played < FEWEST_CONTROLS:
        yield f"{played or 'no'} train control(s) played: too few to see harm"


def _leak(subject: Subject) -> Iterator[Flag]:
    told = subject.behaviour.get("closed_book") or {}
    if told.get("verdict") in {"rises", "undecided"}:
        weight: Literal["flag", "look"] = "flag" if told["verdict"] == "rises" else "look"
        yield Flag(LEAK, weight, closed_book_sentence(told))
    survived = subject.behaviour.get("rename") or {}
    if survived.get("verdict") == "lost":
        yield Flag(LEAK, "flag", survival_sentence(survived))
    for unit in subject.behaviour.get("units", ()):
        lost = unit.get("rename") or {}
        if lost.get("verdict") == "lost" and lost != survived:
            yield Flag(LEAK, "flag", f"edit {unit['name']}: {survival_sentence(lost)}")
    for effect in subject.effects():
        if effect["verdict"] == "case_specific":
            text = str(effect["line"]["text"])
            said = f"one kind of incident alone needs '{text.strip()}'"
            yield Flag(LEAK, "look", said, text)
    for edit, stored in subject.edits:
        yield from _of_edit(edit, stored)


def _of_edit(edit: Edit, stored: Mapping[str, Any]) -> Iterator[Flag]:
    """What was found of one edit before it was kept: the alert alone, a reviewing model."""
    told = stored.get("closed_book") or {}
    if told.get("verdict") in {"rises", "undecided"}:
        yield Flag(LEAK, "look", f"edit {edit.id}, {closed_book_sentence(told)}")
    review = stored.get("review") or {}
    for one in review.get("findings", ()):
        if one["identifier_type"] != NO_ANSWER:
            said = f"reviewer {review.get('model', '')} on '{one['matched']}': {one['hint']}"
            yield Flag(LEAK, "look", said, str(one["matched"]))


def _unprobed(subject: Subject, *names: str) -> Iterator[str]:
    """Which of the probes did not run, and why; the notes begin with a probe's name."""
    if not subject.behaviour:
        yield "the proposal was not probed"
        return
    for note in subject.behaviour.get("notes", ()):
        if str(note).startswith((*names, "the rest")):
            yield str(note)


def _padding(subject: Subject) -> Iterator[Flag]:
    units = [_Idle.of(unit) for unit in subject.behaviour.get("units", ())]
    beside = sum(len(unit.lines) for unit in units if unit.others_needed)
    for unit in units:
        yield from unit.flags(heavy=beside >= IDLE)
    for pair in subject.conflicts:
        if "same" in pair.what:
            yield Flag(PADDING, "look", conflict_sentence(pair), pair.text)


@dataclass(frozen=True, slots=True)
class _Idle:
    """The lines of one edit that no incident needs, and what is known of the edit as a whole."""

    name: str
    lines: tuple[str, ...]
    others_needed: bool
    needed: int
    tried: int

    @classmethod
    def of(cls, unit: Mapping[str, Any]) -> _Idle:
        tried = [one for one in unit.get("lines", ()) if one["pairs"]]
        idle = tuple(str(one["line"]["text"]) for one in tried if one["verdict"] == "none")
        return cls(
            str(unit.get("name") or "the change"),
            idle,
            len(idle) < len(tried),
            int(unit.get("needed", 0)),
            int(unit.get("tried", 0)),
        )

    def flags(self, *, heavy: bool) -> Iterator[Flag]:
        """Lines beside needed ones; an edit that nothing needs; lines that cover one another."""
        if self.lines and self.needed and not self.others_needed and len(self.lines) > 1:
            said = f"{self.name} is needed by {self.needed} of {self.tried} incidents, and no line"
            yield Flag(PADDING, "look", f"{said} of it alone: they cover one another, or pad it")
            return
        weight: Literal["flag", "look"] = "flag" if heavy and self.others_needed else "look"
        why = "no incident that was tried needs"
        if not self.others_needed and not self.needed and self.tried >= LEAST:
            weight = "flag"
            why = f"without all of {self.name} none of {self.tried} incidents failed again, so not"
        for text in self.lines:
            yield Flag(PADDING, weight, f"{why} '{text.strip()}'", text)


def _contradictions(conflicts: Sequence[Conflict]) -> Iterator[Flag]:
    for pair in conflicts:
        if "same" not in pair.what:
            yield Flag(CONTRADICTION, "look", conflict_sentence(pair), pair.text)


def conflict_sentence(pair: Conflict) -> str:
    """Which line says what of which, in one sentence."""
    word = {"the opposite": "the opposite of", "another number": "another number than"}
    link = word.get(pair.what, f"{pair.what} as")
    return f"'{pair.text}' says {link} {pair.other_file}:{pair.other_line} '{pair.other}'"
