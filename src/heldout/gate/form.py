"""The form of a brain and the size of an edit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

import yaml

from heldout.gate.hits import Context, Hit
from heldout.gate.pages import FILE_NAMES, RATIONALE, Page, Place

SIZE = "edit-size"
FORMAT = "brain-format"
_FRONT = re.compile(r"\A---\n(.*?)\n---(?:\n|\Z)", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def check_size(context: Context) -> Iterator[Hit]:
    """How much an edit adds, and how much of that is digits. Without a base nothing is an edit."""
    if context.base is None:
        return
    old = Counter(line.strip() for text in context.base.all_files().values()
                  for line in text.split("\n"))  # fmt: skip
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
    limit = context.limits.added_lines
    if len(added) > limit:
        yield _line_hit(
            SIZE, added[limit][0], added[limit][1], f"{len(added)} lines added",
            f"At most {limit} lines an edit; keep what earns its place",
        )  # fmt: skip
    text = "".join(line for _, _, line in added)
    letters = sum(c.isalnum() for c in text)
    digits = sum(c.isdigit() for c in text)
    if digits >= 12 and digits > context.limits.digit_share * letters:
        page, number, _ = max(added, key=lambda row: sum(c.isdigit() for c in row[2]))
        yield _line_hit(
            SIZE, page, number, f"{digits} of {letters} characters are digits",
            "A method needs few numbers; leave the examples out",
        )  # fmt: skip


def check_format(context: Context) -> Iterator[Hit]:
    """Skills with front matter, no control characters, no empty sections, no repeated lines."""
    for page in context.scan.pages:
        if page.file in {RATIONALE, FILE_NAMES}:
            continue
        text = "\n".join(page.lines)
        if page.file.endswith("/SKILL.md") and not _skill(text):
            yield _line_hit(
                FORMAT, page, 1, page.file,
                "A skill begins with ---, name: ..., description: ..., ---",
            )  # fmt: skip
        for number, line in enumerate(page.lines, 1):
            if _CONTROL.search(line):
                yield _line_hit(FORMAT, page, number, "control character", "Keep to plain text")
        yield from _repeats(page)


def _skill(text: str) -> bool:
    match = _FRONT.match(text)
    if match is None:
        return text.startswith("<!-- overlay: append -->")
    try:
        front = yaml.safe_load(match[1])
    except yaml.YAMLError:
        return False
    return isinstance(front, dict) and bool(front.get("name")) and bool(front.get("description"))


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
    return " ".join(re.findall(r"[a-z]+", line.lower()))


def _line_hit(rule: str, page: Page, number: int, matched: str, hint: str) -> Hit:
    line = page.lines[number - 1] if page.lines else ""
    place = Place(page, number, 1, number, len(line) + 1)
    return Hit(rule, "reject", place, matched, "", "form", (), hint)
