"""``heldout check --behaviour``: text, JSON and exit codes over a real set and a model on the wire."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.behaviour.conftest import take_role
from tests.behaviour.reader import METHOD, Reader, service, told
from typer.testing import CliRunner, Result

from heldout.behaviour.rendering import renamed_cases
from heldout.cli.main import app
from heldout.errors import EditError, UsageError
from heldout.settings import Settings
from heldout.split import Case
from heldout.store import Ledger
from heldout.store.blobs import blob_row


@pytest.fixture
def own_role() -> Iterator[None]:
    """The command declares its role itself."""
    before = take_role(None)
    yield
    take_role(before)


@pytest.fixture
def patch(tmp_path: Path) -> Path:
    """A file that holds an edit of one line of method."""
    return write(tmp_path / "edit.json", METHOD)


def write(path: Path, line: str) -> Path:
    op = {"file": "method.md", "action": "append", "anchor": "", "text": line}
    path.write_text(json.dumps({"ops": [op], "reason": "why"}), encoding="utf-8")
    return path


def reader(settings: Settings, train: tuple[Case, ...]) -> Reader:
    """A model that knows which service 'the shop window' is."""
    traps = [case for case in train if case.is_trap]
    others = renamed_cases(settings, traps).cases.values()
    return Reader((*train, *others), {"the shop window": service(traps[0].incident.alert)})


def check(settings: Settings, model: Reader, *words: str) -> Result:
    with model:
        wire = ["--model", "fake/reader", "--base-url", model.url]
        where = ["--project", str(settings.root)]
        return CliRunner().invoke(app, ["check", *words, "--behaviour", *wire, *where])


def test_method_passes(
    settings: Settings, train: tuple[Case, ...], own_role: None, patch: Path
) -> None:
    """Exit 0; each probe says what it found, and the line has its effect under it."""
    done = check(settings, reader(settings, train), str(patch))
    assert done.exit_code == 0, done.output
    assert "behaviour passed" in done.stdout
    assert "alert only: names no more causes" in done.stdout
    assert "renamed: effect kept" in done.stdout
    assert f"+ {METHOD}\n      dropped: several kinds of incident need it" in done.stdout
    assert "canaries: none" in done.stdout


def test_answers_are_refused_as_json_too(
    settings: Settings, train: tuple[Case, ...], own_role: None, tmp_path: Path
) -> None:
    """Exit 3, and data that a pipeline can read."""
    trap = next(case for case in train if case.is_trap)
    edit = write(tmp_path / "edit.json", f"- When the shop window pages, {told(trap)}")
    done = check(settings, reader(settings, train), str(edit), "--json")
    assert done.exit_code == 3, done.output
    plain = json.loads(done.stdout)
    assert plain["passed"] is False
    assert plain["closed_book"]["verdict"] == "rises"
    assert plain["failures"] == [
        "with the alert alone the model names causes that it could not name before"
    ]


def test_a_canary_in_the_ledger_is_refused(
    settings: Settings, train: tuple[Case, ...], own_role: None, patch: Path
) -> None:
    """A leak of an earlier day is found by the next check, whatever it checks."""
    from heldout.split import read_split
    from heldout.truth import read_spec

    folder = settings.set_dir("tiny")
    spec = read_spec(folder / "specs" / f"{read_split(folder).test[0]}.toml")
    with Ledger.open(settings.ledger) as ledger:
        ledger.append("blobs", [blob_row(f"a tool said {spec.canary}")])
    done = check(settings, reader(settings, train), str(patch))
    assert done.exit_code == 3, done.output
    assert "ledger, prompts and traces: a canary of the test half" in done.stdout
    assert spec.canary not in done.output


def test_what_cannot_be_read_is_an_error(
    settings: Settings, train: tuple[Case, ...], own_role: None, tmp_path: Path
) -> None:
    """A missing file is usage, a patch that does not apply an error; nothing passes."""
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"ops": [{"file": "none.md", "action": "append", "text": "- x"}]}')
    for path, error in ((tmp_path / "nothing.json", UsageError), (wrong, EditError)):
        done = check(settings, reader(settings, train), str(path))
        assert isinstance(done.exception, error)
        assert "passed" not in done.stdout
