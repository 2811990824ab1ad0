"""Texts and brains by content: whole, once, and checked when they are read."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.brain import Brain
from heldout.errors import StoreError
from heldout.store import Ledger, brain, remember_brain, texts
from heldout.store.blobs import blob_row, blob_text, make_dictionary, text_hash

ANY = st.text(alphabet=st.characters(), max_size=3000)
"""Half surrogate pairs included."""


@given(ANY, st.lists(ANY, max_size=3))
def test_any_text_is_unpacked_as_it_was(text: str, samples: list[str]):
    """With a dictionary or without one, hostile text or not."""
    assert blob_text(blob_row(text)) == text
    dictionary, row = make_dictionary(samples)
    packed = blob_row(text, dictionary)
    assert blob_text(packed, blob_text(row).encode("utf-8", "surrogatepass")) == text
    assert packed["hash"] == text_hash(text) == blob_row(text)["hash"]


@given(ANY.filter(bool), st.integers(0, 10_000))
def test_a_damaged_text_is_noticed(text: str, place: int):
    """No altered byte goes unnoticed."""
    row = blob_row(text)
    data = bytearray(row["data"])
    data[place % len(data)] ^= 0x55
    damaged = {**row, "data": bytes(data)}
    # A byte without meaning (padding behind the last bit) may differ, and the text is whole then.
    with suppress(StoreError):
        assert blob_text(damaged) == text


def test_an_unknown_codec_is_named():
    """A newer ledger's text is not guessed at."""
    with pytest.raises(StoreError, match="unknown codec 'zstd9'"):
        blob_text({**blob_row("x"), "codec": "zstd9"})


def test_a_dictionary_makes_like_texts_small():
    """What resembles the sample costs a fraction."""
    sample = "".join(f'{{"id":"e-{n * 2654435761 % 2**32:08x}","kind":"Pod"}},' for n in range(200))
    dictionary, _ = make_dictionary([sample])
    part = sample[1000:5000]
    assert len(blob_row(part, dictionary)["data"]) < len(blob_row(part)["data"]) / 10


def test_texts_are_stored_once_and_read_back(tmp_path: Path):
    """The same text twice is one row; a missing one is an error, not an empty text."""
    dictionary, row = make_dictionary(["hello world"])
    with Ledger.open(tmp_path / "l.duckdb") as ledger:
        rows = [row, blob_row("hello world, again", dictionary), blob_row("hello world, again")]
        ledger.append("blobs", rows)
        assert ledger.read("SELECT count(*) AS n FROM blobs") == [{"n": 2}]
        wanted = text_hash("hello world, again")
        assert texts(ledger, [wanted, wanted]) == {wanted: "hello world, again"}
        assert texts(ledger, []) == {}
        with pytest.raises(StoreError, match="missing"):
            texts(ledger, [text_hash("never stored")])


def test_a_brain_is_read_back_by_the_beginning_of_its_hash(tmp_path: Path):
    """Files, order, frozen ones and overlays are as they were."""
    one = Brain(
        files={"b.md": "b\n", "a.md": "a\n", "skill.md": "---\nname: s\ndescription: d\n---\n"},
        load=("b.md", "a.md"),
        on_demand=("skill.md",),
        frozen=("a.md",),
        extra={"overlays/models/m/b.md": "other\n"},
    )
    with Ledger.open(tmp_path / "l.duckdb") as ledger:
        for _ in range(2):
            assert remember_brain(ledger, one) == one.hash
        assert brain(ledger, one.hash) == one
        assert brain(ledger, one.hash[:10]) == one
        with pytest.raises(StoreError, match="no stored brain"):
            brain(ledger, "f" * 64)
