"""A document in parts says the same as the whole."""

from __future__ import annotations

import io
import json
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.ingest import batches as room
from heldout.ingest.batches import batches, head_of, members, sequence

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(value=VALUES, chunk=st.integers(1, 7), indent=st.none() | st.integers(0, 2))
def test_the_members_of_a_document_are_the_document(value, chunk, indent):
    """Put together again they are what json reads, however the text is cut."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    kept = room._CHUNK
    room._CHUNK = chunk
    try:
        found = list(members(io.StringIO(text)))
    finally:
        room._CHUNK = kept
    if isinstance(value, dict):
        again: dict = {}
        for one in found:
            if one.listed:
                again.setdefault(one.key, []).append(one.value)
            else:
                again[one.key] = one.value
        assert again == value
    elif isinstance(value, list):
        assert [one.value for one in found if one.listed] == value
    else:
        assert [one.value for one in found] == [value]


@pytest.mark.parametrize("text", ["[00]", "[1x]", '{"a": 1, "b": 2x}', '[{"a": 1}x]'])
def test_a_character_after_a_value_is_not_skipped(text: str):
    """What follows a value at the end of a file is read, and refused where it is no JSON."""
    with pytest.raises(ValueError, match="expected one of"):
        list(members(io.StringIO(text)))


@settings(max_examples=80, deadline=None)
@given(found=st.lists(st.dictionaries(st.text(max_size=3), VALUES, max_size=2), max_size=6),
       between=st.sampled_from(["", " ", "\n"]), chunk=st.integers(1, 40))  # fmt: skip
def test_documents_one_after_the_other_are_all_read(tmp_path_factory, found, between, chunk):
    """Nothing is lost of a file with several documents, with or without a space between them."""
    path = tmp_path_factory.mktemp("several") / "documents.json"
    path.write_text(between.join(map(json.dumps, found)), encoding="utf-8")
    kept = room._CHUNK
    room._CHUNK = chunk
    try:
        assert list(sequence(path)) == found
    finally:
        room._CHUNK = kept


@settings(max_examples=80, deadline=None)
@given(value=VALUES, cut=st.integers(0, 60), put=st.sampled_from(["", "}", ",", "x", "{"]))
def test_what_json_refuses_is_refused(value, cut, put):
    """A text that json does not take is a ValueError here too, and never a crash."""
    text = json.dumps(value)
    text = text[:cut] + put + text[cut + 1 :]
    try:
        json.loads(text)
    except ValueError:
        with pytest.raises(ValueError):
            list(members(io.StringIO(text)))
    else:
        list(members(io.StringIO(text)))


def test_a_large_file_comes_in_parts_that_say_the_same(tmp_path, monkeypatch):
    """Plain values are in every part, other ones in the first, the elements each once."""
    monkeypatch.setattr(room, "_BATCH_CHARS", 200)
    raw = {"resources": [{"n": n, "pad": "x" * 30} for n in range(50)], "version": 4,
           "outputs": {"a": 1}, "other": [1, 2], "empty": []}  # fmt: skip
    path = tmp_path / "one.json"
    path.write_text(json.dumps(raw))
    found = list(batches(path, whole_bytes=10))
    assert found[0] == {
        "resources": [],
        "version": 4,
        "outputs": {"a": 1},
        "other": [],
        "empty": [],
    }
    assert all(one["version"] == 4 for one in found)
    assert [two for one in found for two in one.get("resources", ())] == raw["resources"]
    assert [two for one in found for two in one.get("other", ())] == [1, 2]
    assert len(found) > 5
    assert list(batches(path)) == [raw]
    assert head_of(path)["version"] == 4


def test_a_large_list_comes_in_pieces(tmp_path, monkeypatch):
    """A file that is a list itself comes as lists."""
    monkeypatch.setattr(room, "_BATCH_CHARS", 20)
    path = tmp_path / "one.json"
    path.write_text(json.dumps(list(range(40))))
    found = list(batches(path, whole_bytes=10))
    assert len(found) > 2
    assert [two for one in found for two in one] == list(range(40))


def test_a_large_file_is_not_held(tmp_path, monkeypatch):
    """Memory stays below the size of the file."""
    monkeypatch.setattr(room, "_BATCH_CHARS", 400_000)
    monkeypatch.setattr(room, "_CHUNK", 100_000)
    path = tmp_path / "one.json"
    item = json.dumps({"pad": "x" * 2000})
    with path.open("w") as stream:
        stream.write('{"resources": [' + ",".join([item] * 3_000) + "]}")
    tracemalloc.start()
    assert sum(len(one["resources"]) for one in batches(path, whole_bytes=1000)) == 3_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < path.stat().st_size
