"""What came back: nothing, a cut answer, no data, an id that does not exist."""

from __future__ import annotations

import re
from collections.abc import Iterable

from heldout.graph.tools.catalogue import BY_NAME
from heldout.usage.measure import Finding, Measure, Suggestion, Tally, by, percent, times
from heldout.usage.play import Call, Play

MOSTLY = 0.3
FEW = 5
"""A share from which, and calls below which, nothing is suggested."""
_PAGING = frozenset({"limit", "cursor"})
_NAME = "a name"
_ID = re.compile(r"[a-z]-[0-9a-f]{4,}|l-[0-9]+")


class EmptyAnswers(Measure):
    """Answers that found nothing, by tool and by the arguments that were given."""

    key = "empty_answers"
    title = "answers that found nothing"
    unit = "answers"

    def count(self, play: Play) -> Tally:
        """By tool, and by each argument that the call could have left out."""
        tally = Tally()
        for call in play.calls:
            if call.empty is None:
                continue
            tally.of += 1
            empty = int(call.empty)
            tally.count += empty
            tally.note(call.tool, empty, of=1)
            for name in sorted(call.step.args.keys() - _PAGING - required(call.tool)):
                tally.note(f"{call.tool} with {name}", empty, of=1)
        return tally

    def suggest(self, found: Finding) -> Iterable[Suggestion]:
        """Tools that are often empty, and arguments that make them so."""
        whole = {row.name: row.share or 0.0 for row in found.rows}
        for row in found.rows:
            tool, _, argument = row.name.partition(" with ")
            least = max(MOSTLY, whole.get(tool, 0.0) + 0.1) if argument else MOSTLY
            if row.of < FEW or row.share is None or row.share < least:
                continue
            text = (
                f"{row.name} came back empty in {percent(row.share)} of {times(row.of, 'answer')}"
            )
            yield Suggestion("graph", text, row.count, row.investigations)


def required(tool: str) -> frozenset[str]:
    """The arguments that every call of a tool must give."""
    known = BY_NAME.get(tool)
    return frozenset(one.name for one in known.arguments if one.required) if known else frozenset()


class NeverPaged(Measure):
    """Answers that were cut and never read on."""

    key = "never_paged"
    title = "cut answers that were never read on"
    unit = "cut answers"

    def count(self, play: Play) -> Tally:
        """By tool; an answer is read on when a later call of the tool gives its cursor."""
        tally = Tally()
        used = {str(call.step.args.get("cursor")) for call in play.calls}
        for call in play.calls:
            cursor = call.answer.get("cursor")
            if not call.answer.get("truncated") or not cursor:
                continue
            tally.of += 1
            left = int(str(cursor) not in used)
            tally.count += left
            tally.note(call.tool, left, of=1)
        return tally

    def suggest(self, found: Finding) -> Iterable[Suggestion]:
        """Tools whose long answers are mostly left unread."""
        for row in found.rows:
            if row.of >= FEW and row.share is not None and row.share >= 0.5:
                text = (
                    f"{row.count} of {times(row.of, 'cut answer')} of {row.name} were never read "
                    "on: a better order, another filter or a summary would help"
                )
                yield Suggestion("tools", text, row.count, row.investigations)


class UnknownIds(Measure):
    """Ids that do not exist, names in the place of ids, and whether near names helped."""

    key = "unknown_ids"
    title = "calls with an id that does not exist"
    unit = "tool calls"

    def count(self, play: Play) -> Tally:
        """By tool: an invented id or a name, and whether a near one was looked up next."""
        tally = Tally(of=len(play.calls))
        for call in play.failed("unknown_id"):
            near = [_near_id(one) for one in call.near]
            later = [str(one.step.args) for one in play.calls[call.step.index + 1 :]]
            taken = any(one in args for one in near for args in later)
            name = f"{call.subject} with {_given(call)}"
            tally.hit(name, near_names=bool(near), near_name_taken=taken)
        return tally

    def suggest(self, found: Finding) -> Iterable[Suggestion]:
        """Tools that were given names."""
        for row in found.rows:
            if row.name.endswith(_NAME):
                tool = row.name.removesuffix(f" with {_NAME}")
                taken = int(row.figures.get("near_name_taken", 0))
                text = (
                    f"{tool} was given a name instead of an id {by(row.count, row.investigations)} "
                    f"({taken} went on with a near one): take names too"
                )
                yield Suggestion("tools", text, row.count, row.investigations)


def _given(call: Call) -> str:
    """What was looked up; where a tool goes by names (kubectl), a name is no mistake of its own."""
    if call.tool not in BY_NAME:
        return "a name that is not there"
    given = [str(value) for value in call.step.args.values()]
    return "an id" if any(_ID.fullmatch(one) for one in given) else _NAME


def _near_id(text: str) -> str:
    return text.partition(" ")[0]


class Unavailable(Measure):
    """Calls that had no data or took too long."""

    key = "unavailable"
    title = "calls without data or out of time"
    unit = "tool calls"

    def count(self, play: Play) -> Tally:
        """By tool and kind."""
        tally = Tally(of=len(play.calls))
        for call in play.failed("unavailable", "timeout"):
            tally.hit(f"{call.tool}: {call.error}")
        return tally

    def suggest(self, found: Finding) -> Iterable[Suggestion]:
        """Each tool that had nothing to give."""
        for row in found.rows:
            text = f"{row.name} {by(row.count, row.investigations)}"
            yield Suggestion("graph", text, row.count, row.investigations)


class CallsPerTool(Measure):
    """Which tools are used, and what their answers weigh."""

    key = "calls"
    title = "tool calls per investigation"
    unit = "investigations"
    detail = "calls per tool, and what an answer weighs"

    def count(self, play: Play) -> Tally:
        """By tool; tokens are a quarter of the bytes of arguments and answer."""
        tally = Tally(count=len(play.calls), of=1)
        for tool in play.offered:
            tally.note(tool, 0)
        for call in play.calls:
            size = len(call.step.answer.encode("utf-8", "replace"))
            asked = len(str(call.step.args))
            tally.note(call.tool, bytes=size, tokens=(size + asked) / 4)
        return tally

    def suggest(self, found: Finding) -> Iterable[Suggestion]:
        """Tools that nobody called."""
        never = [row.name for row in found.rows if not row.count]
        if never:
            said = times(found.of, "investigation")
            text = f"never called in {said}: {', '.join(never)}"
            yield Suggestion("tools", text, 0, found.of)
