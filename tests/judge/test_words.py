"""Words as the exact judge reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.judge.words import hedge, holds, words

names = st.lists(
    st.sampled_from(["max", "pool", "ttl", "http", "retry", "size"]), min_size=1, max_size=4
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("maxConnections", ("max", "connection")),
        ("MAX_CONNECTIONS", ("max", "connection")),
        ("HTTPServer/v1beta1", ("http", "server", "v1beta1")),
        ("spec.template.minReadySeconds", ("spec", "template", "min", "ready", "second")),
        ("", ()),
    ],
)
def test_words_split_code_names(text: str, expected: tuple[str, ...]):
    """Names of code fall into their words, case-folded and without plural."""
    assert words(text) == expected


@given(names)
def test_all_spellings_of_a_name_hold_each_other(parts: list[str]):
    """snake, kebab, camel, spaced and joined spellings of one name find each other."""
    camel = parts[0] + "".join(part.title() for part in parts[1:])
    spellings = ["_".join(parts), "-".join(parts), " ".join(parts), camel, "".join(parts)]
    for written in spellings:
        for term in spellings:
            assert holds(words(f"the {written} was wrong"), term)


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("spooler", "pool"),
        ("pooled", "pool"),
        ("200", "20"),
        ("v1beta1", "v1"),
        ("max pool connections", "max connections"),
        ("anything", ""),
        ("anything", "_"),
    ],
)
def test_parts_of_words_do_not_count(text: str, term: str):
    """A term begins and ends at word borders and its words stand side by side."""
    assert not holds(words(text), term)


@given(st.text(max_size=300))
def test_reading_never_fails(text: str):
    """Any text can be read; a sentence without alternatives has no hedge."""
    assert isinstance(words(text), tuple)
    assert isinstance(hedge(text), str)
    assert not hedge("The pool was lowered to 20 and ran out at the peak.")
