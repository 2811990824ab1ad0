"""The head of a line of text: who carried it, when it was said, how grave it is.

Container runtimes (CRI, ``kubectl logs`` with its flags), syslog, klog, web servers, logfmt and
the usual loggers; heads may stand one in the other.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from heldout.ingest.telemetry.levels import level_in, level_of
from heldout.ingest.telemetry.places import NOWHERE, Place
from heldout.ingest.telemetry.stamps import Clock, Stamp, moment

_PREFIX = re.compile(r"\[pod/([a-z0-9.-]{1,253})/([a-z0-9.-]{1,63})\] ")
_CRI = re.compile(r" (stdout|stderr) ([FP])(?::\S*)?(?: |$)")
_PRI = re.compile(r"<(\d{1,3})>(?:1 (?=\d{4}-))?")
_HOST = re.compile(r" ([\w.-]{1,253}) ([\w./@:-]{1,120}?)(?:\[(\d+)\])?: ")
_OPEN = ("[", "(", '"', "'")
_AFTER = re.compile(r"[\]\)\"']?(?: ?[|:,;-](?=\s))?\s?")
_THREAD = re.compile(r"\s*\d+ (?=[\w./-]+:\d+\] )")
_LOGFMT = re.compile(r"(?:^|\s)(?:ts|time|timestamp|t|@timestamp)=\"?([0-9T:.,Z+ /-]{10,40})")
_LEVEL = re.compile(
    r"(?:[\[(<]\s?([A-Za-z]{3,9})\s?[\])>]:?|(TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|ERR|FATAL"
    r"|CRITICAL|CRIT|PANIC|SEVERE)(?::|(?=\s)))\s*(?:[|-]\s+)?"
)
_KLOG_LEVELS = {"I": "INFO", "W": "WARN", "E": "ERROR", "F": "ERROR", "D": "DEBUG"}
_HEAD = 300


class Head(NamedTuple):
    """What the head of a line tells, and the text after it.

    ``carried`` is set where the time is that of a carrier, which stamps every line of a message
    that has several; ``partial`` where the carrier cut the line in the middle. ``dated`` is not
    set where the year was inferred.
    """

    ts: int | None
    level: str | None
    text: str
    place: Place = NOWHERE
    carried: bool = False
    partial: bool = False
    dated: bool = True


def head_of(line: str, clock: Clock) -> Head:
    """Read the head of one line."""
    place, start, level = NOWHERE, 0, None
    match = _PREFIX.match(line)
    if match:
        place, start = Place(pod=match[1], container=match[2]), match.end()
    match = _PRI.match(line, start)
    if match:
        level, start = _priority(int(match[1])), match.end()
    stamp = clock.leading(line, start + line.startswith(_OPEN, start))
    if stamp is None:
        return _without_stamp(line[start:], clock, level, place)
    match = _CRI.match(line, stamp.end)
    if match:
        inner = _inner(line[match.end() :], clock, level)
        return inner._replace(ts=stamp.ts, place=place, carried=True, partial=match[2] == "P")
    if line[start].isalpha():
        return _klog_or_syslog(line, start, stamp, level, place, clock)
    rest = line[_after(line, stamp.end) :]
    inner = _inner(rest, clock, level)
    # With 'kubectl logs --timestamps' the logger's own time follows, or a bare line does.
    return inner._replace(ts=stamp.ts, place=place, carried=inner.ts is not None or _bare(rest))


def _after(line: str, end: int) -> int:
    match = _AFTER.match(line, end)
    return match.end() if match else end


def _bare(rest: str) -> bool:
    return rest[:1].isspace()


def _priority(number: int) -> str:
    grave = number & 7
    return "ERROR" if grave <= 3 else {4: "WARN", 7: "DEBUG"}.get(grave, "INFO")


def _klog_or_syslog(
    line: str, start: int, stamp: Stamp, level: str | None, place: Place, clock: Clock
) -> Head:
    letter = _KLOG_LEVELS.get(line[start]) if line[start + 1].isdigit() else None
    if letter:
        match = _THREAD.match(line, stamp.end)
        text = line[match.end() if match else stamp.end :].lstrip()
        return Head(stamp.ts, letter, text, place, dated=stamp.dated)
    match = _HOST.match(line, stamp.end)
    if match is None:
        inner = _inner(line[_after(line, stamp.end) :], clock, level)
        return inner._replace(ts=stamp.ts, place=place, dated=stamp.dated)
    inner = _inner(line[match.end() :], clock, level)
    text = f"{match[2]}: {inner.text}"  # The process is no entity; the host is.
    place = place.over(Place(node=match[1]))
    carried = inner.ts is not None
    return Head(stamp.ts, inner.level, text, place, carried, dated=stamp.dated)


def _inner(text: str, clock: Clock, level: str | None) -> Head:
    """A head inside a carrier's: klog's or a logger's own time, which is taken off."""
    start = int(text.startswith(_OPEN))
    stamp = clock.leading(text, start) if text[start : start + 1].isalnum() else None
    if stamp is None:
        return levelled(None, text, level)
    letter = _KLOG_LEVELS.get(text[start]) if text[start : start + 1].isalpha() else None
    if letter and text[start + 1].isdigit():
        match = _THREAD.match(text, stamp.end)
        return Head(stamp.ts, letter, text[match.end() if match else stamp.end :].lstrip())
    return levelled(stamp.ts, text[_after(text, stamp.end) :], level)


def levelled(ts: int | None, text: str, level: str | None) -> Head:
    """A head whose level is what the text says first, which is taken off, or says in passing."""
    match = _LEVEL.match(text)
    found = level_of(match[1] or match[2]) if match else None
    if match and found and match.end() < len(text):
        return Head(ts, found, text[match.end() :])
    return Head(ts, level_in(text) or level, text)


def _without_stamp(text: str, clock: Clock, level: str | None, place: Place) -> Head:
    """A line whose time stands further in: logfmt, or in brackets as web servers write it."""
    match = _LOGFMT.search(text, 0, _HEAD)
    if match:
        when = moment(match[1].strip())
        if when is not None:
            return Head(when, level_in(text) or level, text, place)
    found = None if text[:1].isspace() else clock.bracketed(text)
    if found is not None:
        stamp, opened = found
        said = text[:opened] + text[_after(text, stamp.end) :]
        return Head(stamp.ts, level_in(said) or level, said, place)
    return Head(None, level_in(text) or level, text, place)
