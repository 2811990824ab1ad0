"""The table of brains by models on a page, and beside a score in its report."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.transfer.tables import ONE, TWO, made

from heldout.errors import HeldoutError
from heldout.report.transfer import part, save_table
from heldout.settings import Settings


def test_a_page_of_its_own(tmp_path: Path):
    """One file with evidence, cells and incidents, and no script."""
    path = save_table(made(), Settings(root=tmp_path))
    text = path.read_text()
    assert path.name == "transfer-t-1.html"
    assert "Real model: openai/one@low" in text
    assert "<script" not in text
    flat = re.sub(r"<[^>]+>|\s+", " ", text)
    assert "7 fixed" in flat
    assert "p = 0.016, adjusted 0.062" in flat
    assert text.count('<td class="good-text">●') == 7 + 1 + 3 + 6
    assert text.count('<td class="bad-text">') == 1


def test_names_are_text_and_never_markup():
    """A model's name with markup in it is shown, not run."""
    table = made()
    hostile = "x/<img src=y>"
    columns = tuple(replace(column, evidence=hostile) for column in table.columns)
    html = str(part(replace(table, columns=columns)))
    assert "<img" not in html
    assert "&lt;img" in html


def test_no_table_is_no_part():
    """A report without a table has no heading for one."""
    assert part(None) == ""
    assert "What carries over" in part(made())
    assert all(model in part(made()) for model in (ONE, TWO))


def test_a_page_that_cannot_be_written_is_said(tmp_path: Path):
    """A file where the folder should be: one sentence, nothing half-written."""
    settings = Settings(root=tmp_path)
    settings.state.mkdir()
    settings.reports.write_text("in the way")
    with pytest.raises(HeldoutError, match="cannot be written"):
        save_table(made(), settings)
