"""Going round in circles: the same call, the same answer."""

from __future__ import annotations

from collections.abc import Iterable

from heldout.compare import call_key
from heldout.usage.measure import Finding, Measure, Suggestion, Tally, percent, times
from heldout.usage.play import Play

LOOPING = frozenset({"repeated_call", "circling", "same_error"})
"""Error types with which the harness answers a call instead of running it once more."""


class Repeats(Measure):
    """Calls that repeat an earlier one word for word."""

    key = "repeats"
    title = "calls that repeat an earlier one"
    unit = "tool calls"

    def count(self, play: Play) -> Tally:
        """By tool; what the harness refused for it is noted beside."""
        tally = Tally(count=play.foot.repeated, of=play.foot.calls)
        seen: set[str] = set()
        for call in play.calls:
            key = call_key(call.step)
            if key in seen:
                tally.note(call.tool, refused=call.error in LOOPING)
            seen.add(key)
        return tally

    def suggest(self, found: Finding) -> Iterable[Suggestion]:
        """Repeats that are more than a slip."""
        if found.share is not None and found.share >= 0.05:
            text = f"{percent(found.share)} of {times(found.of, 'call')} repeat an earlier one"
            yield Suggestion("brain", text, found.count, found.investigations)


class SameAnswers(Measure):
    """Other calls that brought the very answer of an earlier one."""

    key = "same_answers"
    title = "other calls with an earlier answer"
    unit = "answers that found something"

    def count(self, play: Play) -> Tally:
        """By tool; empty answers and word-for-word repeats are left to other measures."""
        tally = Tally()
        answers: set[str] = set()
        keys: set[str] = set()
        for call in play.calls:
            key = call_key(call.step)
            if call.empty is False and key not in keys:
                tally.of += 1
                if call.step.answer in answers:
                    tally.hit(call.tool)
                answers.add(call.step.answer)
            keys.add(key)
        return tally


class GiveUps(Measure):
    """Investigations that ended without a diagnosis of their own, and those that named nothing."""

    key = "give_ups"
    title = "investigations that gave up or met a limit"
    unit = "investigations"
    detail = "how investigations ended"

    def count(self, play: Play) -> Tally:
        """By how it ended; an answer that names neither entity nor change is noted beside."""
        stop = play.trace.stop_reason
        said = play.trace.submission
        tally = Tally(count=int(stop != "submitted"), of=1)
        tally.note(stop)
        if stop == "submitted" and not (said.root_cause_entity or said.root_cause_change):
            tally.note("submitted, naming no cause")
        return tally

    def suggest(self, found: Finding) -> Iterable[Suggestion]:
        """Each limit that was met."""
        for row in found.rows:
            if not row.name.startswith("submitted"):
                text = f"{times(row.count, 'investigation')} of {found.of} ended on {row.name}"
                yield Suggestion("brain", text, row.count, row.investigations)
