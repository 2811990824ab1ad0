"""Trajectories: rows that are played again, and every alteration found and named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.repair.played import ask, look, repair, report
from typer.testing import CliRunner

from heldout.cli.main import app
from heldout.errors import SplitViolation, UsageError
from heldout.repair import trajectory
from heldout.repair.episode import Episode, beginning, linked
from heldout.repair.grade import grade
from heldout.repair.pairing import Notebook, all_tools
from heldout.repair.reward import Rewards
from heldout.repair.sandbox.runner import Sandbox
from heldout.repair.tasks import Task, tasks
from heldout.repair.trajectory import Trajectory, altered, read, record, require_train
from heldout.repair.verifying import Verified, verify, verify_file

TRAIN = next(
    one for one in tasks().values() if one.template.name == "features-after-cache" and not one.seed
)
HELD_OUT = next(one for one in tasks().values() if one.half == "test")


def played(one: Task = TRAIN, *, mended: bool = True, rewarded: bool = False) -> Trajectory:
    """A short episode of a task as a row."""
    rewards = Rewards() if rewarded else None
    episode = Episode(one.instance(), Sandbox(), watch=rewards)
    if mended:
        look(episode)
        repair(episode, one.template.fix)
    ask(episode, "list_alerts")
    report(episode)
    found = record(episode, one, grade(episode), rewards=rewards)
    episode.close()
    return found


@pytest.fixture(scope="module")
def row() -> Trajectory:
    """One good row."""
    return played()


def forged(row: Trajectory, **update: Any) -> Trajectory:
    """A row that was altered by somebody who makes chain and seal anew."""
    changed = row.model_copy(update=update)
    before, steps = beginning(TRAIN.instance()), []
    for at, one in enumerate(changed.steps, 1):
        step = one.model_copy(update={"number": at})
        before = linked(before, step.step())
        steps.append(step.model_copy(update={"chain": before}))
    return changed.model_copy(update={"steps": tuple(steps)}).sealed()


def with_step(row: Trajectory, at: int, **update: Any) -> tuple[Any, ...]:
    """The steps of a row, one of them with other fields."""
    steps = list(row.steps)
    steps[at] = steps[at].model_copy(update=update)
    return tuple(steps)


def test_a_row_is_proved(row: Trajectory):
    """What was played and written is what is read and played again."""
    again = read(row.line())
    assert again == row
    assert altered(row) == ()
    assert row.score is not None
    assert row.score >= 0.9
    assert verify(again) == Verified("", TRAIN.id, "proved")


@pytest.mark.slow
def test_rewards_are_proved_as_well():
    """A rewarded row; false rewards with a new seal are found."""
    rewarded = played(mended=False, rewarded=True)
    assert rewarded.rewards is not None
    assert verify(rewarded).proved
    false = forged(rewarded, rewards=(1.0, *rewarded.rewards[1:]))
    assert verify(false).findings == ("rewards: they are not what the code gives",)


def test_a_pair_that_says_it_was_one_is_found():
    """Notes are steps of the episode, which one agent alone has no tool for."""
    episode = Episode(TRAIN.instance(), Sandbox(), tools=all_tools(Notebook()))
    ask(episode, "write_note", text="the cache gives plain data")
    found = record(episode, TRAIN, grade(episode), mode="pair")
    episode.close()
    assert verify(forged(found, mode="single")).status == "altered"


@pytest.mark.parametrize(
    ("update", "named"),
    [
        (
            lambda row: {"steps": with_step(row, 1, text="{}")},
            "step 2 (read_logs): its observation",
        ),
        (
            lambda row: {"steps": with_step(row, 1, arguments={"service": "ad_ranking"})},
            "step 2 (read_logs): its observation",
        ),
        (lambda row: {"steps": with_step(row, 2, tool="list_files")}, "step 3 (list_files)"),
        (lambda row: {"steps": with_step(row, 3, minute=0.0)}, "step 4 (git_log): its minute"),
        (
            lambda row: {"steps": with_step(row, 0, is_error=True)},
            "step 1 (list_alerts): its is_er",
        ),
        (lambda row: {"steps": with_step(row, 5, tree="0" * 64)}, "step 6 (edit_lines): its tree"),
        (lambda row: {"steps": (*row.steps[1::-1], *row.steps[2:])}, "step 1 (read_logs): its min"),
        (lambda row: {"steps": row.steps[:-1]}, "end: the episode ends with 'closed'"),
        (lambda row: {"steps": (*row.steps, row.steps[0])}, "the episode had ended (submitted)"),
        (lambda row: {"ended": "sla"}, "end: the episode ends with 'submitted'"),
        (lambda row: {"opening": "{}"}, "opening:"),
        (lambda row: {"grade": {**row.grade, "score": 0.5}}, "grade: 'score'"),
        (lambda row: {"grade": {**row.grade, "repaired": 1}}, "grade: 'repaired'"),
        (lambda row: {"grade": {**row.grade, "parts": {}}}, "grade: 'parts'"),
    ],
)
def test_a_forgery_with_a_new_chain_is_found_by_playing(row: Trajectory, update: Any, named: str):
    """Action, answer, order, end and grade: the chain fits, and the replay names what is false."""
    false = forged(row, **update(row))
    assert altered(false) == ()
    found = verify(false)
    assert found.status == "altered"
    assert any(named in one for one in found.findings), found.findings


@settings(max_examples=400, deadline=None, derandomize=True)
@given(data=st.data())
def test_any_byte_of_any_step_that_flips_is_found(row: Trajectory, data: st.DataObject):
    """One bit of one byte, anywhere in the steps: not read, or named by its step; nothing is run."""
    line = row.line().encode()
    begin, end = line.index(b'"steps":['), line.index(b'"task":')
    at = data.draw(st.integers(begin, end - 1))
    flipped = bytearray(line)
    flipped[at] ^= 1 << data.draw(st.integers(0, 7))
    try:
        found = altered(read(flipped.decode("utf-8")))
    except (UsageError, UnicodeDecodeError):
        return
    assert found


def test_every_value_of_a_step_is_named_by_its_step(row: Trajectory):
    """Whatever field of a step is altered, the finding begins with that step's number."""
    for at in range(len(row.steps)):
        for update in ({"text": "x"}, {"tool": "x"}, {"minute": 1.25}, {"tree": "x"},
                       {"arguments": {"x": 1}}, {"chain": "x"}):  # fmt: skip
            found = altered(row.model_copy(update={"steps": with_step(row, at, **update)}))
            assert found[0].startswith(f"step {at + 1}:")


@settings(max_examples=60, deadline=None, derandomize=True)
@given(data=st.data())
def test_a_file_with_a_flipped_byte_is_never_proved(
    row: Trajectory, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
):
    """The same of the whole file: header, grade, provenance and seal; read, altered or refused."""
    line = row.line().encode()
    at = data.draw(st.integers(0, len(line) - 1))
    flipped = bytearray(line)
    flipped[at] ^= 1 << data.draw(st.integers(0, 7))
    path = tmp_path_factory.mktemp("flipped") / "rows.jsonl"
    path.write_bytes(bytes(flipped) + b"\n")
    try:
        found = list(verify_file(path))
    except UsageError:
        return
    assert found
    assert not any(one.proved for one in found)


def test_another_version_is_said_as_such(row: Trajectory, monkeypatch: pytest.MonkeyPatch):
    """Other code gives other answers: such a row is not called altered, and not proved."""
    monkeypatch.setattr("heldout.repair.verifying.environment", lambda: "0123456789abcdef")
    found = verify(row)
    assert found.status == "other version"
    assert row.heldout in found.findings[0]
    assert "0123456789abcdef" in found.findings[0]


def test_the_digest_of_the_environment_covers_what_answers_are_made_by():
    """Code base, families, platform, sandbox and tools count; how a row is written does not."""
    found: dict[str, str] = {}
    trajectory._collect(trajectory.files("heldout.repair"), "", found)
    for name in ("episode.py", "grade.py", "probes.py", "codebase/tree/shared/db.py",
                 "codebase/tree/migrations/0001_people.sql", "families/time_unit.py",
                 "platform/replay.py", "sandbox/inside.py", "tools/editing.py"):  # fmt: skip
        assert name in found
    assert "trajectory.py" not in found


def test_the_held_out_half_stays_where_it_is(row: Trajectory):
    """A row of it leaves no process but one of score; a row that lies about its half neither."""
    require_train([row])
    held = row.model_copy(update={"task": HELD_OUT.id, "half": "test"})
    with pytest.raises(SplitViolation):
        require_train([row, held])
    with pytest.raises(SplitViolation):
        require_train([held.model_copy(update={"half": "train"})])


def test_the_command_names_what_it_found(row: Trajectory, tmp_path: Path, monkeypatch: Any):
    """Proved is exit 0; an altered row and one that is no row are named, and it is exit 3."""
    monkeypatch.setattr("heldout.split._role", None)
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_text(row.line() + "\n", encoding="utf-8")
    false = json.dumps({**json.loads(row.line()), "ended": "sla"}, sort_keys=True,
                       separators=(",", ":"))  # fmt: skip
    bad.write_text(f"{false}\nno row\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["verify", str(good)])
    assert done.exit_code == 0
    assert f"good.jsonl:1  {TRAIN.id}  proved" in done.output
    done = CliRunner().invoke(app, ["verify", str(good), str(bad)])
    assert done.exit_code != 0
    assert "bad.jsonl:1" in done.output
    assert "seal: something besides the steps was altered" in done.output
    assert "bad.jsonl:2  ?  altered" in done.output
    assert "1 proved, 2 altered" in done.output
