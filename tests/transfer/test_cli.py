"""``heldout transfer``: what it costs, what is shown of a finished table, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.transfer.conftest import BOTH, ONE, TWO
from tests.transfer.tables import made
from typer.testing import CliRunner, Result

from heldout.brain import write_brain
from heldout.cli.main import app
from heldout.errors import UsageError
from heldout.pipeline.planning import transferring
from heldout.score.size import Size
from heldout.split import Split, write_split
from heldout.store import Ledger, queries, remember_brain
from heldout.store.transfers import transfers


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two tuned models and ten held-out incidents that nobody opens."""
    monkeypatch.setattr(transferring, "size_of_half", lambda *_, **__: Size(8, 2))
    (tmp_path / "heldout.toml").write_text('name = "t"\nset = "small"\n')
    write_brain(BOTH, tmp_path / "brain")
    names = tuple(f"inc-{n:02}" for n in range(10))
    write_split(Split("small", (), names), tmp_path / "datasets" / "small")
    return tmp_path


def heldout(project: Path, *words: str) -> Result:
    """The verb in this process."""
    return CliRunner().invoke(app, ["transfer", *words, "--project", str(project)])


def keep(project: Path, **more: Any) -> None:
    """Store a finished table, and what an earlier score of the first model cost."""
    table = made(**more)
    with Ledger.open(project / ".heldout" / "ledger.duckdb") as ledger:
        remember_brain(ledger, BOTH)
        row = {
            "transfer": table.transfer, "half": table.half, "set": table.set,
            "brain_hash": BOTH.hash, "asked_json": {}, "result_json": table.plain(), "ended": 2,
        }  # fmt: skip
        looks = [{"score": "s", "incident": "inc-03", "model": ONE}]
        ledger.append_group({"transfers": [row], "looks": looks})
        ledger.flush()


def test_a_plan_says_what_it_costs_and_spends_nothing(project: Path):
    """Investigations, looks and what can be shown; no ledger is made for it."""
    said = heldout(project, ONE, TWO, "--plan", "--repeats", "2")
    text = " ".join(said.output.split())
    assert "set small: 8 held-out traps and 2 controls · 3 brains" in text
    assert f"{ONE}, look 1 of 5 60 60 " in text
    assert "unknown" in text
    assert "over 4 tuned cells: 8 incidents: at least 8 fixed with none broken" in text
    assert "Nothing was spent, opened or written." in text
    assert not (project / ".heldout").exists()


def test_a_plan_knows_earlier_looks_and_leaves_the_ledger_alone(project: Path):
    """What was opened before counts, and planning adds neither a look nor a table."""
    keep(project)
    said = heldout(project, ONE, "--plan")
    assert "look 2 of 5" in said.output
    with Ledger.open(project / ".heldout" / "ledger.duckdb") as ledger:
        assert queries.looks(ledger, ONE) == {"inc-03": 1}
        assert len(transfers(ledger)) == 1


def test_a_plan_of_the_train_half_looks_at_nothing(project: Path):
    """On train no look is used, and the train half's own traps are counted."""
    said = " ".join(heldout(project, ONE, TWO, "--plan", "--train").output.split())
    assert "0 train traps and 0 controls" in said
    assert "look 1" not in said


def test_a_finished_table_is_shown_in_three_forms(project: Path):
    """Text with the page's path, Markdown, and JSON that holds every incident."""
    keep(project)
    text = heldout(project, "--show", "newest").output
    assert text.startswith("Real model: openai/one@low")
    assert (project / ".heldout" / "reports" / "transfer-t-1.html").is_file()
    assert "| shared brain |" in heldout(project, "--show", "t-1", "--form", "markdown").output
    data = json.loads(heldout(project, "--show", "t-1", "--form", "json").output)
    assert data["columns"][0]["cells"][1]["fixed"][0] == "inc-2"
    assert data["carried"][0]["beyond"] == ["inc-9"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--form", "xml"], "no 'xml'"),
        (["--base-url", "http://127.0.0.1/v1", ONE], "names no model"),
        (["--mode", f"{ONE}=magic"], "no 'magic'"),
        (["--show", "t-9"], "names no finished table"),
        (["--resume", "t-9"], "names no table"),
        (["--plan", "openai/new"], "no overlay"),
        (["--plan", ONE, ONE], "named twice"),
    ],
)
def test_what_cannot_be_done_is_said(project: Path, words: list[str], said: str, monkeypatch: Any):
    """One sentence for each mistake, before a world is built or a model is asked."""
    monkeypatch.setattr("heldout.pipeline.transferring.build_worlds", lambda settings: None)
    keep(project)
    done = heldout(project, *words)
    assert isinstance(done.exception, UsageError)
    assert said in str(done.exception)
