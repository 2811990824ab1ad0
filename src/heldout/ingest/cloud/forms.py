"""Values in one form, whoever wrote them: texts, numbers, switches, sets of words, tags, documents.

A form returns ``None`` where the value says nothing, so that silence is never compared.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

Form = Callable[[Any], Any]

LONGEST_TEXT = 2_000
MAX_ITEMS = 200
_TRUE = frozenset({"true", "enabled", "on", "yes", "1", "active"})
_FALSE = frozenset({"false", "disabled", "off", "no", "0", "suspended", "inactive"})
_PROVIDER_TAGS = ("aws:",)


def text(value: Any) -> str | None:
    """A text without blanks around it; an empty one says nothing."""
    if value is None or isinstance(value, Mapping | list | tuple):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    found = str(value).strip()
    return found[:LONGEST_TEXT] or None


def lower(value: Any) -> str | None:
    """A text in small letters: providers differ in the case of their words."""
    found = text(value)
    return found.lower() if found else None


def number(value: Any) -> int | float | None:
    """A number, given as one or as text."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    if found != found or abs(found) == float("inf"):
        return None
    return int(found) if found.is_integer() else found


def switch(value: Any) -> bool | None:
    """On or off, given as a boolean or as one of the words for it."""
    if isinstance(value, bool):
        return value
    found = lower(value)
    return True if found in _TRUE else False if found in _FALSE else None


def words(value: Any) -> list[str] | None:
    """A set of texts, sorted; an empty set says something, nothing at all does not."""
    if value is None:
        return None
    if isinstance(value, str | int | float):
        value = [value]
    if not isinstance(value, Sequence):
        return None
    found = {word for one in value if (word := text(one)) is not None}
    return sorted(found)[:MAX_ITEMS]


def flag(word: str) -> Form:
    """On where the text is ``word``."""

    def form(value: Any) -> bool | None:
        found = lower(value)
        return None if found is None else found == word

    return form


def tags(value: Any) -> dict[str, str] | None:
    """Tags from a map or from pairs of key and value, those of the provider itself left out."""
    if isinstance(value, Mapping):
        pairs = list(value.items())
    elif isinstance(value, Sequence) and not isinstance(value, str):
        pairs = [(pick(one, "key"), pick(one, "value")) for one in value]
    else:
        return None
    found = {
        str(key): str(inner)
        for key, inner in pairs
        if isinstance(key, str) and inner is not None and not key.startswith(_PROVIDER_TAGS)
    }
    return dict(sorted(found.items())[:MAX_ITEMS])


def last(value: Any) -> str | None:
    """What follows the last slash or colon: the name in an ARN or a path."""
    found = text(value)
    return found.rsplit("/", 1)[-1].rsplit(":", 1)[-1] if found else None


def host(value: Any) -> str | None:
    """A host name in small letters, without the dot that ends it."""
    found = lower(value)
    return found.rstrip(".").replace("\\052", "*") if found else None


def record_values(value: Any) -> list[str] | None:
    """Values of a DNS record: texts without the quotes, names without the dot that ends them."""
    found = words(value)
    return None if found is None else sorted({one.strip('"').rstrip(".") for one in found})


def document(value: Any) -> Any:
    """A policy document in one form: decoded, single values as lists, lists sorted."""
    if isinstance(value, str):
        raw = unquote(value) if value.lstrip().startswith("%7B") else value
        try:
            value = json.loads(raw)
        except (ValueError, RecursionError):
            return text(value)
    if not isinstance(value, Mapping):
        return None
    statements = value.get("Statement", [])
    if isinstance(statements, Mapping):
        statements = [statements]
    if not isinstance(statements, list):
        return None
    kept = [_statement(one) for one in statements[:MAX_ITEMS] if isinstance(one, Mapping)]
    return sorted(kept, key=lambda one: json.dumps(one, sort_keys=True))


def current_document(value: Any) -> Any:
    """The document of a policy: of a list of versions the one in force."""
    if isinstance(value, list):
        value = next((pick(one, "document") for one in value
                      if pick(one, "is_default_version") in (True, "true")), None)  # fmt: skip
    return document(value)


def _statement(one: Mapping[str, Any]) -> dict[str, Any]:
    return {str(key): _settled(value) for key, value in sorted(one.items(), key=str)}


def _settled(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _settled(inner) for key, inner in sorted(value.items(), key=str)}
    if isinstance(value, list):
        parts = [one if isinstance(one, str) else json.dumps(one, sort_keys=True) for one in value]
        return parts[0] if len(parts) == 1 else sorted(parts)[:MAX_ITEMS]
    return value


def snake(name: str) -> str:
    """A provider's key as a state writes it: ``DBInstanceClass``, ``dBInstanceClass`` and
    ``db_instance_class`` are one."""
    found = _SNAKE.get(name)
    if found is None:
        found = _snake(name)
        if len(_SNAKE) < _MAX_SNAKE:
            _SNAKE[name] = found
    return found


_SNAKE: dict[str, str] = {}
_MAX_SNAKE = 20_000


def _snake(name: str) -> str:
    if "_" in name or name.islower():
        return name.lower()
    name = (name[:1].upper() + name[1:]).replace("ARNs", "Arns").replace("IDs", "Ids")
    parts: list[str] = []
    for at, letter in enumerate(name):
        after = name[at + 1 : at + 2]
        before = name[at - 1 : at]
        starts = letter.isupper() and at and (not before.isupper() or after.islower())
        parts.append(f"_{letter.lower()}" if starts else letter.lower())
    return "".join(parts)


def pick(value: Any, name: str) -> Any:
    """One key of a mapping, written in any of the ways that :func:`snake` makes equal."""
    if not isinstance(value, Mapping):
        return None
    if name in value:
        return value[name]
    for key, inner in value.items():
        if isinstance(key, str) and snake(key) == name:
            return inner
    return None


def dig(value: Any, path: str) -> Any:
    """What lies at a dotted path. A block that is a list of one is entered; ``name[]`` takes all.

    ``a|b`` is the first of two paths that leads to anything.
    """
    for one in path.split("|"):
        found = _dig(value, one.split("."))
        if found is not None:
            return found
    return None


def _dig(value: Any, steps: Sequence[str]) -> Any:
    for at, step in enumerate(steps):
        if step.endswith("[]"):
            inner = pick(value, step[:-2])
            if not isinstance(inner, list):
                return None
            rest = steps[at + 1 :]
            found = [_dig(one, rest) if rest else one for one in inner[: MAX_ITEMS * 10]]
            return [one for one in found if one is not None]
        if isinstance(value, list):
            value = value[0] if len(value) == 1 else None
        value = pick(value, step)
        if value is None:
            return None
    return value
