"""What diagnoses rest on: evidence that was shown, things that exist."""

from __future__ import annotations

from collections.abc import Iterable

from heldout.usage.measure import Finding, Measure, Suggestion, Tally, times
from heldout.usage.play import Play

_KINDS = {"e": "entities", "c": "changes", "l": "log lines", "a": "alerts", "m": "metrics"}


class UnshownEvidence(Measure):
    """Evidence that is cited and that no tool had shown."""

    key = "unshown_evidence"
    title = "cited evidence that no answer had shown"
    unit = "cited ids"

    def count(self, play: Play) -> Tally:
        """By kind of id."""
        cited = set(play.trace.submission.evidence_ids)
        shown = {one for call in play.calls for one in call.step.shown_ids}
        tally = Tally(count=play.foot.cited - play.foot.shown, of=play.foot.cited)
        for one in sorted(cited - shown):
            prefix, dash, _ = one.partition("-")
            tally.note(_KINDS.get(prefix, "no id") if dash else "no id")
        return tally

    def suggest(self, found: Finding) -> Iterable[Suggestion]:
        """Evidence out of thin air."""
        if found.count:
            text = f"{found.count} of {times(found.of, 'cited id')} had never been shown"
            yield Suggestion("brain", text, found.count, found.investigations)


class Invented(Measure):
    """Entities and changes in a diagnosis that the world does not have."""

    key = "invented"
    title = "named entities and changes that do not exist"
    unit = "names"

    def count(self, play: Play) -> Tally:
        """By where they stand; undefined where the world is not on disk."""
        said, known = play.trace.submission, play.known
        entities = set(said.affected) | {said.root_cause_entity or ""}
        named = {
            "root cause entity or affected": (entities - {""}, known.entities),
            "root cause change": ({said.root_cause_change or ""} - {""}, known.changes),
        }
        tally = Tally()
        for place, (names, held) in named.items():
            if held is None:
                continue
            missing = len(names - held)
            tally.of += len(names)
            tally.count += missing
            if names:
                tally.note(place, missing, of=len(names))
        return tally

    def suggest(self, found: Finding) -> Iterable[Suggestion]:
        """Names out of thin air."""
        if found.count:
            text = f"{found.count} of {times(found.of, 'name')} in diagnoses exist nowhere"
            yield Suggestion("brain", text, found.count, found.investigations)
