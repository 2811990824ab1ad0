"""Playing a table: one interleaved job per model, looks counted, nothing reused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.score.conftest import BEFORE
from tests.transfer.conftest import BOTH, ONE, TWO

from heldout.brain import Brain
from heldout.errors import (
    CapReached,
    LooksExhausted,
    SplitViolation,
    UsageError,
)
from heldout.store import Ledger, queries
from heldout.store.transfers import transfers
from heldout.transfer import Asked, carried, read_table, stored, transfer


def traps(*numbers: int) -> tuple[str, ...]:
    """Trap incidents by number."""
    return tuple(f"trap-{n:02}" for n in numbers)


def test_a_table_of_the_held_out_half(place: Any):
    """Each cell is counted against the shared brain with the same model, incident by incident."""
    here = place()
    found = here.play()
    assert (found.half, found.owners, found.models) == ("test", (ONE, TWO), (ONE, TWO))
    solved = {
        (owner, model): len(found.cell(owner, model).solved)
        for owner in ("", ONE, TWO)
        for model in (ONE, TWO)
    }
    assert solved == {
        ("", ONE): 2, (ONE, ONE): 9, (TWO, ONE): 3, ("", TWO): 4, (ONE, TWO): 6, (TWO, TWO): 10,
    }  # fmt: skip
    own = found.cell(ONE, ONE)
    assert own.fixed == traps(2, 3, 4, 5, 6, 7, 8)
    assert (own.broken, own.p, own.p_adjusted) == ((), 0.015625, 0.0625)
    assert own.word == "no gain shown"
    assert (own.controls, own.controls_solved, own.controls_broken) == (4, 4, 0)
    assert found.cell("", ONE).p is None
    assert here.opened == [ONE, TWO]


def test_what_carries_over_is_told_by_incident(place: Any):
    """Of what a brain fixed with its own model: fixed, solved anyway, or not, with the other."""
    found = here = place().play()
    first = next(one for one in carried(found) if (one.owner, one.model) == (ONE, TWO))
    assert (first.fixed, first.solved_before) == (traps(4, 5), traps(2, 3))
    assert (first.not_fixed, first.broken, first.beyond) == (traps(6, 7, 8), (), ())
    second = next(one for one in carried(here) if one.owner == TWO)
    assert (second.fixed, second.not_fixed) == ((), traps(4, 5, 6, 7, 8, 9))
    assert second.beyond == traps(2)


def test_each_model_is_one_interleaved_score_and_one_look(place: Any):
    """A column is one score with every brain as an arm, the same seeds, and a look at each incident."""
    here = place()
    found = here.play()
    with Ledger.open(here.settings.ledger) as ledger:
        scores = queries.scores(ledger)
        assert {row.model for row in scores} == {ONE, TWO}
        for row in scores:
            assert set(row.endpoint["arms"]) >= {"before", "after"}
            assert len(row.endpoint["arms"]) == 3
            assert len(set(row.endpoint["seeds"].values())) == 1
            assert row.endpoint["pins"]["transfer"] == found.transfer
            assert set(queries.looks(ledger, row.model).values()) == {1}
        assert len(queries.runs(ledger, purpose="score")) == 2
        assert stored(ledger) == found
        assert read_table(found.plain()) == found
    assert [one.look for one in found.columns] == [1, 1]
    assert {one.score for one in found.columns} == {row.score for row in scores}


def test_earlier_results_are_never_used(place: Any):
    """A second table asks each model as often as the first, and is look 2."""
    here = place()
    first = here.play()
    asked = {name: len(model.asked) for name, model in here.models.items()}
    second = here.play()
    assert {name: len(model.asked) for name, model in here.models.items()} == {
        name: 2 * n for name, n in asked.items()
    }
    assert [one.look for one in second.columns] == [2, 2]
    assert second.transfer != first.transfer
    assert second.cell(ONE, ONE).p_adjusted == 2 * (first.cell(ONE, ONE).p_adjusted or 0)


def test_a_spent_budget_of_looks_refuses_before_any_model(place: Any):
    """One model without looks left refuses the whole table: no other model is opened for it."""
    here = place()
    here.play(TWO)
    here.play(TWO)
    with pytest.raises(LooksExhausted, match="llama/two"):
        here.play()
    assert here.opened == [TWO, TWO]
    assert here.models[ONE].asked == []


def test_a_stopped_table_goes_on_with_what_is_missing(place: Any):
    """A finished column is read, a score that died is gone on with, and looks count once."""
    here = place()
    answers, here.models[TWO].fail = here.models[TWO].fail, lambda *_: KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        here.play()
    with Ledger.open(here.settings.ledger) as ledger:
        (row,) = transfers(ledger)
        assert row.result is None
        with pytest.raises(UsageError, match="no table was played"):
            stored(ledger)
    here.models[TWO].fail = answers
    before = len(here.models[ONE].asked)
    found = here.play(resume=row.transfer)
    assert found.transfer == row.transfer
    assert len(here.models[ONE].asked) == before
    assert [one.look for one in found.columns] == [1, 1]
    with pytest.raises(UsageError, match="finished"):
        here.play(resume=row.transfer)


def test_train_needs_no_look_and_no_access(place: Any):
    """On train the same figures come out without a look, without a word, in a process without key."""
    here = place("train")
    found = here.play(half="train")
    assert len(found.cell(ONE, ONE).fixed) == 7
    assert {cell.word for column in found.columns for cell in column.cells} == {""}
    assert [(one.look, one.score) for one in found.columns] == [(0, ""), (0, "")]
    assert here.opened == []
    with Ledger.open(here.settings.ledger) as ledger:
        assert queries.looks(ledger, ONE) == {}
        assert {row.job for row in queries.runs(ledger)} == {found.transfer}
    # The negative control: the held-out half cannot be played by the same call.
    held = replace(here, cases=tuple(replace(case, side="test") for case in here.cases))
    with pytest.raises(SplitViolation):
        held.play(half="train")


def test_a_stopped_train_table_plays_nothing_twice(place: Any):
    """The run of a model that was finished before the stop is read, not played."""
    here = place("train")
    answers, here.models[TWO].fail = here.models[TWO].fail, lambda *_: KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        here.play(half="train")
    here.models[TWO].fail = answers
    asked = len(here.models[ONE].asked)
    with Ledger.open(here.settings.ledger) as ledger:
        name = transfers(ledger)[0].transfer
    found = here.play(resume=name)
    assert len(here.models[ONE].asked) == asked
    assert len(found.cell(TWO, TWO).fixed) == 6


def test_a_cap_counts_for_the_whole_table(place: Any):
    """What the first model spent is taken off what the second may spend."""
    here = place("train")
    with pytest.raises(CapReached, match="after 1 of 2 models"):
        here.play(half="train", max_usd=0.2)
    with Ledger.open(here.settings.ledger) as ledger:
        name = transfers(ledger)[0].transfer
    found = here.play(resume=name, max_usd=100.0)
    assert found.usd is not None


def test_a_model_without_an_overlay_is_a_column(place: Any):
    """It reads the shared brain and what was tuned for others; nothing of its own is a row."""
    here = place(brain=BEFORE.with_file(*next(iter(BOTH.extra.items()))))
    found = here.play()
    assert (found.owners, found.models) == ((ONE,), (ONE, TWO))
    assert all(len(column.cells) == 2 for column in found.columns)


def test_the_brain_on_disk_is_not_touched(place: Any):
    """No file of the brain changes."""
    here = place()
    files = {p: p.read_bytes() for p in sorted(here.settings.brain.rglob("*")) if p.is_file()}
    here.play()
    assert {p: p.read_bytes() for p in files} == files


def test_how_a_model_is_reached_and_asked_is_by_model(place: Any):
    """Endpoint, mode and wire are one model's; those of a model that is no column are refused."""
    here = place()
    asked = Asked(models=(ONE,), base_urls={TWO: "http://127.0.0.1:1/v1"})
    with pytest.raises(UsageError, match="no column"):
        transfer(here.settings, asked)
    urls = Asked(models=(ONE, TWO), base_urls={TWO: "http://127.0.0.1:1/v1"})
    assert urls.settings(here.settings, TWO).models.base_url == "http://127.0.0.1:1/v1"
    assert urls.settings(here.settings, ONE).models.base_url == ""
    asked = Asked(models=(ONE, TWO), modes={TWO: "json"}, wires={ONE: "responses"})
    one, two = (asked.settings(here.settings, model).models for model in (ONE, TWO))
    assert (one.agent, one.mode, one.wire) == (ONE, "tools", "responses")
    assert (two.agent, two.mode, two.wire) == (TWO, "json", "chat")


def test_a_brain_without_overlays_has_no_table(place: Any):
    """There is nothing to carry over."""
    with pytest.raises(UsageError, match="no overlay"):
        place(brain=Brain(files=BEFORE.files, load=BEFORE.load)).play()
