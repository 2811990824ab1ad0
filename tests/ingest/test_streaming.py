"""JSON documents read event by event: the same values as read at once, and no hostile surprise."""

from __future__ import annotations

import io
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.ingest import streaming
from heldout.ingest.reading import Unreadable
from heldout.ingest.streaming import items

documents = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


def found(raw: bytes, *wanted: str) -> list[tuple[str, Any]]:
    """What is at the wanted paths of a document."""
    return list(items(io.BytesIO(raw), wanted))


@given(documents, documents)
@settings(max_examples=60, deadline=None)
def test_values_are_those_of_the_document(one: Any, two: Any):
    """Values at a path are what a parser of the whole finds there, whatever stands around them."""
    raw = json.dumps({"before": two, "rows": [one, two], "after": one}).encode()
    assert found(raw, "rows.item") == [("rows.item", one), ("rows.item", two)]
    assert found(raw, "") == [("", json.loads(raw))]
    assert found(raw, "before", "after") == [("before", two), ("after", one)]


@given(st.binary(max_size=200))
@settings(max_examples=80, deadline=None)
def test_any_bytes_give_values_or_a_reason(raw: bytes):
    """Bytes that are no JSON end in a named outcome."""
    with suppress(Unreadable):
        found(raw, "item", "a", "")


def test_a_document_that_breaks_off_gives_what_came_before():
    """Rows before the break are there, then the reason comes."""
    stream = items(io.BytesIO(b'{"Records": [{"a": 1}, {"a": 2}, {"a"'), ("Records.item",))
    assert [next(stream)[1], next(stream)[1]] == [{"a": 1}, {"a": 2}]
    with pytest.raises(Unreadable, match="does not parse"):
        next(stream)


def test_brackets_without_end_are_refused():
    """A million brackets are a few events until the depth is passed, not a memory full of paths."""
    with pytest.raises(Unreadable, match="nested too deeply"):
        found(b"[" * 1_000_000, "item.item.item")


def test_one_value_may_not_hold_everything(monkeypatch: pytest.MonkeyPatch):
    """A wanted value beyond the bound is refused and says which it was."""
    monkeypatch.setattr(streaming, "MAX_NODES", 10)
    raw = json.dumps({"rows": [list(range(11))]}).encode()
    with pytest.raises(Unreadable, match=r"'rows\.item' holds too much"):
        found(raw, "rows.item")


def test_documents_may_follow_one_another():
    """Lines of JSON are documents too."""
    assert found(b'{"a": 1}\n{"a": 2}', "a") == [("a", 1), ("a", 2)]
