"""Copied sentences: of truths, alerts, judge reasoning (five content words), titles, logs (six)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from heldout.gate.hits import PHRASE_HINT, Context, Hit
from heldout.gate.inventory import HashIndex
from heldout.gate.pages import RATIONALE, Page, Place
from heldout.gate.shingles import PHRASE, TITLE, Word, content_words, shingle
from heldout.gate.views import View

RULE = "incident-phrase"
EVERYDAY = 0.1
"""A log line that more than two incidents and this share of them have is a library's."""
Row = tuple[Page, int, View]


def check(context: Context) -> Iterator[Hit]:
    """Runs of content words, also over line breaks; neighbouring runs are one hit."""
    by_page: dict[str, list[Row]] = {}
    for row in context.scan.folded:
        by_page.setdefault(row[0].file, []).append(row)
    for rows in by_page.values():
        yield from _check_page(context, _Words(rows))
        yield from _check_logs(context, _Words(rows, numbers=False))


class _Words:
    """The content words of a page in order, and where each stands."""

    def __init__(self, rows: Sequence[Row], *, numbers: bool = True) -> None:
        self.rows = rows
        lines = [content_words(view.text) for _, _, view in rows]
        self.words = [[word for word in line if numbers or not word.stem.isdigit()]
                      for line in lines]  # fmt: skip
        self.stems = [word.stem for line in self.words for word in line]
        self._firsts: list[int] = []
        at = 0
        for line in self.words:
            self._firsts.append(at)
            at += len(line)

    def hashes(self, size: int) -> list[int]:
        """One hash for every run of ``size`` words."""
        stems = self.stems
        return [shingle(stems[at : at + size]) for at in range(len(stems) - size + 1)]

    def place(self, first: int, last: int) -> Place:
        """The span from word ``first`` to word ``last``, both included."""
        (page, line, view), start = self._at(first)
        (_, end_line, end_view), end = self._at(last)
        return Place(
            page,
            line,
            view.starts[start.start] + 1,
            end_line,
            end_view.ends[end.end - 1] + 1,
        )

    def _at(self, index: int) -> tuple[Row, Word]:
        row = bisect_right(self._firsts, index) - 1
        while index - self._firsts[row] >= len(self.words[row]):
            row -= 1
        return self.rows[row], self.words[row][index - self._firsts[row]]


def _check_page(context: Context, words: _Words) -> Iterator[Hit]:
    runs = words.hashes(PHRASE)
    for source in ("truth", "alert"):
        index = context.inventory.phrases[source]
        yield from _hits(words, runs, index.known(runs), PHRASE, source, index)
    if context.job_phrases and words.rows[0][0].file != RATIONALE:
        known = [value in context.job_phrases for value in runs]
        yield from _hits(words, runs, known, PHRASE, "judge", None)
    index = context.inventory.phrases["title"]
    runs = words.hashes(TITLE)
    yield from _hits(words, runs, index.known(runs), TITLE, "title", index)


def _check_logs(context: Context, words: _Words) -> Iterator[Hit]:
    """Runs of log lines that few incidents have; their numbers differ from line to line."""
    index = context.inventory.phrases["log"]
    runs = words.hashes(TITLE)
    most = max(2, EVERYDAY * context.inventory.incidents)
    known = index.known(runs)
    own = [hit and len(set(index.owners(run))) <= most
           for hit, run in zip(known, runs, strict=True)]  # fmt: skip
    yield from _hits(words, runs, own, TITLE, "log", index)


def _hits(
    words: _Words,
    runs: Sequence[int],
    known: Sequence[bool],
    size: int,
    source: str,
    index: HashIndex | None,
) -> Iterator[Hit]:
    at = 0
    while at < len(known):
        if not known[at]:
            at += 1
            continue
        end = at
        while end + 1 < len(known) and known[end + 1]:
            end += 1
        place = words.place(at, end + size - 1)
        yield Hit(
            rule=RULE,
            severity="reject",
            place=place,
            matched=place.source,
            identifier_type=f"{source} phrase",
            owners=index.owners(runs[at]) if index is not None else (),
            hint=PHRASE_HINT,
            strong=source == "truth",
        )
        at = end + 1
