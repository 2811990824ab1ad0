"""Arguments of tool calls: what a model may send, read strictly but without pedantry.

A list may come as one string, a number as digits; ``null``, a blank string and an empty list mean
absent; a time may be ``now``, ``now-3h`` or seconds since the epoch; more rows than there are to a
page are a whole page. Everything else that does not fit is a :class:`Refusal` that says what would.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from rapidfuzz import fuzz, process

from heldout.graph.ontology import near
from heldout.graph.tools.refusals import Refusal

MAX_TEXT = 2_000
MAX_ITEMS = 100
_ALIKE = 85
"""Per cent of equal letters from which a name is taken for a misspelling."""
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_STEP = re.compile(r"(\d{1,9})\s*([smhd]?)")
_ENTITY_NAMES = ("id", "entity", "entity_id", "entity_ids")
_FIRST_SECOND, _LAST_SECOND = 1_000_000_000, 5_000_000_000
_ZONE = re.compile(r"\s*(?:UTC|GMT)$", re.IGNORECASE)
_RELATIVE = re.compile(
    r"(?:now)?\s*-\s*(\d{1,6})\s*([smhdw])|(\d{1,6})\s*([smhdw])\s+ago|now", re.IGNORECASE
)
"""As Grafana and Graphite write it."""
_STEP_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: its JSON schema and how a value becomes what the tool works with."""

    name: str
    schema: Schema
    read: Callable[[str, Any], Any]
    required: bool = False
    time: bool = False


def _bad(name: str, wanted: str, value: Any) -> Refusal:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    return Refusal("bad_argument", f"'{name}' must be {wanted}, not {shown}")


def read_text(name: str, value: Any, *, longest: int = MAX_TEXT) -> str:
    """A string without NUL or lone surrogates, of bounded length."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _bad(name, "a string", value)
    text = str(value)
    if len(text) > longest:
        raise Refusal("bad_argument", f"'{name}' is longer than {longest} characters")
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise Refusal("bad_argument", f"'{name}' holds characters that are no text")
    return text


def read_texts(name: str, value: Any) -> tuple[str, ...]:
    """A list of strings; one string stands for a list of one, commas separate."""
    if isinstance(value, str):
        value = [part for part in value.split(",") if part.strip()]
    if not isinstance(value, Sequence):
        raise _bad(name, "a list of strings", value)
    if len(value) > MAX_ITEMS:
        raise Refusal("bad_argument", f"'{name}' has more than {MAX_ITEMS} items")
    return tuple(read_text(name, item).strip() for item in value)


def read_time(name: str, value: Any) -> int:
    """An ISO 8601 time as microseconds; without a zone it is UTC. Also seconds since the epoch."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        for scale in (1_000_000, 1_000):
            if _FIRST_SECOND <= value * scale / 1_000_000 < _LAST_SECOND:
                return int(value * scale)
    if not isinstance(value, str) or len(value) > 64:
        raise _bad(name, "an ISO time such as 2026-03-04T12:00:00Z", value)
    try:
        moment = datetime.fromisoformat(_ZONE.sub("Z", value.strip()))
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
        return int(moment.astimezone(UTC).timestamp()) * 1_000_000 + moment.microsecond
    except (ValueError, OverflowError) as error:
        raise _bad(name, "an ISO time such as 2026-03-04T12:00:00Z", value) from error


def read_until(name: str, value: Any) -> int:
    """Like :func:`read_time`, up to the end of the second or day that was named."""
    start = read_time(name, value)
    if _DATE.fullmatch(str(value).strip()):
        return start + 86_400_000_000 - 1
    return start if start % 1_000_000 else start + 999_999


def absolute(value: Any, now: int) -> Any:
    """A time told from the present as ISO 8601, any other value as it is; ``now`` in µs."""
    match = _RELATIVE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        return value
    count, unit = match[1] or match[3] or "0", (match[2] or match[4] or "s").casefold()
    back = int(count) * (_STEP_SECONDS[unit] if unit != "w" else 7 * _STEP_SECONDS["d"])
    return datetime.fromtimestamp(max(0, now // 1_000_000 - back), UTC).isoformat()


def _integer(name: str, low: int, high: int, most: int) -> Callable[[str, Any], int]:
    def read(argument: str, value: Any) -> int:
        wanted = f"a whole number from {low} to {high}"
        if isinstance(value, str) and re.fullmatch(r"\d{1,6}", value.strip()):
            value = int(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= most:
            raise _bad(argument, wanted, value)
        return min(value, high)

    return read


def _one_of(words: Sequence[str]) -> Callable[[str, Any], str]:
    folded = {word.casefold(): word for word in words}

    def read(argument: str, value: Any) -> str:
        text = read_text(argument, value).strip()
        if text.casefold() not in folded:
            raise Refusal(
                "bad_argument",
                f"'{argument}' does not know '{text[:60]}'",
                near(text, words) or words[:8],
            )
        return folded[text.casefold()]

    return read


def _some_of(words: Sequence[str]) -> Callable[[str, Any], tuple[str, ...]]:
    one = _one_of(words)

    def read(argument: str, value: Any) -> tuple[str, ...]:
        return tuple(one(argument, item) for item in read_texts(argument, value))

    return read


def _read_step(name: str, value: Any) -> int:
    match = _STEP.fullmatch(str(value).strip()) if isinstance(value, str | int) else None
    if isinstance(value, bool) or match is None or int(match[1]) == 0:
        raise _bad(name, "a number of seconds, or one such as '5m' or '1h'", value)
    return int(match[1]) * _STEP_SECONDS[match[2]]


def _read_around(name: str, value: Any) -> tuple[str, int]:
    if isinstance(value, str):
        value = {"id": value}
    if not isinstance(value, Mapping) or "id" not in value or set(value) - {"id", "depth"}:
        raise _bad(name, 'an object such as {"id": "e-0123abcd", "depth": 1}', value)
    depth = _integer("depth", 0, 3, 3)(f"{name}.depth", value.get("depth", 1))
    return read_text(f"{name}.id", value["id"]).strip(), depth


def text(name: str, doc: str, *, required: bool = False) -> Argument:
    """A free text or an id."""
    return Argument(name, {"type": "string", "description": doc}, read_text, required)


def texts(name: str, doc: str, *, required: bool = False) -> Argument:
    """A list of free texts or ids."""
    schema = {"type": "array", "items": {"type": "string"}, "description": doc}
    return Argument(name, schema, read_texts, required)


def since(name: str, doc: str, *, required: bool = False) -> Argument:
    """A time that begins something."""
    return Argument(name, {"type": "string", "description": doc}, read_time, required, time=True)


def until(name: str, doc: str, *, required: bool = False) -> Argument:
    """A time that ends something, inclusive."""
    return Argument(name, {"type": "string", "description": doc}, read_until, required, time=True)


def integer(name: str, doc: str, low: int, high: int, *, most: int | None = None) -> Argument:
    """A whole number within bounds; up to ``most`` what is above them is taken for the highest."""
    schema = {"type": "integer", "minimum": low, "maximum": high, "description": doc}
    return Argument(name, schema, _integer(name, low, high, high if most is None else most))


def choice(name: str, doc: str, words: Sequence[str]) -> Argument:
    """One word out of a closed list."""
    schema = {"type": "string", "enum": list(words), "description": doc}
    return Argument(name, schema, _one_of(words))


def choices(name: str, doc: str, words: Sequence[str]) -> Argument:
    """Some words out of a closed list that is too long to spell out in a schema."""
    schema = {"type": "array", "items": {"type": "string"}, "description": doc}
    return Argument(name, schema, _some_of(words))


def step(name: str, doc: str) -> Argument:
    """A number of seconds."""
    return Argument(name, {"type": "integer", "minimum": 1, "description": doc}, _read_step)


def around(name: str, doc: str) -> Argument:
    """An entity and a number of hops."""
    schema = {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "depth": {"type": "integer", "minimum": 0, "maximum": 3},
        },
        "required": ["id"],
        "additionalProperties": False,
        "description": doc,
    }
    return Argument(name, schema, _read_around)


def read_arguments(
    tool: str, wanted: Sequence[Argument], given: Any, *, now: int
) -> dict[str, Any]:
    """Check and convert all arguments of one call; what does not fit is a :class:`Refusal`.

    ``now`` is the world's present, in microseconds since the epoch.
    """
    if not isinstance(given, Mapping):
        raise Refusal("bad_argument", f"the arguments of {tool} must be one JSON object")
    known = {argument.name: argument for argument in wanted}
    given = respelt(tool, _renamed(given, known), tuple(known))
    read: dict[str, Any] = {}
    for name, argument in known.items():
        value = given.get(name)
        if not argument.required and (value in ([], {}) or _says_nothing(value)):
            continue
        if value is not None:
            value = absolute(value, now) if argument.time else value
            read[name] = argument.read(name, value)
        elif argument.required:
            raise Refusal(
                "missing_argument", f"{tool} needs '{name}': {argument.schema['description']}"
            )
    return read


def _says_nothing(value: Any) -> bool:
    return isinstance(value, str) and value.strip().casefold() in ("", "null", "none")


def respelt(tool: str, given: Mapping[Any, Any], known: Sequence[str]) -> dict[str, Any]:
    """The arguments under their own names: a misspelt one is read as the one that it resembles.

    One that resembles none, or one that is given as well, is a :class:`Refusal`.
    """
    read = {name: value for name, value in given.items() if name in known}
    for name, value in given.items():
        if name in read:
            continue
        shown = str(name)[:60]
        hit = process.extractOne(shown, known, scorer=fuzz.ratio, score_cutoff=_ALIKE)
        if not isinstance(name, str) or hit is None or hit[0] in read:
            raise Refusal(
                "unknown_argument",
                f"{tool} has no argument '{shown}'",
                near(shown, known) or tuple(known),
            )
        read[hit[0]] = value
    return read


def _renamed(given: Mapping[Any, Any], known: Mapping[str, Argument]) -> Mapping[Any, Any]:
    """The arguments with an entity under the name that this tool has for it.

    Tools call it ``id``, ``entity`` or ``entity_ids``; a model that mixes them up means the same.
    """
    own = [name for name in _ENTITY_NAMES if name in known]
    if len(own) != 1 or own[0] in given:
        return given
    other = [name for name in given if name in _ENTITY_NAMES]
    if len(other) != 1:
        return given
    return {own[0] if name == other[0] else name: value for name, value in given.items()}
