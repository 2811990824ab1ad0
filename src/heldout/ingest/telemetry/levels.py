"""Levels as loggers write them, as the four of a world."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

DEFAULT = "INFO"
"""The level of a line that names none, on whatever stream it came."""

_WORDS = {
    "DEBUG": "trace debug dbg debu trc fine finer finest verbose verb d t v debug2 debug3 debug4",
    "INFO": "info information informational notice log default config i n unspecified ok",
    "WARN": "warn warning wrn w warni",
    "ERROR": "error err eror e fatal critical crit panic severe emergency emerg alert f c dpanic "
    "failure fault",
}
_BY_WORD: Mapping[str, str] = {
    word: level for level, words in _WORDS.items() for word in words.split()
}
_UPPER = re.compile(
    r"(?<![\w/.=-])(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|FATAL|CRITICAL|CRIT|PANIC|SEVERE"
    r"|EMERG|ALERT)(?![\w/.=-])"
)
_BRACKETED = re.compile(
    r"\[\s?(trace|debug|info|notice|warn|warning|error|err|fatal|critical|crit|panic|emerg|alert"
    r"|[DIWEF])\s?\]",
    re.IGNORECASE,
)
_LOGFMT = re.compile(
    r"(?:^|[\s{,])\"?(?:level|lvl|severity|loglevel)\"?[=:]\s?\"?(\w+)", re.IGNORECASE
)
_LEADING = re.compile(r"(error|warning|warn|fatal|panic|critical|info|debug): ", re.IGNORECASE)
_TROUBLE = re.compile(
    r"Traceback \(most recent call last\)|\bException in thread |^(?:panic|fatal error): "
)
_HEAD = 120


def level_of(value: Any, key: str = "") -> str | None:
    """The level that a field says; ``None`` where it is none.

    Numbers mean what the field's ``key`` makes of them: ``severitynumber`` as OpenTelemetry counts,
    ``priority`` as syslog does, else as bunyan and pino (10 to 60), or syslog below 8.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return _numbered(float(value), key)
    text = str(value).strip().lower()[:24]
    if text.isdecimal() and text.isascii():
        return _numbered(float(text), key)
    word = re.sub(r"^(?:severity_number_|level_|log_)|\d$", "", text)
    return _BY_WORD.get(text) or _BY_WORD.get(word)


def _numbered(value: float, key: str) -> str | None:
    if key.endswith("severitynumber") or key.endswith("severity_number"):
        steps = ((9, "DEBUG"), (13, "INFO"), (17, "WARN"), (25, "ERROR"))
        return next((level for limit, level in steps if 1 <= value < limit), None)
    if 0 <= value <= 7:
        return "ERROR" if value <= 3 else {4: "WARN", 7: "DEBUG"}.get(int(value), "INFO")
    steps = ((30, "DEBUG"), (40, "INFO"), (50, "WARN"), (1001, "ERROR"))
    return next((level for limit, level in steps if 10 <= value < limit), None)


def level_in(text: str) -> str | None:
    """The level that a line of text says near its head; ``None`` where it says none."""
    head = text[:_HEAD]
    for pattern in (_LOGFMT, _BRACKETED, _UPPER):
        match = pattern.search(head)
        if match:
            found = _BY_WORD.get(match[1].lower())
            if found:
                return found
    match = _LEADING.match(head)
    if match:
        return _BY_WORD.get(match[1].lower())
    return "ERROR" if _TROUBLE.search(head) else None
