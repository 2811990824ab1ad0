"""``heldout intake`` as it is typed, and what ``heldout status`` says of what was dropped in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.build.small import project
from tests.intake.test_asking import ANSWER, HOSTILE
from tests.llm.wire import WireServer, text
from typer.testing import CliRunner, Result

import heldout.split as split_module
from heldout.cli.main import app
from heldout.errors import CapReached, UsageError
from heldout.split import Split, read_split, write_split
from heldout.store import Ledger
from heldout.store.intake import intake_steps
from heldout.store.spending import spending

SMALL = ("--variants", "1", "--scale", "0.12")


@pytest.fixture(autouse=True)
def own_role() -> Iterator[None]:
    """Each command declares a role of its own."""
    before = split_module._role
    split_module._role = None
    yield
    split_module._role = before


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with an empty set and three corrected threads in its folder."""
    own = project(tmp_path, brain=True)
    write_split(Split("tiny", (), ()), own.datasets / "tiny")
    (tmp_path / "intake").mkdir()
    for number in range(3):
        (tmp_path / "intake" / f"thread-{number}.md").write_text(
            f"# {number}\n## Answer of the agent\nThe deploy.\n## Correction\nA memory quota.\n"
        )
    return tmp_path


def heldout(root: Path, *words: str) -> Result:
    """One command in the project, in a process role of its own."""
    split_module._role = None
    return CliRunner().invoke(app, [*words, "--project", str(root)])


def fill(path: Path, **values: Any) -> None:
    """Fill the form beside a report."""
    form = path.with_name(path.name + ".intake.toml")
    lines = [line for line in form.read_text().splitlines()
             if line.split(" = ")[0].lstrip("#") not in values]  # fmt: skip
    lines += [f"{name} = {json.dumps(value)}" for name, value in values.items()]
    form.write_text("\n".join(lines))


def test_by_form_from_a_thread_to_an_incident(root: Path):
    """Write the form, fill it, draft, see, accept; status follows every step."""
    thread = root / "intake" / "thread-0.md"
    assert "3 dropped in, 3 new" in heldout(root, "status").output
    said = heldout(root, "intake", str(thread), *SMALL)
    assert said.exit_code == 0, said.output
    assert "fill in" in said.output
    assert "its form waits" in heldout(root, "status").output
    fill(thread, fault="memory_quota", cause_days=4.0)
    said = heldout(root, "intake", str(thread), *SMALL)
    assert said.exit_code == 0, said.output
    draft = said.output.split(":")[0]
    assert "passed the validity gate" in said.output
    assert f"heldout intake --show {draft}" in heldout(root, "status").output
    assert read_split(root / "datasets" / "tiny").train == ()
    assert "memory_quota" in heldout(root, "intake", "--show", draft).output
    assert "memory_quota" not in heldout(root, "intake", "--list").output
    done = heldout(root, "intake", "--accept", draft, "--name", "kim")
    assert "1 incidents joined" in done.output, done.exception
    told = heldout(root, "status").output
    assert "3 dropped in, 2 new" in told
    assert "accepted   thread  thread-0.md" in told
    with Ledger.open(root / ".heldout" / "ledger.duckdb", read_only=True) as ledger:
        (step,) = intake_steps(ledger)
    assert (step.action, step.name, step.incidents) == ("accepted", "kim", 1)


def test_by_a_model_over_http(root: Path, monkeypatch: pytest.MonkeyPatch):
    """The model's reading becomes a draft; of the report the ledger keeps its digest and cost."""
    monkeypatch.setenv("LAB_API_KEY", "test-key-0123456789")
    report = root / "intake" / "hostile.md"
    report.write_text(HOSTILE)
    with WireServer(text(json.dumps(ANSWER))) as server:
        said = heldout(root, "intake", str(report), "--model", "lab/reader",
                       "--base-url", server.url, *SMALL, "--json")  # fmt: skip
        assert said.exit_code == 0, (said.output, said.exception)
        sent = json.dumps(server.requests[0].body)
    assert "sk-verysecret" not in sent
    plain = json.loads(said.output)
    assert plain["reading"]["fault"] == "memory_quota"
    assert plain["model"] == "lab/reader"
    assert "canary" not in said.output
    form = report.with_name("hostile.md.intake.toml").read_text()
    assert 'fault = "memory_quota"' in form
    assert "cause_days = 4.0" in form
    assert "#affected" in form
    again = heldout(root, "intake", "--drop", plain["draft"])
    assert again.exit_code == 0
    # What the model said is kept: drafting again asks nobody.
    said = heldout(root, "intake", str(report), "--model", "lab/reader", "--base-url", server.url,
                   *SMALL)  # fmt: skip
    assert said.exit_code == 0, (said.output, said.exception)
    with Ledger.open(root / ".heldout" / "ledger.duckdb", read_only=True) as ledger:
        rows = ledger.read("SELECT * FROM intake_events ORDER BY rowid")
        assert "Outage" not in json.dumps(rows)
        assert rows[0]["report_digest"] == plain["digest"]
        assert spending(ledger).calls == spending(ledger, model="lab/reader").calls == 1
        assert spending(ledger, model="other/model").calls == 0


def test_a_month_that_is_spent_reads_no_report(root: Path, monkeypatch: pytest.MonkeyPatch):
    """The month's cap holds for reading reports too."""
    monkeypatch.setenv("LAB_API_KEY", "test-key-0123456789")
    with (root / "heldout.toml").open("a") as file:
        file.write("[month]\nmax_tokens = 1\n")
    threads = [str(root / "intake" / f"thread-{number}.md") for number in (1, 2)]
    with WireServer(text(json.dumps(ANSWER))) as server:
        words = ("--model", "lab/reader", "--base-url", server.url, *SMALL)
        assert heldout(root, "intake", threads[0], *words).exit_code == 0
        assert isinstance(heldout(root, "intake", threads[1], *words).exception, CapReached)
        assert len(server.requests) == 1


def test_the_words_can_be_asked_for(root: Path):
    """The vocabulary, or what comes near a text."""
    assert "memory_quota:" in heldout(root, "intake", "--words", "faults").output
    assert "onset_decoy:" in heldout(root, "intake", "--words", "traps").output
    near = heldout(root, "intake", "--words", "namespace quota on memory refuses replicas").output
    assert near.startswith("memory_quota:")


def test_what_excludes_each_other_is_refused(root: Path):
    """One thing at a time; a draft that is not there is named."""
    done = heldout(root, "intake", "--accept", "d-1", "--drop", "d-2")
    assert isinstance(done.exception, UsageError)
    assert isinstance(heldout(root, "intake", "--accept", "d-1").exception, UsageError)
    empty = heldout(root, "intake")
    assert "3 new" in empty.output
