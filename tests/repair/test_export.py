"""Runs of repairs exported: trajectories that are proved, and the other formats as of any run."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.build.small import project
from tests.trace.conftest import Scripted, brain

from heldout import split as split_module
from heldout.build.repairs import make_repair_set
from heldout.build.worlds import cases
from heldout.canaries import Watch, canary_hash
from heldout.environments import REPAIR, playing_in
from heldout.errors import CanaryFound, ConfigError, SplitViolation, UsageError
from heldout.export import Order, export
from heldout.repair.interface import RepairInterface
from heldout.repair.tasks import tasks
from heldout.repair.trajectory import read
from heldout.repair.verifying import verify_file
from heldout.report.repairs import gather_repairs
from heldout.run import Arm, Plan, Terms, play
from heldout.settings import Settings
from heldout.split import HeldoutAccess
from heldout.store import Ledger

NEWEST = "0006_lead_creative"
TASK = next(
    one for one in tasks().values() if one.template.fix.roll_back == NEWEST and not one.seed
)
REPORT = {"service": "shared", "file": "f.py", "symbol": "s", "mechanism": "cascading_delete"}
CALLS = (
    ("list_alerts", {}),
    ("list_alerts", {}),
    ("no_such_tool", {}),
    ("view_file", "no json"),
    ("list_migrations", {}),
    ("rollback_migration", {"migration": NEWEST, "restore": True}),
    ("list_alerts", {}),
    ("submit_report", REPORT),
)
"""Some of them the harness answers itself."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Settings, str]:
    """A project with the set of repairs and one run of one task; two arms, one of them idle."""
    settings = project(tmp_path_factory.mktemp("repair"), brain=True)
    shutil.copytree(Path(__file__).resolve().parents[2] / "checkers", settings.checkers)
    settings = playing_in(settings, REPAIR)
    before = split_module._role
    split_module._role = "build"
    make_repair_set(settings, HeldoutAccess())
    split_module._role = before
    plan = Plan(
        purpose="train",
        set=REPAIR,
        model="fake/model@low",
        cases=tuple(one for one in cases(settings, REPAIR, "train") if one.incident.id == TASK.id),
        arms=(Arm("before", brain("hasty")), Arm("after", brain("thorough"))),
        repeats=1,
        terms=Terms(tools=REPAIR),
    )
    client = Scripted({"hasty": (("submit_report", REPORT),), "thorough": CALLS})
    with Ledger.open(settings.ledger) as ledger:
        run = asyncio.run(
            play(
                plan,
                ledger,
                settings,
                interface=RepairInterface(),
                client_factory=lambda _: client,
            )
        ).run
    return settings, run


def exported(made: tuple[Settings, str], out: Path, kind: str, **more: Any) -> int:
    """Export the run."""
    with Ledger.open(made[0].ledger, read_only=True) as ledger:
        return export(made[0], ledger, Order(kind, (made[1],), out, **more), Watch())


def test_a_run_becomes_trajectories_that_are_proved(made: tuple[Settings, str], tmp_path: Path):
    """What the harness answered is no step; grade, rewards and where it comes from stand in the row."""
    out = tmp_path / "t.jsonl"
    assert exported(made, out, "trajectory") == 2
    assert all(one.proved for one in verify_file(out))
    rows = {one.provenance.agent: one for one in map(read, out.read_text().splitlines())}
    after = rows["after"]
    assert [one.tool for one in after.steps][-3:] == [
        "rollback_migration", "list_alerts", "submit_report"
    ]  # fmt: skip
    assert "no_such_tool" not in [one.tool for one in after.steps]
    assert after.grade["repaired"] is True
    assert rows["before"].grade["repaired"] is False
    assert after.rewards is not None
    assert sum(one or 0 for one in after.rewards) == pytest.approx(after.score, abs=1e-3)
    assert (after.task, after.half, after.provenance.run) == (TASK.id, "train", made[1])
    assert after.provenance.model == "fake/model@low"
    page = gather_repairs([out])
    assert [one.label.split()[0] for one in page.groups] == ["after", "before"]


def test_other_formats_hold_repairs_too(made: tuple[Settings, str], tmp_path: Path):
    """Chat with the tools of the environment, rewards by the verdict."""
    assert exported(made, tmp_path / "c.jsonl", "chat", everything=True) == 2
    row = json.loads((tmp_path / "c.jsonl").read_text().splitlines()[0])
    assert "edit_lines" in [one["function"]["name"] for one in row["tools"]]
    assert exported(made, tmp_path / "r.jsonl", "rl") == 2
    rows = [json.loads(one) for one in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert sorted(one["reward"] for one in rows) == [0.0, 1.0]


def test_a_canary_stops_a_trajectory(made: tuple[Settings, str], tmp_path: Path):
    """A word that every row holds, taken for a canary, ends the export and nothing is left."""
    caught = Watch({canary_hash(made[1]): "test"})
    with Ledger.open(made[0].ledger, read_only=True) as ledger, pytest.raises(CanaryFound):
        export(made[0], ledger, Order("trajectory", (made[1],), tmp_path / "no"), caught)
    assert list(tmp_path.iterdir()) == []


def test_an_environment_that_changed_is_said(
    made: tuple[Settings, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Where a call is answered otherwise than in the run nothing is written."""
    monkeypatch.setattr("heldout.repair.instance.WINDOW_SECONDS", 30.0)
    monkeypatch.setattr("heldout.repair.episode.MAX_TEXT", 40)
    with pytest.raises(ConfigError, match="is answered otherwise"):
        exported(made, tmp_path / "t.jsonl", "trajectory")
    assert list(tmp_path.iterdir()) == []


def test_a_run_of_worlds_has_no_trajectories(
    made: tuple[Settings, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Only runs of the repair environment do."""
    monkeypatch.setattr("heldout.export.trajectories.REPAIR", "another")
    with pytest.raises(UsageError, match="played no repairs"):
        exported(made, tmp_path / "t.jsonl", "trajectory")


def test_a_row_of_the_held_out_half_is_not_written(
    made: tuple[Settings, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Even one that slipped through the guard of runs."""

    def slipped(rows: Any) -> None:
        raise SplitViolation("a row of the held-out half")

    monkeypatch.setattr("heldout.export.trajectories.require_train", slipped)
    with pytest.raises(SplitViolation):
        exported(made, tmp_path / "t.jsonl", "trajectory")
    assert list(tmp_path.iterdir()) == []
