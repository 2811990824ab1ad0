"""Values that a culprit had: in its own unit, another one, in words, or bare beside its key."""

from __future__ import annotations

import re
from collections.abc import Iterator

from heldout.gate.amounts import Amount, amounts
from heldout.gate.extract import Value
from heldout.gate.hits import VALUE_HINT, Context, Hit, line_place
from heldout.gate.inventory import Owner
from heldout.gate.pages import Page
from heldout.gate.views import View
from heldout.gate.vocabulary import MODIFIERS, tokens

RULE = "incident-value"
LEAST = 20
"""A smaller number right behind a plain word is anybody's."""
NEAR = 2
"""How many words before a number its key may stand."""
_ASSIGNED = re.compile(r"([\w.-]+)[`'\"]?\s*(?:[:=]|=>|:=)\s*[`'\"]?$")
SENTENCE = 7
"""The same for a small number in words and a key of several words."""


def check(context: Context) -> Iterator[Hit]:
    """Quantities equal to a culprit's old or new value, unless anybody may name them."""
    for row in context.scan.folded:
        text = row[2].text
        if not text or text.isspace():
            continue
        words: tuple[str, ...] | None = None
        spans: set[tuple[int, int]] = set()
        for amount in amounts(text):
            matches = context.inventory.with_value(amount.dimension, amount.value)
            if not matches or (amount.start, amount.end) in spans:
                continue
            if words is None:
                words = tuple(tokens(text))
            telling = [m for m in matches if _tells(amount, m[0], words, text)]
            if telling:
                spans.add((amount.start, amount.end))
                yield _hit(row, amount, telling)


def _hit(row: tuple[Page, int, View], amount: Amount, matches: list[tuple[Value, Owner]]) -> Hit:
    place = line_place(row, amount.start, amount.end)
    owners = tuple(dict.fromkeys(owner for _, owner in matches))
    return Hit(RULE, "reject", place, place.source, place.source, "value", owners, VALUE_HINT)


def _tells(amount: Amount, value: Value, words: tuple[str, ...], text: str) -> bool:
    """True where the number gives the value away: by itself, or because its key stands beside."""
    if amount.small:
        return _led_by(value.key, amount, text)
    if value.key and (
        _beside(value.key, words)
        or _next_to(value.key, amount, text)
        or _assigned(value.key, amount, text)
    ):
        return True
    if amount.dimension == "number":
        return amount.is_distinctive()
    return not amount.is_common()


def _next_to(key: tuple[str, ...], amount: Amount, text: str) -> bool:
    """True where the one telling word of a key stands right before a number that is not small.

    Words that name a unit, as in ``ttl_seconds``, may stand between.
    """
    telling = _telling(key)
    if len(telling) != 1 or (amount.dimension == "number" and amount.value < LEAST):
        return False
    return telling[0] in tokens(text[: amount.start])[-NEAR - len(key) + 1 :]


def _led_by(key: tuple[str, ...], amount: Amount, text: str) -> bool:
    """True where a key of several telling words stands before the number in its sentence."""
    telling = _telling(key)
    before = tokens(text[: amount.start].rpartition(". ")[2])[-SENTENCE:]
    return len(telling) > 1 and all(word in before for word in telling)


def _assigned(key: tuple[str, ...], amount: Amount, text: str) -> bool:
    """True where the number is written as the key's value, as in ``version: 4``."""
    before = _ASSIGNED.search(text[: amount.start])
    return before is not None and "".join(tokens(before[1])) == "".join(key)


def _beside(key: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """True where the telling words of a key of several words all stand in the line, or glued."""
    telling = _telling(key)
    if len(telling) < 2:
        return False
    whole = "".join(key)
    return all(word in words for word in telling) or any(whole in word for word in words)


def _telling(key: tuple[str, ...]) -> list[str]:
    return [word for word in key if len(word) > 2 and word not in MODIFIERS]
