"""Command lines as agents write them: words, options, and a few filters behind a pipe.

There is no shell. ``| grep``, ``| head``, ``| tail`` and ``| wc -l`` are read here, since agents
write them out of habit; everything else that a shell would do is refused.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import duckdb

from heldout.graph.ontology import near
from heldout.graph.packs.pack import Block
from heldout.graph.tools.arguments import read_time, read_until
from heldout.graph.tools.reader import Reader
from heldout.graph.tools.refusals import Refusal

MOST_FILTERED = 5_000
"""Lines that a filter looks through."""

_DURATION = re.compile(r"(\d{1,7})(ms|s|m|h|d|w)")
_AGO = re.compile(r"(\d{1,6})[ .]?(second|minute|hour|day|week|month)s?([ .]ago)?")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_WORDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800,
          "month": 2_592_000}  # fmt: skip
_FILTERS = ("grep", "head", "tail", "wc")

Options = Mapping[str, str]
"""Every spelling of an option, to its name; a name that ends in ``=`` takes a value."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command line: its words, its options by name, what follows ``--``, its filters."""

    words: tuple[str, ...]
    given: Mapping[str, str]
    after: tuple[str, ...]
    filters: tuple[tuple[str, ...], ...]

    def get(self, name: str, default: str = "") -> str:
        """An option's value; a flag that was given is ``"true"``."""
        return self.given.get(name, default)

    def number(self, name: str, default: int) -> int:
        """An option's value as a whole number that is not negative."""
        value = self.given.get(name)
        if value is None:
            return default
        if not re.fullmatch(r"\d{1,6}", value):
            raise Refusal("bad_argument", f"--{name} must be a whole number, not '{value[:40]}'")
        return int(value)


def read_command(program: str, text: str, options: Options) -> Command:
    """Read one command line, with or without the program's name in front."""
    first, *pipes = _stages(text)
    if first and first[0] == program:
        first = first[1:]
    if not first:
        raise Refusal("missing_argument", f"'command' must name what {program} is to do")
    words: list[str] = []
    given: dict[str, str] = {}
    rest = list(first)
    after: tuple[str, ...] = ()
    while rest:
        word = rest.pop(0)
        if word == "--":
            after = tuple(rest)
            break
        if len(word) < 2 or not word.startswith("-"):
            words.append(word)
            continue
        name, value = _option(program, word, options)
        if name.endswith("="):
            if value is None:
                if not rest:
                    raise Refusal("missing_argument", f"{word} needs a value")
                value = rest.pop(0)
            given[name[:-1]] = value
        else:
            given[name] = "true" if value is None else value
    return Command(tuple(words), given, after, tuple(_filter(stage) for stage in pipes))


def _stages(text: str) -> list[list[str]]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars="|;&<>")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError as error:
        raise Refusal(
            "bad_argument", f"the command line cannot be read: {str(error).lower()}"
        ) from error
    stages: list[list[str]] = [[]]
    for word in words:
        if word == "|":
            stages.append([])
        elif word and set(word) <= set("|;&<>"):
            raise Refusal("bad_argument", f"there is no shell: '{word[:20]}' does nothing here")
        else:
            stages[-1].append(word)
    return stages


def _option(program: str, word: str, options: Options) -> tuple[str, str | None]:
    """The option's name and the value that stands in the same word, if one does."""
    head, equals, tail = word.partition("=")
    if head in options:
        return options[head], tail if equals else None
    if not word.startswith("--"):
        if re.fullmatch(r"-\d{1,6}", word) and "-n" in options:
            return options["-n"], word[1:]
        short = options.get(word[:2], "")
        if short.endswith("=") and len(word) > 2:
            return short, word[2:]
    raise Refusal(
        "unknown_argument",
        f"{program} has no option '{head[:40]}' here",
        near(head, options) or tuple(options)[:8],
    )


def _filter(stage: Sequence[str]) -> tuple[str, ...]:
    if not stage or stage[0] not in _FILTERS:
        named = stage[0][:30] if stage else ""
        raise Refusal("bad_argument", f"there is no shell: output cannot go to '{named}'", _FILTERS)
    return tuple(stage)


def filtered(reader: Reader, blocks: Sequence[Block], command: Command) -> list[Block]:
    """The blocks that pass the command's filters; a block counts as one line."""
    kept = list(blocks)
    for name, *words in command.filters:
        if name == "grep":
            kept = _grep(reader, kept, words)
        elif name == "wc":
            kept = [Block(str(len(kept)))]
        else:
            count = _count(name, words)
            kept = kept[:count] if name == "head" else kept[max(len(kept) - count, 0) :]
    return kept


def _count(name: str, words: Sequence[str]) -> int:
    digits = re.fullmatch(r"(?:-n)?\s*-?(\d{1,6})", " ".join(words))
    if words and digits is None:
        raise Refusal("bad_argument", f"{name} takes -n and a number only")
    return int(digits[1]) if digits else 10


def _grep(reader: Reader, blocks: list[Block], words: Sequence[str]) -> list[Block]:
    flags = {letter for word in words if re.fullmatch(r"-[a-zA-Z]+", word) for letter in word[1:]}
    patterns = [word for word in words if not re.fullmatch(r"-[a-zA-Z]+", word)]
    if flags - set("iEvcFew") or len(patterns) != 1:
        raise Refusal("bad_argument", "grep takes one pattern and the flags -i -v -c -E -F -w only")
    hits = matching(
        reader,
        [block.text for block in blocks],
        patterns[0],
        fixed="F" in flags,
        any_case="i" in flags,
        words="w" in flags,
    )
    kept = [block for block, hit in zip(blocks, hits, strict=True) if hit != ("v" in flags)]
    return [Block(str(len(kept)))] if "c" in flags else kept


def matching(
    reader: Reader,
    lines: Sequence[str],
    pattern: str,
    *,
    fixed: bool = False,
    any_case: bool = False,
    words: bool = False,
) -> list[bool]:
    """Which lines a pattern matches, in time linear in their length (RE2)."""
    if not lines:
        return []
    if len(lines) > MOST_FILTERED:
        raise Refusal(
            "bad_argument", f"more than {MOST_FILTERED} lines to look through: narrow it down"
        )
    source = re.escape(pattern) if fixed else pattern.replace("\\|", "|")
    source = rf"\b(?:{source})\b" if words else source
    flag = "i" if any_case else "c"
    try:
        found = reader.rows(
            f"select [regexp_matches(line, $pattern, '{flag}') for line in $lines]",
            {"pattern": source, "lines": list(lines)},
        )
    except duckdb.InterruptException:
        raise
    except duckdb.Error as error:
        reason = str(error).splitlines()[0].split(": ", 1)[-1]
        raise Refusal("bad_argument", f"the pattern is not valid: {reason[:200]}") from error
    return [bool(hit) for hit in found[0][0]]


def moment(name: str, text: str, now: int, *, until: bool = False) -> int:
    """A time in microseconds: ISO 8601, a duration (``90m``) or words (``2 days ago``) before now.

    Also ``now``, ``yesterday`` and seconds since the epoch.
    """
    given = text.strip().lower()
    if given in ("now", ""):
        return now
    if given == "yesterday":
        return now - 86_400_000_000
    short, ago = _DURATION.fullmatch(given), _AGO.fullmatch(given)
    if short:
        return now - int(int(short[1]) * _SECONDS[short[2]] * 1_000_000)
    if ago:
        return now - int(ago[1]) * _WORDS[ago[2]] * 1_000_000
    if re.fullmatch(r"@?\d{9,10}(\.\d+)?", given):
        return int(float(given.lstrip("@")) * 1_000_000)
    return read_until(name, text) if until else read_time(name, text)


def age(microseconds: int) -> str:
    """A span as ``5d3h``, ``42m`` or ``9s``: its two largest units."""
    seconds = max(microseconds // 1_000_000, 0)
    days, hours, minutes = seconds // 86_400, seconds // 3600 % 24, seconds // 60 % 60
    if days:
        return f"{days}d{hours}h" if hours and days < 10 else f"{days}d"
    if hours:
        return f"{hours}h{minutes}m" if minutes else f"{hours}h"
    return f"{minutes}m" if minutes else f"{seconds}s"


def dated(microseconds: int) -> str:
    """A time as git prints it."""
    moment_ = datetime.fromtimestamp(microseconds // 1_000_000, UTC)
    return moment_.strftime("%Y-%m-%d %H:%M:%S +0000")
