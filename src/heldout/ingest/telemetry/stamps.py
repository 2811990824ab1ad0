"""Times as logs and metrics write them, as integer microseconds since the epoch, UTC.

A time without a zone is taken as UTC. A time without a year (syslog, klog) takes the year that
brings it nearest to, and not a day after, a reference.
"""

from __future__ import annotations

import re
from calendar import timegm
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

SECOND = 1_000_000
DAY = 86_400 * SECOND
EARLIEST = 0
LATEST = 4_102_444_800 * SECOND
"""2100-01-01: what lies outside is no time of a log."""

_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_MONTH = "(?:[Jj]an|[Ff]eb|[Mm]ar|[Aa]pr|[Mm]ay|[Jj]un|[Jj]ul|[Aa]ug|[Ss]ep|[Oo]ct|[Nn]ov|[Dd]ec)"
_ZONE = r"(?: ?(Z|UTC|GMT|[+-]\d\d:?\d\d))?(?![\w:])"
_ISO = re.compile(
    r"(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?" + _ZONE, re.ASCII
)
_KLOG = re.compile(r"[IWEFD](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{1,9})(?=\s)", re.ASCII)
_SYSLOG = re.compile(
    rf"({_MONTH}) {{1,2}}(\d{{1,2}}) (\d\d):(\d\d):(\d\d)"
    r"(?:\.(\d{1,9}))?(?: (\d{4}))?(?![\w:])",
    re.ASCII,
)
_WEB = re.compile(
    rf"(\d\d)[/ -]({_MONTH})[/ -](\d{{4}})[: ](\d\d):(\d\d):(\d\d)(?:[.,](\d{{1,9}}))?" + _ZONE,
    re.ASCII,
)
_EPOCH = re.compile(
    r"(\d{10})(?:(\d{3})|(\d{6})|(\d{9}))?(?:\.(\d{1,9}))?(?=[\s,\]|;]|$)", re.ASCII
)
_EPOCH_TEXT = re.compile(r"-?\d{1,19}(?:\.\d{1,9})?(?:[eE]\+?\d{1,2})?", re.ASCII)


class Stamp(NamedTuple):
    """A time and where in the text it ends; ``dated`` is false where the year was inferred."""

    ts: int
    end: int
    dated: bool = True


@lru_cache(maxsize=4096)
def _seconds(year: int, month: int, day: int, hour: int, minute: int, second: int) -> int | None:
    try:
        datetime(year, month, day, hour, minute, second - (second == 60))
    except ValueError:
        return None
    return timegm((year, month, day, hour, minute, second))


def _micros(fraction: str | None) -> int:
    return int(fraction[:6].ljust(6, "0")) if fraction else 0


def _offset(zone: str | None) -> int:
    if not zone or zone[0] not in "+-":
        return 0
    minutes = int(zone[1:3]) * 60 + int(zone[-2:])
    return (-minutes if zone[0] == "-" else minutes) * 60


def _whole(seconds: int | None, fraction: str | None, zone: str | None = None) -> int | None:
    if seconds is None:
        return None
    return _sane((seconds - _offset(zone)) * SECOND + _micros(fraction))


def _sane(moment: int) -> int | None:
    return moment if EARLIEST < moment < LATEST else None


def _iso(match: re.Match[str]) -> int | None:
    year, month, day, hour, minute, second = map(int, match.group(1, 2, 3, 4, 5, 6))
    return _whole(_seconds(year, month, day, hour, minute, second), match[7], match[8])


def _web(match: re.Match[str]) -> int | None:
    hour, minute, second = map(int, match.group(4, 5, 6))
    seconds = _seconds(int(match[3]), _month(match[2]), int(match[1]), hour, minute, second)
    return _whole(seconds, match[7], match[8])


def _month(name: str) -> int:
    return _MONTHS[name.lower()]


def _epoch(match: re.Match[str]) -> int | None:
    digits, fraction = match[0].partition(".")[::2]
    scale = {10: 1_000_000, 13: 1_000, 16: 1}.get(len(digits))
    if scale is None:
        return _sane(int(digits) // 1000)
    return _sane(int(digits) * scale + (_micros(fraction) if scale == 1_000_000 else 0))


class Clock:
    """Finds the time at the head of a line; what it found last is what it tries first.

    ``reference`` (microseconds) is what times without a year are near; each time with a year
    becomes the reference for those after it.
    """

    def __init__(self, reference: int) -> None:
        self._reference = reference
        self._forms: list[tuple[re.Pattern[str], Callable[[re.Match[str]], Stamp | None]]] = [
            (_ISO, lambda match: self._full(match, _iso(match))),
            (_KLOG, self._klog),
            (_SYSLOG, self._syslog),
            (_WEB, lambda match: self._full(match, _web(match))),
            (_EPOCH, lambda match: self._full(match, _epoch(match))),
        ]

    def leading(self, text: str, start: int = 0) -> Stamp | None:
        """The time that the text has at ``start``, ``None`` where it has none there."""
        for place, (pattern, read) in enumerate(self._forms):
            match = pattern.match(text, start)
            found = read(match) if match else None
            if found is not None:
                if place:
                    self._forms.insert(0, self._forms.pop(place))
                return found
        return None

    def bracketed(self, text: str, within: int = 200) -> tuple[Stamp, int] | None:
        """A time in brackets near the head, as web servers write it, and where the bracket opens.

        The end of the stamp is after the closing bracket.
        """
        place = text.find("[", 0, within)
        for _ in range(4):
            if place < 0:
                return None
            found = self.leading(text, place + 1)
            if found is not None:
                closed = text.find("]", found.end, found.end + 12)
                return found._replace(end=closed + 1 if closed >= 0 else found.end), place
            place = text.find("[", place + 1, within)
        return None

    def _full(self, match: re.Match[str], moment: int | None) -> Stamp | None:
        if moment is None:
            return None
        self._reference = moment
        return Stamp(moment, match.end())

    def _klog(self, match: re.Match[str]) -> Stamp | None:
        month, day, hour, minute, second = map(int, match.group(1, 2, 3, 4, 5))
        return self._near((month, day, hour, minute, second), match[6], match.end())

    def _syslog(self, match: re.Match[str]) -> Stamp | None:
        parts = (_month(match[1]), int(match[2]), int(match[3]), int(match[4]), int(match[5]))
        if match[7]:
            moment = _whole(_seconds(int(match[7]), *parts), match[6])
            return self._full(match, moment)
        return self._near(parts, match[6], match.end())

    def _near(
        self, parts: tuple[int, int, int, int, int], fraction: str | None, end: int
    ) -> Stamp | None:
        year = datetime.fromtimestamp(self._reference / SECOND, UTC).year
        moments = [_whole(_seconds(one, *parts), fraction) for one in (year + 1, year, year - 1)]
        allowed = [one for one in moments if one is not None and one <= self._reference + DAY]
        return Stamp(max(allowed), end, False) if allowed else None


def moment(value: Any) -> int | None:
    """A field's time: ISO and other texts, or a number of seconds, milli-, micro- or nanoseconds.

    ``None`` where it is no time between 1970 and 2100.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return _scaled(value)
    text = str(value).strip() if isinstance(value, str) and len(value) < 64 else ""
    if _EPOCH_TEXT.fullmatch(text):
        return _scaled(float(text) if "." in text or "e" in text.lower() else int(text))
    for pattern, read in ((_ISO, _iso), (_WEB, _web)):
        match = pattern.fullmatch(text)
        if match:
            return read(match)
    return _date(text)


def _scaled(value: float) -> int | None:
    """A number as a time, its unit by its size: seconds up to the year 5138, then milli and so on.

    Below 10^8 (March 1973 in seconds) it is a count, not a time.
    """
    if not 1e8 <= value < 1e20:  # Neither is a NaN.
        return None
    for limit, scale in ((1e11, SECOND), (1e14, 1_000), (1e17, 1)):
        if value < limit:
            return _sane(round(value * scale))
    return _sane(int(value) // 1000)


def _date(text: str) -> int | None:
    match = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d))?", text, re.ASCII)
    if not match:
        return None
    parts = [int(one or 0) for one in match.groups()]
    return _whole(_seconds(*parts, 0), None)
