"""What the probes say of a change: per edit, per line, and of the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heldout.behaviour.ablation import LineEffect, line_sentence
from heldout.behaviour.closed_book import ClosedBook, closed_book_sentence
from heldout.behaviour.renaming import Survival, survival_sentence
from heldout.terminal import visible

TELLS = "with the alert alone the model names causes that it could not name before"
LOST = "its effect does not survive other names and values"
_WIDTH = 160


@dataclass(frozen=True, slots=True)
class UnitReport:
    """One edit, or one whole change: its lines, and whether its effect survives renaming.

    ``needed`` of the ``tried`` incidents fail again without all of it: lines that cover one another
    are needed together though none is alone.
    """

    name: str
    lines: tuple[LineEffect, ...]
    rename: Survival | None = None
    needed: int = 0
    tried: int = 0

    def plain(self) -> dict[str, Any]:
        """Plain data for the ledger."""
        return {
            "name": self.name,
            "rename": self.rename.plain() if self.rename else None,
            "lines": [line.plain() for line in self.lines],
            "needed": self.needed,
            "tried": self.tried,
        }


@dataclass(frozen=True, slots=True)
class BehaviourReport:
    """All probes of one change. A probe that did not run is ``None``, and ``notes`` say why."""

    closed_book: ClosedBook | None
    rename: Survival | None
    units: tuple[UnitReport, ...]
    canaries: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    simulated: bool = False

    def plain(self) -> dict[str, Any]:
        """Plain data, for the ledger and for ``--json``; ``failures`` are derived."""
        plain = {
            "closed_book": self.closed_book.plain() if self.closed_book else None,
            "rename": self.rename.plain() if self.rename else None,
            "units": [unit.plain() for unit in self.units],
            "canaries": list(self.canaries),
            "notes": list(self.notes),
            "simulated": self.simulated,
        }
        return {**plain, "passed": not failures(plain), "failures": failures(plain)}

    @property
    def passed(self) -> bool:
        """False where a probe decided against the change; what is undecided does not fail."""
        return bool(self.plain()["passed"])

    def text(self) -> str:
        """The report for a terminal."""
        return "\n".join(report_lines(self.plain()))


def failures(plain: Mapping[str, Any]) -> list[str]:
    """Why a change as a whole may not pass; from plain data, as it is stored."""
    said = []
    if (plain.get("closed_book") or {}).get("verdict") == "rises":
        said.append(TELLS)
    if (plain.get("rename") or {}).get("verdict") == "lost":
        said.append(LOST)
    lost = [unit for unit in plain.get("units", ()) if unit_failure(unit)]
    said += [f"edit {unit['name']}: {LOST}" for unit in lost if len(plain["units"]) > 1]
    if lost and not said:
        said.append(LOST)
    return said + list(plain.get("canaries", ()))


def unit_failure(unit: Mapping[str, Any]) -> str:
    """Why one edit may not pass, empty where nothing decided against it."""
    return LOST if (unit.get("rename") or {}).get("verdict") == "lost" else ""


def summary_lines(plain: Mapping[str, Any]) -> list[str]:
    """What the probes say of the whole change, for a reviewer; its lines are shown beside edits."""
    lines = []
    if plain.get("closed_book"):
        lines.append(closed_book_sentence(plain["closed_book"]))
    if plain.get("rename"):
        lines.append(survival_sentence(plain["rename"]))
    special = sum(
        line["verdict"] == "case_specific" for unit in plain["units"] for line in unit["lines"]
    )
    if special:
        lines.append(f"LOOK: {special} line(s) help on one kind of incident only")
    return [*lines, *(f"not probed: {note}" for note in plain.get("notes", ()))]


def unit_lines(unit: Mapping[str, Any]) -> dict[str, str]:
    """What is said of each line of an edit, by the line's text."""
    return {one["line"]["text"].strip(): line_sentence(one) for one in unit.get("lines", ())}


def report_lines(plain: Mapping[str, Any]) -> list[str]:
    """The whole report as lines of text."""
    verdict = "passed" if plain["passed"] else "NOT PASSED"
    lines = [f"behaviour {verdict}"]
    lines += [f"  because: {why}" for why in plain["failures"]]
    if plain.get("simulated"):
        lines.append("  a simulated model was asked: this tests the mechanism, not a real model")
    lines += [f"  {said}" for said in summary_lines(plain)]
    for unit in plain["units"]:
        if unit["name"]:
            lines.append(f"edit {unit['name']}")
        if unit.get("rename") and unit["rename"] != plain.get("rename"):
            lines.append(f"  {survival_sentence(unit['rename'])}")
        lines += effect_lines(unit["lines"])
    clean = "canaries: none where they may not stand"
    lines += [f"canaries: {one}" for one in plain["canaries"]] or [clean]
    return lines


def effect_lines(effects: Sequence[Mapping[str, Any]]) -> list[str]:
    """Each added line with its place, and under it what dropping it did."""
    said = []
    for one in effects:
        line = one["line"]
        said.append(f"  {line['file']}:{line['number']} + {visible(line['text'], _WIDTH)}")
        said.append(f"      {line_sentence(one)}")
    return said
