"""Copied sentences: of truths, alerts, judge reasoning (five content words) and titles (six)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from heldout.gate.hits import PHRASE_HINT, Context, Hit
from heldout.gate.pages import RATIONALE, Page, Place
from heldout.gate.shingles import PHRASE, TITLE, Word, content_words, shingle
from heldout.gate.views import View

RULE = "incident-phrase"
Source = Literal["truth", "alert", "title"]


@dataclass(frozen=True, slots=True)
class _Spot:
    """A content word with the line that it is in."""

    word: Word
    row: tuple[Page, int, View]


def check(context: Context) -> Iterator[Hit]:
    """Runs of content words, also over line breaks; neighbouring runs are one hit."""
    for page in context.scan.pages:
        spots = [
            _Spot(word, row) for row in _rows(context, page) for word in content_words(row[2].text)
        ]
        stems = [spot.word.stem for spot in spots]
        for size, sources in ((PHRASE, ("truth", "alert")), (TITLE, ("title",))):
            hashes = [shingle(stems[at : at + size]) for at in range(len(stems) - size + 1)]
            for source in sources:
                known = context.inventory.phrases[source].known(hashes)
                yield from _hits(context, spots, hashes, known, size, source)
            if size == PHRASE and context.job_phrases and page.file != RATIONALE:
                known = [value in context.job_phrases for value in hashes]
                yield from _hits(context, spots, hashes, known, size, "job")


def _rows(context: Context, page: Page) -> list[tuple[Page, int, View]]:
    return [row for row in context.scan.folded if row[0] is page]


def _hits(
    context: Context,
    spots: Sequence[_Spot],
    hashes: Sequence[int],
    known: Sequence[bool],
    size: int,
    source: str,
) -> Iterator[Hit]:
    at = 0
    while at < len(known):
        if not known[at]:
            at += 1
            continue
        end = at
        while end + 1 < len(known) and known[end + 1]:
            end += 1
        place = _place(spots[at], spots[end + size - 1])
        owners = () if source == "job" else context.inventory.phrases[source].owners(hashes[at])
        yield Hit(
            rule=RULE,
            severity="reject",
            place=place,
            matched=place.source,
            identifier_type=f"{source} phrase" if source != "job" else "judge phrase",
            owners=owners,
            hint=PHRASE_HINT,
            strong=source == "truth",
        )
        at = end + 1


def _place(first: _Spot, last: _Spot) -> Place:
    page, line, view = first.row
    start, _ = view.span(first.word.start, first.word.end)
    _, end_line, end_view = last.row
    _, end = end_view.span(last.word.start, last.word.end)
    return Place(page, line, start + 1, end_line, end + 1)
