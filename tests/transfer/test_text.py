"""A table in words: evidence first, cells against the shared brain, incident by incident."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.transfer.tables import ONE, TWO, made

from heldout.errors import StoreError
from heldout.transfer import carried, read_table, render_markdown, render_table
from heldout.transfer.text import NOT_EVIDENCE


def one_line(text: str) -> str:
    """Without line breaks."""
    return " ".join(text.split())


def test_the_class_of_evidence_comes_first():
    """Before any figure stands what the figures can be evidence of."""
    text = render_table(made())
    assert text.startswith("Real model: openai/one@low")
    assert NOT_EVIDENCE not in one_line(text)
    assert "look 1 of 5 (score s-1)" in text


def test_the_same_class_of_evidence_is_said_once():
    """Models of one class share its sentence; another class has a sentence of its own."""
    table = made()
    text = one_line(render_table(table))
    assert "incidents: 10. The same holds for llama/two." in text
    other = replace(table.columns[1], evidence="Mechanism test: llama/two is a simulated model.")
    text = one_line(render_table(replace(table, columns=(table.columns[0], other))))
    assert "The same holds" not in text
    assert "Mechanism test: llama/two" in text


def test_train_is_said_to_be_no_evidence():
    """A table of train says that its incidents are those that the brains were chosen by."""
    text = one_line(render_table(made("train")))
    assert NOT_EVIDENCE in text
    assert "look 1" not in text


def test_every_cell_and_what_carries_over_is_told():
    """Fixed and broken against the shared brain with the same model, then the incidents by name."""
    text = one_line(render_table(made()))
    assert "tuned for openai/one@low (its own) 9 of 10 7 0 p = 0.016 0.062 no gain shown" in text
    assert "tuned for openai/one@low 6 of 10 3 1 p = 0.62 1 no gain shown 4 of 4 0" in text
    assert "shared brain 2 of 10 4 of 4" in text
    assert (
        "Of 7 trap incidents that the brain tuned for openai/one@low fixed there, with llama/two "
        "it fixes 2; 1 that model solves without it, 3 stay unsolved, 1 break. 1 more are fixed "
        "there only."
    ) in text
    assert "carry over: inc-4, inc-5" in text
    assert "do not: inc-6, inc-7, inc-8" in text
    assert "break: inc-3" in text
    assert "there only: inc-9" in text


def test_a_brain_whose_own_model_did_not_play_has_nothing_to_carry_over():
    """Without the owner's column nobody knows what was fixed there."""
    table = made()
    assert [(one.owner, one.model) for one in carried(table)] == [(ONE, TWO), (TWO, ONE)]
    alone = replace(table, columns=table.columns[1:])
    assert [(one.owner, one.model) for one in carried(alone)] == []


def test_an_unknown_price_is_said():
    """A cost that is not known is never printed as zero."""
    table = made()
    unpriced = replace(table, columns=(replace(table.columns[0], usd=None), table.columns[1]))
    assert "unknown USD" in render_table(unpriced)
    assert "0.60 USD" in render_table(table)


def test_what_is_missing_is_said():
    """A job that a cap ended short, or that met failures, says how much of it there is."""
    table = made()
    cells = (replace(table.columns[0].cells[0], coverage=0.5), *table.columns[0].cells[1:])
    short = replace(table, columns=(replace(table.columns[0], cells=cells), table.columns[1]))
    assert "openai/one@low: coverage 50.0%" in one_line(render_table(short))
    assert "coverage" not in one_line(render_table(table))


def test_hostile_names_stay_text():
    """A model's or a set's name cannot move the cursor."""
    assert "\x1b" not in render_table(made(set="a\x1b[2Jb"))


def test_markdown_is_one_table_and_notes():
    """For a page: a row per brain, a column per model, and everything that must be said."""
    text = render_markdown(made())
    assert text.splitlines()[0] == f"| brain | {ONE} | {TWO} |"
    assert text.splitlines()[1] == "|---|---|---|"
    assert (
        "| shared brain | 2 of 10 traps; controls 4 of 4 | 4 of 10 traps; controls 4 of 4 |" in text
    )
    assert "- Real model: openai/one@low" in text


def test_a_stored_table_comes_back_as_it_was():
    """Plain data carries the incidents too; what does not fit is a StoreError."""
    table = made()
    plain = table.plain()
    assert plain["carried"][0]["fixed"] == ["inc-4", "inc-5"]
    assert read_table(plain) == table
    with pytest.raises(StoreError, match="cannot be read"):
        read_table({"transfer": 3})
