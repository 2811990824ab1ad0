"""Two agents on one episode: what each may do, and the notebook between them."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from tests.repair.played import look, repair, report

from heldout.repair.grade import grade
from heldout.repair.interface import RepairInterface
from heldout.repair.pairing import (
    MAX_NOTE,
    MAX_NOTES,
    SEATS,
    Notebook,
    SeatSession,
    all_tools,
    allowed,
    pair,
)
from heldout.repair.tasks import task, tasks
from heldout.repair.tools import TOOLS
from heldout.repair.trajectory import record
from heldout.repair.verifying import verify

TASK = next(
    one.id
    for one in tasks().values()
    if one.template.name == "features-after-cache" and not one.seed
)
CHANGING = {"edit_lines", "revert_edit", "rollback_migration", "submit_report"}


@pytest.fixture
def seats() -> Iterator[tuple[SeatSession, SeatSession]]:
    """Both seats of one episode."""
    both = pair(RepairInterface().open(TASK, seed=0))
    yield both
    both[0].close()


def test_every_tool_belongs_to_somebody():
    """No tool is lost, and whatever changes something is the repairer's alone."""
    investigator, repairer = (allowed(seat) for seat in SEATS)
    assert investigator | repairer == set(TOOLS) | {"write_note", "read_notes"}
    assert repairer >= CHANGING
    assert not investigator & CHANGING


def test_a_seat_is_told_of_its_tools_alone(seats: tuple[SeatSession, SeatSession]):
    """Specs are the partition, each once, and no refusal stands among them."""
    for session in seats:
        names = [one.name for one in session.tool_specs()]
        assert sorted(names) == sorted(allowed(session.seat))


def test_who_investigates_changes_nothing(seats: tuple[SeatSession, SeatSession]):
    """Each tool of the other seat is refused with its arguments unread; the code stays as it is."""
    investigator, repairer = seats
    before = investigator.session.episode.workspace.tree.digest
    for name in sorted(allowed("repairer") - allowed("investigator")):
        answer = investigator.call(name, {"path": "shared/db.py", "first": 1, "text": "x = 1"})
        assert answer.is_error
        assert json.loads(answer.text)["error"] == "not_yours"
    answer = repairer.call("read_logs", {"service": "ad_ranking"})
    assert json.loads(answer.text)["error"] == "not_yours"
    episode = investigator.session.episode
    assert episode.workspace.tree.digest == before
    assert episode.ended == ""
    assert len(episode.steps) == len(allowed("repairer") - allowed("investigator")) + 1
    # The control: the same call from the other seat is answered.
    edit = {"path": "shared/settings.py", "action": "insert", "first": 1, "text": "# seen"}
    assert not repairer.call("edit_lines", edit).is_error


def test_what_one_finds_the_other_reads(seats: tuple[SeatSession, SeatSession]):
    """A note is there for both; one that does not fit is refused and says what is left."""
    investigator, repairer = seats
    assert not investigator.call("write_note", {"text": "only the warm path fails"}).is_error
    notes = json.loads(repairer.call("read_notes", {}).text)["notes"]
    assert notes == [{"note": 1, "text": "only the warm path fails"}]
    assert repairer.call("write_note", {"text": "x" * (MAX_NOTE + 1)}).is_error
    for _ in range(MAX_NOTES // MAX_NOTE):
        last = investigator.call("write_note", {"text": "y" * MAX_NOTE})
    said = json.loads(last.text)
    assert (said["error"], said["characters_left"]) == ("full", MAX_NOTES - 3 * MAX_NOTE - 24)


def test_together_they_earn_what_one_earns(seats: tuple[SeatSession, SeatSession]):
    """One looks, the other repairs and reports with the ids of both; the row can be proved."""
    investigator, _ = seats
    episode = investigator.session.episode
    look(episode)
    investigator.call("write_note", {"text": f"evidence: {sorted(episode.shown)[:3]}"})
    repair(episode, episode.instance.template.fix)
    report(episode)
    found = grade(episode)
    assert found.score is not None
    assert found.score >= 0.95
    row = record(episode, task(TASK), found, mode="pair")
    assert verify(row).proved


def test_two_notebooks_are_two():
    """Tools made for one notebook write into that one."""
    one, two = Notebook(), Notebook()
    assert all_tools(one).keys() == all_tools(two).keys()
    one.notes.append("a")
    assert (one.left, two.left) == (MAX_NOTES - 1, MAX_NOTES)
