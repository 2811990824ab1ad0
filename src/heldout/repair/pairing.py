"""Two agents on one episode: one investigates, one repairs, and a notebook lies between them.

Who investigates has tools that change nothing; who repairs sees files and edits, tests and reports.
What either finds out, the other learns only from the notebook. Both share the clock, the steps and
the grade; notes are steps of the episode, so that a trajectory of a pair can be proved as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from heldout.interface import Submission, ToolAnswer, ToolSpec
from heldout.repair.interface import RepairSession
from heldout.repair.tools import TOOLS
from heldout.repair.tools.tool import Arguments, Nothing, Shown, Tool, ToolRefused

if TYPE_CHECKING:
    from heldout.repair.episode import Episode

Seat = Literal["investigator", "repairer"]
SEATS: tuple[Seat, ...] = get_args(Seat)

MAX_NOTE = 1_000
MAX_NOTES = 4_000
"""Characters of one note and of the whole notebook: findings fit, transcripts do not."""

_BOTH = frozenset({"view_file", "show_diff", "write_note", "read_notes"})
_REPAIRER = frozenset(
    {"edit_lines", "revert_edit", "rollback_migration", "run_tests", "submit_report"}
)


class WriteNote(Arguments):
    """Arguments of write_note."""

    text: str = Field(min_length=1, max_length=MAX_NOTE, description="what the other should know")


@dataclass
class Notebook:
    """Notes in the order in which they were written; none is ever taken out."""

    notes: list[str] = field(default_factory=list)

    @property
    def left(self) -> int:
        """Characters that still fit."""
        return MAX_NOTES - sum(map(len, self.notes))

    def tools(self) -> tuple[Tool, Tool]:
        """Writing and reading, as tools of an episode."""
        return (
            Tool("write_note", "Write a note into the notebook that you share.", WriteNote,
                 self._write),
            Tool("read_notes", "Read the notebook that you share.", Nothing, self._read),
        )  # fmt: skip

    def _write(self, _: Episode, args: WriteNote) -> Shown:
        if len(args.text) > self.left:
            raise ToolRefused("full", "the note does not fit", characters_left=self.left)
        self.notes.append(args.text)
        return Shown({"note": len(self.notes), "characters_left": self.left}, minutes=0.5)

    def _read(self, _: Episode, args: Nothing) -> Shown:
        rows = [{"note": at, "text": text} for at, text in enumerate(self.notes, 1)]
        return Shown({"notes": rows, "characters_left": self.left}, minutes=0.5)


class _Anything(BaseModel):
    """Arguments that do not matter."""

    model_config = ConfigDict(extra="ignore")


def _refusing(tool: str, seat: Seat) -> Tool:
    """What is called where a seat asks for a tool that is the other's."""

    def refuse(_: Episode, __: _Anything) -> Shown:
        yours = sorted(allowed(seat))
        raise ToolRefused("not_yours", f"{tool} is not for the {seat}; leave a note", yours=yours)

    return Tool(f"{tool}@{seat}", "", _Anything, refuse)


def all_tools(notebook: Notebook) -> dict[str, Tool]:
    """Every tool of an episode that two share, and a refusal for each that a seat may not use.

    Refusals are tools of the episode so that they are steps like others and can be played again.
    """
    made = {**TOOLS, **{tool.name: tool for tool in notebook.tools()}}
    refusals = [_refusing(name, seat) for seat in SEATS for name in made
                if name not in allowed(seat)]  # fmt: skip
    return {**made, **{one.name: one for one in refusals}}


def allowed(seat: Seat) -> frozenset[str]:
    """The tools of a seat; every tool belongs to one of the two or to both."""
    if seat == "repairer":
        return _BOTH | _REPAIRER
    return frozenset(TOOLS) - _REPAIRER | _BOTH


class SeatSession:
    """One of the two as a harness sees it; a :class:`~heldout.interface.Session`."""

    def __init__(self, session: RepairSession, seat: Seat) -> None:
        self.session = session
        self.seat = seat

    def tool_specs(self) -> tuple[ToolSpec, ...]:
        """The seat's tools, in stable order."""
        mine = allowed(self.seat)
        given = self.session.episode.tools.values()
        return tuple(one.spec() for one in given if one.name in mine)

    def call(self, tool: str, args: Mapping[str, Any]) -> ToolAnswer:
        """Answer one call; a tool of the other seat is refused, and costs as a refusal does."""
        if f"{tool}@{self.seat}" in self.session.episode.tools:
            return self.session.call(f"{tool}@{self.seat}", args)
        return self.session.call(tool, args)

    def opening(self) -> str:
        """What stands at the beginning, the same for both."""
        return self.session.opening()

    def finish(self) -> Submission | None:
        """The report of the one who repairs."""
        return self.session.finish()

    def close(self) -> None:
        """End the episode for both."""
        self.session.close()


def pair(session: RepairSession) -> tuple[SeatSession, SeatSession]:
    """The two seats of a session that was just opened: who investigates, who repairs."""
    session.episode.tools = all_tools(Notebook())
    investigator, repairer = (SeatSession(session, seat) for seat in SEATS)
    return investigator, repairer
