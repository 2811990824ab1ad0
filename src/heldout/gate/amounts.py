"""Quantities in text and in configuration: a dimension and a value in base units.

Base units: seconds, bytes, per cent, CPU cores, per second. A number without a unit has the
dimension ``number``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

TOLERANCE = 0.001
"""Relative: 1 GiB and 1.07 GB are one value as people write it, 1 and 1.01 are not."""

_UNITS: dict[str, tuple[str, float]] = {}
for _names, _dimension, _factor in (
    ("ns nanosecond nanoseconds", "time", 1e-9),
    ("us µs μs microsecond microseconds", "time", 1e-6),
    ("ms msec msecs millis millisecond milliseconds", "time", 1e-3),
    ("s sec secs second seconds", "time", 1.0),
    ("m min mins minute minutes", "time", 60.0),
    ("h hr hrs hour hours", "time", 3600.0),
    ("d day days", "time", 86400.0),
    ("w week weeks", "time", 604800.0),
    ("b byte bytes", "bytes", 1.0),
    ("kb kilobyte kilobytes", "bytes", 1e3),
    ("mb megabyte megabytes", "bytes", 1e6),
    ("gb gigabyte gigabytes", "bytes", 1e9),
    ("tb terabyte terabytes", "bytes", 1e12),
    ("ki kib kibibyte kibibytes", "bytes", 2.0**10),
    ("mi mib mebibyte mebibytes", "bytes", 2.0**20),
    ("gi gib gibibyte gibibytes", "bytes", 2.0**30),
    ("ti tib tebibyte tebibytes", "bytes", 2.0**40),
    ("% percent pct", "percent", 1.0),
    ("cpu cpus core cores vcpu vcpus", "cpu", 1.0),
    ("millicpu millicpus millicore millicores", "cpu", 1e-3),
    ("/s rps qps tps iops", "rate", 1.0),
):
    for _name in _names.split():
        _UNITS[_name] = (_dimension, _factor)

_UNIT = "|".join(sorted((re.escape(name) for name in _UNITS), key=len, reverse=True))
_NUMBER = r"\d{1,3}(?:[,_]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_AMOUNT = re.compile(
    rf"(?<![\w.])(?<![A-Za-z]-)(?P<number>{_NUMBER})(?![,.]?\d)"
    rf"(?:(?:\s{{0,2}}|-)(?P<unit>{_UNIT})(?![A-Za-z0-9]))?",
    re.IGNORECASE,
)
_BELOW_TWENTY = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
_TIMES_TEN = "twenty thirty forty fifty sixty seventy eighty ninety"
_ONES = {word: value for value, word in enumerate(_BELOW_TWENTY.split())}
_TENS = {word: 10 * value for value, word in enumerate(_TIMES_TEN.split(), 2)}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_SPELLED_WORD = "|".join([*_SCALES, *_TENS, *sorted(_ONES, key=len, reverse=True)])
_SPELLED = re.compile(
    rf"\b(?:{_SPELLED_WORD})(?:(?:[ -]|\sand\s)(?:{_SPELLED_WORD}))*\b", re.IGNORECASE
)
_HINTS = {
    word: unit
    for words, unit in (
        ("ms msec msecs millis millisecond milliseconds", "ms"),
        ("us usec usecs micros microseconds", "us"),
        ("s sec secs second seconds", "s"),
        ("min mins minute minutes", "min"),
        ("hour hours hrs", "h"),
        ("day days", "d"),
        ("byte bytes", "b"),
        ("kb", "kb"), ("kib", "ki"), ("mb mib", "mi"), ("gb gib", "gi"),
        ("percent pct percentage", "%"),
    )
    for word in words.split()
}  # fmt: skip
"""What the last word of a key says about the unit of its value."""
_COMMON_TIME = (
    *(value * 1e-3 for value in (1, 10, 50, 100, 200, 500)),
    *(1.0, 2.0, 3.0, 5.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0, 90.0),
    *(60.0 * value for value in (1, 2, 3, 4, 5, 10, 15, 20, 30, 45, 60, 90, 120)),
    *(3600.0 * value for value in (1, 2, 3, 4, 6, 8, 12, 18, 24, 36, 48, 72, 96)),
    *(86400.0 * value for value in (*range(1, 15), 21, 28, 30, 45, 60, 90, 180, 365)),
)
_COMMON: dict[str, tuple[float, ...]] = {
    "time": _COMMON_TIME,
    "percent": (0, 1, 2, 5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 95, 99, 99.9, 100),
    "bytes": (1, 1e3, 1e6, 1e9, 2.0**10, 2.0**20, 2.0**30, 8192.0, 8000.0),
    "cpu": (1.0, 2.0, 4.0),
    "rate": (1.0, 10.0, 100.0),
}


_WELL_KNOWN = frozenset(
    (101, 127, 128, 137, 143, 201, 202, 204, 206, 255, 256, 301, 302, 304, 307, 308, 401, 403, 404,
     408, 409, 422, 429, 499, 501, 502, 503, 504, 512, 720, 1024, 2048, 4096, 8192)
)  # fmt: skip
"""Status codes, exit codes and powers of two that anybody may name."""


@dataclass(frozen=True, slots=True)
class Amount:
    """One quantity at ``text[start:end]``."""

    dimension: str
    value: float
    start: int = 0
    end: int = 0
    small: bool = False
    """A bare number up to twenty in words, as any sentence may hold."""

    def is_common(self) -> bool:
        """True for values that any method may name (5 minutes, 14 days, 99 %)."""
        return any(close(self.value, common) for common in _COMMON.get(self.dimension, ()))

    def is_distinctive(self) -> bool:
        """True for a bare number that nobody writes by chance: 100 and up, not round.

        Calendar years, status codes and powers of two are not distinctive.
        """
        value = self.value
        if value != int(value):
            return value >= 10
        if value < 100 or value % (10 if value < 1000 else 100) == 0 or 1990 <= value <= 2100:
            return False
        return int(value) not in _WELL_KNOWN


def close(first: float, second: float) -> bool:
    """Equal within the tolerance of rounding for display."""
    return abs(first - second) <= TOLERANCE * max(abs(first), abs(second), 1e-12)


@lru_cache(maxsize=20_000)
def amounts(text: str) -> tuple[Amount, ...]:
    """Every quantity of a folded text, numbers in words included."""
    return tuple(_amounts(text))


def _amounts(text: str) -> Iterator[Amount]:
    for match in _AMOUNT.finditer(text):
        number = float(match["number"].replace(",", "").replace("_", ""))
        yield from _amounts_of(number, match["unit"], text, match.start(), match.end())
    for match in _SPELLED.finditer(text):
        number = float(_spelled(match.group()))
        unit = re.match(rf"[ -]({_UNIT})(?![A-Za-z])", text[match.end() :], re.IGNORECASE)
        end = match.end() + (unit.end() if unit else 0)
        if unit or number > 20:
            yield from _amounts_of(number, unit[1] if unit else None, text, match.start(), end)
        elif number > 1:
            yield Amount("number", number, match.start(), end, small=True)


def _amounts_of(
    number: float, unit: str | None, text: str, start: int, end: int
) -> Iterator[Amount]:
    if unit is None:
        yield Amount("number", number, start, end)
        return
    dimension, factor = _UNITS[unit.lower()]
    if unit == "m" and number >= 10 and text[end - 2 : end - 1].isdigit():
        yield Amount("cpu", number / 1000, start, end)
    if unit.lower() in {"kb", "mb", "gb", "tb"}:
        binary = _UNITS[unit.lower()[0] + "i"][1]
        yield Amount("bytes", number * binary, start, end)
    yield Amount(dimension, number * factor, start, end)


def _spelled(words: str) -> int:
    total = current = 0
    for word in re.findall(r"[a-z]+", words.lower()):
        if word in _ONES:
            current += _ONES[word]
        elif word in _TENS:
            current += _TENS[word]
        elif word == "hundred":
            current = max(current, 1) * 100
        elif word in _SCALES:
            total += max(current, 1) * _SCALES[word]
            current = 0
    return total + current


def amounts_of_value(value_json: str, field: str) -> list[Amount]:
    """The quantities of a configuration value, read with what the field's name says of its unit."""
    try:
        value = json.loads(value_json)
    except ValueError:
        value = value_json
    found: list[Amount] = []
    for scalar in _scalars(value):
        text = str(scalar)
        if isinstance(scalar, bool) or len(text) > 200:
            continue
        if isinstance(scalar, int | float) or re.fullmatch(r"-?\d+(?:\.\d+)?", text):
            found.extend(_bare(float(text), field))
        else:
            found.extend(amount for amount in amounts(text) if amount.dimension != "number")
            measured = re.fullmatch(r"(\d+(?:\.\d+)?) ?[A-Za-z%]{1,12}", text)
            if measured:
                found.append(Amount("number", float(measured[1])))
    return found


def _bare(number: float, field: str) -> Iterator[Amount]:
    yield Amount("number", number)
    leaf = re.split(r"[./]", field)[-1]
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", leaf)
    unit = _HINTS.get(words[-1].lower()) if words else None
    if unit is not None:
        dimension, factor = _UNITS[unit]
        yield Amount(dimension, number * factor)
    elif 0 < number < 1 and re.search(r"ratio|fraction|threshold|rate", leaf, re.IGNORECASE):
        yield Amount("percent", number * 100)


def _scalars(value: Any, depth: int = 0) -> Iterator[Any]:
    if depth > 4:
        return
    if isinstance(value, dict):
        for inner in list(value.values())[:20]:
            yield from _scalars(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value[:20]:
            yield from _scalars(inner, depth + 1)
    elif value is not None:
        yield value
