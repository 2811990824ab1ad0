"""The page that compares agents over repair tasks: what it counts, refuses and leaves out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import heldout
from heldout.cli.main import app
from heldout.errors import SplitViolation, UsageError
from heldout.repair.tasks import Task, tasks
from heldout.repair.trajectory import Provenance, Trajectory, environment
from heldout.report.repairs import gather_repairs, render_repairs, repairs_text
from heldout.settings import load_settings
from heldout.stats import cluster_rate

TRAIN = [one for one in tasks().values() if one.half == "train"]
HELD_OUT = [one for one in tasks().values() if one.half == "test"]
PARTS = {"fix": 1.0, "no_regression": 1.0, "report": 0.5, "sla": 1.0, "focus": 1.0}


def row(one: Task, score: float | None, agent: str = "first", **said: Any) -> Trajectory:
    """A sealed row with a grade; its episode has no step."""
    grade = {"score": score, "repaired": (score or 0) > 0.5, "parts": PARTS, "reasons": [],
             "unscored": "" if score is not None else "the sandbox failed"}  # fmt: skip
    return Trajectory(
        heldout=heldout.__version__, environment=environment(), task=one.id, half=one.half,
        tier="jail", sla_minutes=90, max_steps=60, opening="{}", steps=(), ended="submitted",
        grade=grade, provenance=Provenance(agent=agent, **said),
    ).sealed()  # fmt: skip


def written(path: Path, *rows: Trajectory) -> Path:
    """A file of rows."""
    path.write_text("".join(one.line() + "\n" for one in rows), encoding="utf-8")
    return path


def test_variants_of_a_template_are_one_cluster(tmp_path: Path):
    """The mean and its interval are over templates, each the mean of its tasks' means."""
    names = sorted({one.template.name for one in TRAIN})[:3]
    by_name = {name: [one for one in TRAIN if one.template.name == name] for name in names}
    rows = [
        row(one, value)
        for name, value in zip(names, (1.0, 0.25, 0.5), strict=True)
        for one in by_name[name]
    ]
    rows.append(row(by_name[names[1]][0], 0.75))  # A repeat of one task.
    group = gather_repairs([written(tmp_path / "r.jsonl", *rows)]).groups[0]
    second = (0.5 + 4 * 0.25) / 5
    assert group.grade == cluster_rate([1.0, second, 0.5])
    assert (group.templates, len(group.tasks), len(group.rows)) == (3, 15, 16)


def test_unscored_is_in_no_mean(tmp_path: Path):
    """An episode that the environment failed counts beside, and is never a 0."""
    path = written(tmp_path / "r.jsonl", row(TRAIN[0], 0.9), row(TRAIN[1], None))
    page = gather_repairs([path])
    assert page.groups[0].grade.value == pytest.approx(0.9)
    assert page.groups[0].tasks == (TRAIN[0].id,)
    assert "1 unscored" in repairs_text(page)
    assert "nothing scored" in repairs_text(
        gather_repairs([written(tmp_path / "n.jsonl", row(TRAIN[0], None))])
    )


def test_the_halves_never_stand_on_one_page(tmp_path: Path):
    """Files with tasks of both are refused; a row that lies about its half is left out."""
    path = written(tmp_path / "r.jsonl", row(TRAIN[0], 0.9), row(HELD_OUT[0], 0.9))
    with pytest.raises(SplitViolation):
        gather_repairs([path])
    false = row(HELD_OUT[0], 0.9).model_copy(update={"half": "train"}).sealed()
    page = gather_repairs([written(tmp_path / "f.jsonl", row(TRAIN[0], 0.9), false)])
    assert page.left_out == {"altered": 1}


def test_an_altered_row_is_left_out_and_counted(tmp_path: Path):
    """Without a fitting seal a row says nothing; a file with none that does is refused."""
    good = row(TRAIN[0], 0.9)
    bad = good.model_copy(update={"grade": {**good.grade, "score": 1.0}})
    path = written(tmp_path / "r.jsonl", good, bad)
    path.write_text(path.read_text(encoding="utf-8") + "{}\n", encoding="utf-8")
    page = gather_repairs([path])
    assert page.left_out == {"altered": 1, "no trajectory": 1}
    assert "left out: 1 altered" in repairs_text(page)
    with pytest.raises(UsageError):
        gather_repairs([written(tmp_path / "b.jsonl", bad)])


def test_the_page_is_whole_and_harmless(tmp_path: Path):
    """Every agent, task and canary stands on it; names are escaped; no script; the same bytes."""
    rows = [row(one, 0.9, "<script>alert(1)</script>", usd=0.5, tokens=10) for one in TRAIN[:3]]
    rows += [row(one, 0.1, "second\x1b[31m", model="m", brain="0123456789") for one in TRAIN[1:4]]
    page = gather_repairs([written(tmp_path / "r.jsonl", *rows)])
    html = render_repairs(page)
    assert html == render_repairs(page)
    assert "<script" not in html
    assert "\x1b" not in html
    assert "&lt;script&gt;" in html
    assert "01234567" in html
    for one in TRAIN[:4]:
        assert one.id in html
    assert one.template.name not in html
    for said in ("a bigger pool", "a forged frame", "2 of them played by all", "1.50"):
        assert said in html
    assert "Not every agent played every task" in html


def test_the_command_writes_it(tmp_path: Path):
    """Text and file of the page; a job beside it is a usage error."""
    (tmp_path / "heldout.toml").write_text('name = "t"\n', encoding="utf-8")
    settings = load_settings(tmp_path)
    path = written(tmp_path / "r.jsonl", row(TRAIN[0], 0.9))
    command = ["report", "--repair", str(path), "--project", str(settings.root)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "first: grade 0.90" in done.output
    assert list(settings.reports.glob("repairs-*.html"))
    assert CliRunner().invoke(app, [*command, "job-1"]).exit_code != 0
