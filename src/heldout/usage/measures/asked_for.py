"""What agents asked for and is not offered: tools, arguments, values."""

from __future__ import annotations

import re
from collections.abc import Iterable

from heldout.usage.measure import Finding, Measure, Suggestion, Tally, by
from heldout.usage.play import Call, Play

_ARGUMENT = re.compile(r"has no (?:argument|option) '(.*?)'")
_NEEDED = re.compile(r"needs '(.*?)'")
_QUOTED = re.compile(r"'(.*?)'")


class UnknownTools(Measure):
    """Tools that are not offered."""

    key = "unknown_tools"
    title = "calls of tools that are not offered"
    unit = "tool calls"

    def count(self, play: Play) -> Tally:
        """By the name that was asked for."""
        tally = Tally(of=len(play.calls))
        for call in play.failed("unknown_tool"):
            tally.hit(call.tool)
        return tally

    def suggest(self, found: Finding) -> Iterable[Suggestion]:
        """Each tool that was asked for."""
        return _not_offered("tool", found)


class UnknownArguments(Measure):
    """Arguments that a tool does not take."""

    key = "unknown_arguments"
    title = "calls with an argument that is not offered"
    unit = "tool calls"

    def count(self, play: Play) -> Tally:
        """By tool and argument."""
        tally = Tally(of=len(play.calls))
        for call in play.failed("unknown_argument"):
            match = _ARGUMENT.search(call.message)
            tally.hit(f"{call.subject}.{match[1] if match else '?'}")
        return tally

    def suggest(self, found: Finding) -> Iterable[Suggestion]:
        """Each argument that was asked for."""
        return _not_offered("argument", found)


class Malformed(Measure):
    """Calls that could not be read at all, or lack what they need."""

    key = "malformed"
    title = "calls without JSON or a needed argument"
    unit = "tool calls"

    def count(self, play: Play) -> Tally:
        """By tool and what was wrong."""
        tally = Tally(of=len(play.calls))
        for call in play.failed("malformed_arguments", "missing_argument"):
            match = _NEEDED.search(call.message)
            what = f"without '{match[1]}'" if match else call.error.replace("_", " ")
            tally.hit(f"{call.tool} {what}")
        return tally


class RefusedValues(Measure):
    """Arguments that are offered, with a value that is not taken."""

    key = "refused_values"
    title = "calls with a value that is not taken"
    unit = "tool calls"

    def count(self, play: Play) -> Tally:
        """By tool and argument."""
        tally = Tally(of=len(play.calls))
        for call in play.failed("bad_argument"):
            tally.hit(f"{call.subject}.{refused_argument(call)}")
        return tally

    def suggest(self, found: Finding) -> Iterable[Suggestion]:
        """Arguments whose values were refused more than once."""
        for row in found.rows:
            if row.count > 1:
                asked = by(row.count, row.investigations)
                text = f"a value of '{row.name}' was refused {asked}: say what it takes, or take it"
                yield Suggestion("tools", text, row.count, row.investigations)


def _not_offered(what: str, found: Finding) -> Iterable[Suggestion]:
    for row in found.rows:
        asked = by(row.count, row.investigations)
        text = f"{what} '{row.name}' was asked for {asked}: not offered"
        yield Suggestion("tools", text, row.count, row.investigations)


def refused_argument(call: Call) -> str:
    """The argument that an error speaks of: named in it, or holding the value named in it."""
    for quoted in _QUOTED.findall(call.message):
        name = quoted.partition(".")[0]
        if name in call.step.args:
            return str(name)
        for key, value in call.step.args.items():
            if quoted and quoted in str(value):
                return key
    return "?"
