"""The counts that tell how an investigation worked, taken from its trace once and then kept."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime

from heldout.agent.trace import Step, Trace

_WINDOW = re.compile(r'"window_used":\{"since":"([^"]{10,40})"')
_FIRED = re.compile(r"Fired at (\d{4}-\d{2}-\d{2})")
CHANGE_SEARCHES = ("list_changes", "get_field_history")
"""The tools that search for changes."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """How one investigation worked, in counts.

    ``early`` of its ``searches`` for changes reach before the day of the incident; ``repeated`` of
    its ``calls`` are word for word an earlier one; ``shown`` of the ``cited`` evidence ids stood in
    an answer; ``exist`` of the ``named`` entities are in the world. ``limited`` is 1 when it ended
    on a limit.
    """

    early: int
    searches: int
    repeated: int
    calls: int
    shown: int
    cited: int
    exist: int
    named: int
    limited: int


def footprint(trace: Trace, known: frozenset[str] | None = None) -> Footprint:
    """The counts of one trace; ``known`` are the entity ids and names of its world.

    Kept counts are taken as they are; what hangs on ``known`` is counted anew.
    """
    if known is None and trace.kept is not None:
        return trace.kept
    day = incident_day(trace)
    steps, submission = trace.steps, trace.submission
    seen: set[str] = set()
    visible: set[str] = set()
    early = searches = repeated = 0
    for step in steps:
        call = call_key(step)
        repeated += call in seen
        seen.add(call)
        visible.update(step.shown_ids)
        if day is not None and step.tool in CHANGE_SEARCHES:
            searches += 1
            early += reaches_before(step, day)
    cited = set(submission.evidence_ids)
    named: set[str | None] = set()
    if known is not None:
        named = {submission.root_cause_entity, *submission.affected} - {None, ""}
    return Footprint(
        early=early,
        searches=searches,
        repeated=repeated,
        calls=len(steps),
        shown=len(cited & visible),
        cited=len(cited),
        exist=len(named & known) if known is not None else 0,
        named=len(named),
        limited=limited(trace.stop_reason),
    )


def limited(stop_reason: str | None) -> int:
    """1 for an investigation that ended on a limit instead of an answer or a refusal."""
    return int(stop_reason not in ("submitted", "refused"))


def call_key(step: Step) -> str:
    """What two calls share that are the same word for word."""
    return f"{step.tool} {json.dumps(step.args, sort_keys=True, default=str)}"


def incident_day(trace: Trace) -> datetime | None:
    """Midnight (UTC) of the day the alert fired, read from the alert the agent was given."""
    for message in trace.messages:
        if message.get("role") == "user":
            match = _FIRED.search(str(message.get("content", "")))
            if match is None:
                return None
            try:
                return datetime.fromisoformat(match.group(1)).replace(tzinfo=UTC)
            except ValueError:
                return None
    return None


def reaches_before(step: Step, day: datetime) -> bool:
    """True when a change search looks at times before ``day``.

    A field's history without ``since`` reaches back to the beginning. A window that cannot be read
    does not count as reaching back.
    """
    if step.args.get("since") is None:
        return step.tool == "get_field_history" and not step.is_error
    since = searched_since(step)
    return since is not None and since < day


def searched_since(step: Step) -> datetime | None:
    """When a search began: as asked for, else (``now-7d``) as the answer tells its window."""
    told = _WINDOW.search(step.answer)
    for text in (step.args.get("since"), told and told.group(1)):
        try:
            moment = datetime.fromisoformat(str(text).replace("Z", "+00:00"))
        except ValueError:
            continue
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None
