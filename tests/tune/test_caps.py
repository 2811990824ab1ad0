"""The caps of a job, from its settings or from what it was asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from heldout.cli.main import app
from heldout.pipeline.job import Job, settings_of
from heldout.tune import TuneOptions

CAPS = {"max_usd": 2.5, "max_tokens": 900_000, "max_seconds": 3600.0}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project whose settings cap a job."""
    text = "[tune]\nmax_usd = 9.0\nmax_tokens = 7\nmax_seconds = 8.0\n"
    (tmp_path / "heldout.toml").write_text(text, encoding="utf-8")
    return tmp_path


def test_settings_cap_a_job_and_what_was_asked_for_goes_before_them(root: Path):
    """Tokens, USD and seconds each reach the job's options."""
    options = TuneOptions.of(settings_of(Job(project=str(root))))
    assert (options.max_usd, options.max_tokens, options.max_seconds) == (9.0, 7, 8.0)
    options = TuneOptions.of(settings_of(Job(project=str(root), **CAPS)))  # type: ignore[arg-type]
    assert {name: getattr(options, name) for name in CAPS} == CAPS


@pytest.mark.parametrize("option", ["--max-usd", "--max-tokens", "--max-seconds"])
def test_a_cap_of_nothing_is_refused_by_its_name(root: Path, option: str):
    """Zero would end a job before it began."""
    asked = CliRunner().invoke(app, ["tune", option, "0", "--project", str(root)])
    assert asked.exit_code != 0
    assert option in str(asked.exception)
