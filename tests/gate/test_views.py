"""Views: what a reader sees, and where it was written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.gate.pages import BLANK, BREAK, INSIDE, JOINT, SOFT, Page, Scan, squash
from heldout.gate.views import fold, without_markup

PIECES = st.sampled_from(
    ["kestrovan", "-", "_", " ", "**", "`", "&#101;", "&amp;", "%6c", "%zz", "\\u006c", "\\-", "é",
     "\u200b", "\u00ad", "К", "ｌ", "ß", "<!-- x -->", "<b>", "A", "9", "😀", "ﬁ", "\t", "\x07"]
)  # fmt: skip


@given(st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=20).map("".join)))
def test_every_folded_character_knows_where_it_came_from(source: str):
    """Spans lie inside the source, never run backwards, and are never empty."""
    view = fold(source)
    assert len(view.starts) == len(view.ends) == len(view.text)
    assert all(0 <= a < b <= len(source) for a, b in zip(view.starts, view.ends, strict=True))
    assert list(view.starts) == sorted(view.starts)
    assert list(view.ends) == sorted(view.ends)


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126), max_size=80))
def test_plain_text_folds_to_itself(source: str):
    """Without marks and escapes a view is the text, character by character."""
    if not set(source) & set("&%\\*`~"):
        view = fold(source)
        assert view.text == source
        assert list(view.starts) == list(range(len(source)))


@given(st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=20).map("".join)))
def test_squashed_characters_point_at_letters_and_digits(source: str):
    """Squashing keeps letters and digits only, each with its edge and its index."""
    text = fold(source).text
    squashed = squash(text)
    assert len(squashed.text) == len(squashed.edges) == len(squashed.at)
    assert all(text[index].isalnum() for index in squashed.at)
    assert "".join(text[index].lower() for index in squashed.at).startswith(squashed.text[:1])


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126), max_size=60))
def test_ascii_is_squashed_as_any_other_text(source: str):
    """The quick way for ASCII gives what the way for all of Unicode gives."""
    quick, slow = squash(source), squash(source + "é")
    assert slow.text == quick.text + "é"
    assert slow.at[:-1] == quick.at
    assert slow.edges[:-1] == quick.edges


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("led\u200bger", "ledger"),
        ("led\u00adger", "ledger"),
        ("lеdgеr", "ledger"),
        ("ｌｅｄｇｅｒ", "ledger"),
        ("lédgër", "ledger"),
        ("l&#101;dger", "ledger"),
        ("l&#x65;dger", "ledger"),
        ("%6c%65dger", "ledger"),
        ("\\u006cedger", "ledger"),
        ("\\x6cedger", "ledger"),
        ("led**ger**", "ledger"),
        ("`led``ger`", "ledger"),
        ("led\\-ger", "led-ger"),
        ("led—ger", "led-ger"),
        ("95 % of 50%", "95 % of 50%"),
    ],
)
def test_disguises_are_undone(written: str, read: str):
    """Each way to hide a word from a search is undone."""
    assert fold(written).text == read


def test_comments_and_tags_are_taken_out_and_also_kept():
    """Text with a comment in a word is read both ways."""
    view = without_markup("led<!-- not here -->ger <b>of</b> all")
    assert view is not None
    assert view.text == "ledger of all"
    assert without_markup("nothing to take out") is None
    page = Page(
        "a.md",
        (
            "a led<!-- x",
            "y -->ger b",
        ),
    )
    scan = Scan((page,))
    assert "ledger" not in scan.squashed.text
    assert scan.unmarked is not None
    assert "ledger" in scan.unmarked.text
    at = scan.unmarked.text.index("ledger")
    place = scan.unmarked.place(at, at + 6)
    assert (place.line, place.column, place.end_line) == (1, 3, 2)


def test_edges_tell_cases_separators_blanks_and_lines_apart():
    """A squashed character remembers what stood before it."""
    squashed = squash("aB c-d2")
    assert squashed.text == "abcd2"
    assert list(squashed.edges) == [BREAK, SOFT, BLANK, JOINT, SOFT]
    assert list(squash("ab").edges) == [BREAK, INSIDE]


def test_a_span_over_a_line_break_is_found_and_placed():
    """A name at the end of one line and the start of the next is one name."""
    scan = Scan((Page("a.md", ("see kestro", "", "van now")),))
    at = scan.squashed.text.index("kestrovan")
    place = scan.squashed.place(at, at + 9)
    assert (place.line, place.column, place.end_line, place.end_column) == (1, 5, 3, 4)
    assert place.source == "kestro\n\nvan"
