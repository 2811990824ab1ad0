"""The form of a brain and the size of an edit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from heldout.brain import Brain
from heldout.gate.hits import Context, Hit
from heldout.gate.layout import check_files
from heldout.gate.pages import FILE_NAMES, RATIONALE, Page, Place
from heldout.gate.report import Severity
from heldout.gate.tools import check as check_tools

SIZE = "edit-size"
FORMAT = "brain-format"
MOST_GONE = 0.25
"""An edit that takes away more than this share of a brain's lines is remarked on."""
LEAST_GONE = 8
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def check_size(context: Context) -> Iterator[Hit]:
    """How much an edit adds and takes away, how long its lines are, how much of it is digits.

    Without a base nothing is an edit.
    """
    if context.base is None:
        return
    old = Counter(_lines(context.base))
    new = Counter(_lines(context.brain))
    before, after = old.total(), new.total()
    yield from _shrunk(context, (old - new).total(), before)
    added: list[tuple[Page, int, str]] = []
    for page, number, line in context.scan.lines():
        if page.file in {RATIONALE, FILE_NAMES} or not line.strip():
            continue
        if old[line.strip()] > 0:
            old[line.strip()] -= 1
        else:
            added.append((page, number, line))
    if not added:
        return
    limits = context.limits
    if len(added) > limits.added_lines:
        yield _line_hit(
            SIZE, *added[limits.added_lines][:2], f"{len(added)} lines added",
            f"At most {limits.added_lines} lines an edit; keep what earns its place",
        )  # fmt: skip
    if after > max(limits.brain_lines, before):
        yield _line_hit(
            SIZE, *added[-1][:2], f"{after} lines in all",
            f"A brain holds at most {limits.brain_lines} lines; take as much away as you add",
        )  # fmt: skip
    for page, number, line in added:
        if len(line) > limits.added_characters:
            yield _line_hit(
                SIZE, page, number, f"line of {len(line)} characters",
                f"At most {limits.added_characters} characters a line; one thought a line",
            )  # fmt: skip
    text = "".join(line for _, _, line in added)
    letters = sum(c.isalnum() for c in text)
    digits = sum(c.isdigit() for c in text)
    if digits >= 12 and digits > limits.digit_share * letters:
        page, number, _ = max(added, key=lambda row: sum(c.isdigit() for c in row[2]))
        yield _line_hit(
            SIZE, page, number, f"{digits} of {letters} characters are digits",
            "A method needs few numbers; leave the examples out",
        )  # fmt: skip


def _lines(brain: Brain) -> Iterator[str]:
    """The non-empty lines of a brain, without the space around them."""
    for text in brain.all_files().values():
        yield from (line.strip() for line in text.split("\n") if line.strip())


def _shrunk(context: Context, gone: int, before: int) -> Iterator[Hit]:
    """An edit that takes away much of a brain is worth a person's look."""
    if gone >= LEAST_GONE and gone > MOST_GONE * before:
        page = next((p for p in context.scan.pages if p.file not in {RATIONALE, FILE_NAMES}), None)
        if page is not None:
            yield _line_hit(
                SIZE, page, 1, f"{gone} of {before} lines taken away",
                "Say why so much of the method goes", "warn",
            )  # fmt: skip


def check_format(context: Context) -> Iterator[Hit]:
    """Files where they belong, skills with front matter, tools that exist, no line twice."""
    yield from check_files(context)
    yield from check_tools(context)
    for page in context.scan.pages:
        if page.file in {RATIONALE, FILE_NAMES}:
            continue
        for number, line in enumerate(page.lines, 1):
            if _CONTROL.search(line):
                yield _line_hit(FORMAT, page, number, "control character", "Keep to plain text")
        yield from _repeats(page)


def _repeats(page: Page) -> Iterator[Hit]:
    """The same sentence twice in one file: padding, or a slip."""
    seen: dict[str, int] = {}
    for number, line in enumerate(page.lines, 1):
        key = _bare(line)
        if len(key) < 30:
            continue
        if key in seen:
            yield _line_hit(
                FORMAT, page, number, line[:120], f"Line {seen[key]} says the same; keep one"
            )
        seen.setdefault(key, number)


@lru_cache(maxsize=20_000)
def _bare(line: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", line.lower()))


def _line_hit(
    rule: str, page: Page, number: int, matched: str, hint: str, severity: Severity = "reject"
) -> Hit:
    line = page.lines[number - 1] if page.lines else ""
    place = Place(page, number, 1, number, len(line) + 1)
    return Hit(rule, severity, place, matched, "", "form", (), hint)
