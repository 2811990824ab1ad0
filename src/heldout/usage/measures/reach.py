"""How far agents look: hops in the graph, days in the past."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from heldout.compare import CHANGE_SEARCHES, incident_day, reaches_before, searched_since
from heldout.usage.measure import Finding, Measure, Suggestion, Tally, by, percent, times
from heldout.usage.measures.asked_for import refused_argument
from heldout.usage.play import Call, Play

LONG_WALK = 3
"""Hops walked one call at a time from which a longer hop is suggested."""
_HOPS = {"get_neighbors": "depth", "find_paths": "max_len"}


def hops_asked(call: Call) -> int | None:
    """How many hops a call asks for; ``None`` for a tool without hops or a call that says none."""
    value = call.step.args.get(_HOPS.get(call.tool, ""))
    around = call.step.args.get("around")
    if call.tool == "list_changes" and isinstance(around, dict):
        value = around.get("depth", 1)
    try:
        return int(str(value))
    except ValueError:
        return 1 if call.tool == "get_neighbors" and value is None else None


class Hops(Measure):
    """Hops asked for against those allowed."""

    key = "hops"
    title = "calls that asked for more hops than allowed"
    unit = "calls with hops"
    detail = "hops asked for"

    def count(self, play: Play) -> Tally:
        """By tool and hops; a refusal counts where it speaks of the hops."""
        tally = Tally()
        for call in play.calls:
            hops = hops_asked(call)
            if hops is None:
                continue
            refused = call.error == "bad_argument" and refused_argument(call) in (
                "depth", "max_len", "around",
            )  # fmt: skip
            tally.of += 1
            tally.count += refused
            tally.note(f"{call.tool}, {times(hops, 'hop')}", refused=refused)
        return tally

    def suggest(self, found: Finding) -> Iterable[Suggestion]:
        """Hops that were refused."""
        for row in found.rows:
            refused = int(row.figures.get("refused", 0))
            if refused:
                text = f"{row.name} were asked for {by(refused, row.investigations)}: not allowed"
                yield Suggestion("tools", text, refused, row.investigations)


class Walks(Measure):
    """Neighbours of neighbours that were asked for one call at a time."""

    key = "walks"
    title = f"walks of {LONG_WALK} hops or more by single calls"
    unit = "investigations with neighbours"
    detail = "longest walks, one call a hop"

    def count(self, play: Play) -> Tally:
        """By the longest walk: each call starts where an earlier one had led."""
        reached: dict[str, int] = {}
        longest = 0
        for call in play.calls:
            if call.tool != "get_neighbors" or call.rows is None:
                continue
            start = str(call.step.args.get("id"))
            walked = reached.get(start, 0) + 1
            longest = max(longest, walked)
            for row in call.rows:
                if isinstance(row, dict):
                    reached.setdefault(str(row.get("id")), walked)
        if not longest:
            return Tally()
        tally = Tally(count=int(longest >= LONG_WALK), of=1)
        tally.note(times(longest, "hop"))
        return tally

    def suggest(self, found: Finding) -> Iterable[Suggestion]:
        """A longer hop, where many walk."""
        if found.share is not None and found.share >= 0.25:
            text = (
                f"{found.count} of {times(found.of, 'investigation')} walked {LONG_WALK} hops or "
                "more one call at a time: a hop that follows several edges would save calls"
            )
            yield Suggestion("tools", text, found.count, found.investigations)


_BUCKETS = (
    (0, "the day itself"), (1, "1 day before"), (3, "2-3 days before"), (7, "4-7 days before"),
    (14, "8-14 days before"), (30, "15-30 days before"),
)  # fmt: skip
"""Most days before the alert's day, and what such a window is called."""


class Windows(Measure):
    """Searches for changes that end at the day of the incident."""

    key = "windows"
    title = "change searches bounded to the alert's day"
    unit = "change searches"
    detail = "where the windows of change searches begin"

    def count(self, play: Play) -> Tally:
        """By where the window begins, in days before the alert's day."""
        tally = Tally(count=play.foot.searches - play.foot.early, of=play.foot.searches)
        day = incident_day(play.trace)
        if day is None:
            return tally
        for call in play.calls:
            if call.tool in CHANGE_SEARCHES:
                bounded = not reaches_before(call.step, day)
                told = bounded and bool(call.answer.get("outside_window"))
                tally.note(_begins(call, day), told_of_changes_outside=told)
        return tally

    def suggest(self, found: Finding) -> Iterable[Suggestion]:
        """Searches that were bounded although the answer said that there was more outside."""
        told = sum(int(row.figures.get("told_of_changes_outside", 0)) for row in found.rows)
        if found.share is not None and found.share >= 0.25:
            searches = times(found.of, "change search", "change searches")
            text = (
                f"{percent(found.share)} of {searches} do not reach before the day of the alert; "
                f"{told} of them were told of changes outside their window"
            )
            yield Suggestion("brain", text, found.count, found.investigations)


def _begins(call: Call, day: datetime) -> str:
    since = searched_since(call.step)
    if since is None:
        return "refused or unreadable" if call.error else "no beginning"
    days = -(-(day - since).total_seconds() // 86_400)
    return next((name for most, name in _BUCKETS if days <= most), "more than 30 days before")
