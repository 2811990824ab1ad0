"""How an arm worked, beside what it achieved: cost and behaviour.

A share with nothing to count is ``None`` (undefined), never 1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from heldout.agent.trace import Step, Trace

_FIRED = re.compile(r"Fired at (\d{4}-\d{2}-\d{2})")
_CHANGE_SEARCHES = ("list_changes", "get_field_history")


@dataclass(frozen=True, slots=True)
class Cost:
    """Means per valid investigation. ``usd`` is ``None`` when any price is unknown."""

    investigations: int
    usd: float | None
    tokens: float
    output_tokens: float
    seconds: float
    calls: float
    steps: float
    total_usd: float | None
    total_tokens: int
    total_seconds: float


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Shares over all valid investigations of an arm, each with its count behind it.

    ``early_searches``: change searches that reach before the day of the incident.
    ``redundant``: tool calls that repeat an earlier call of the same investigation word for word.
    ``evidence_shown``: cited evidence ids that some tool answer had shown.
    ``entities_exist``: entities named in the submission that the world has.
    ``limits``: investigations that ended on a limit instead of a submission.
    """

    early_searches: float | None
    change_searches: int
    redundant: float | None
    tool_calls: int
    evidence_shown: float | None
    evidence_cited: int
    entities_exist: float | None
    entities_named: int
    limits: float | None
    investigations: int


def cost(traces: Sequence[Trace]) -> Cost:
    """What an arm's valid investigations took."""
    n = max(1, len(traces))
    prices = [trace.usd for trace in traces]
    known = [price for price in prices if price is not None]
    usd = sum(known) if len(known) == len(prices) else None
    tokens = sum(trace.input_tokens + trace.output_tokens for trace in traces)
    seconds = sum(trace.seconds for trace in traces)
    return Cost(
        investigations=len(traces),
        usd=None if usd is None else usd / n,
        tokens=tokens / n,
        output_tokens=sum(trace.output_tokens for trace in traces) / n,
        seconds=seconds / n,
        calls=sum(trace.calls for trace in traces) / n,
        steps=sum(len(trace.steps) for trace in traces) / n,
        total_usd=usd,
        total_tokens=tokens,
        total_seconds=seconds,
    )


def behaviour(
    traces: Iterable[tuple[str, Trace]], known: Mapping[str, frozenset[str]] | None = None
) -> Behaviour:
    """Count over ``(incident, trace)``; ``known`` as in :func:`heldout.compare.compare_runs`."""
    early = searches = repeated = calls = shown = cited = exist = named = limited = total = 0
    for incident, trace in traces:
        total += 1
        limited += trace.stop_reason not in ("submitted", "refused")
        day = incident_day(trace)
        seen: set[str] = set()
        visible: set[str] = set()
        for step in trace.steps:
            calls += 1
            call = f"{step.tool} {json.dumps(step.args, sort_keys=True, default=str)}"
            repeated += call in seen
            seen.add(call)
            visible.update(step.shown_ids)
            if day is not None and step.tool in _CHANGE_SEARCHES:
                searches += 1
                early += reaches_before(step, day)
        cited_here = set(trace.submission.evidence_ids)
        cited += len(cited_here)
        shown += len(cited_here & visible)
        if known is not None and incident in known:
            entities = {trace.submission.root_cause_entity, *trace.submission.affected} - {None, ""}
            named += len(entities)
            exist += len(entities & known[incident])
    return Behaviour(
        early_searches=_share(early, searches),
        change_searches=searches,
        redundant=_share(repeated, calls),
        tool_calls=calls,
        evidence_shown=_share(shown, cited),
        evidence_cited=cited,
        entities_exist=_share(exist, named),
        entities_named=named,
        limits=_share(limited, total),
        investigations=total,
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


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

    The window in use is taken from the arguments; a field's history without ``since`` reaches back
    to the beginning. A window that cannot be read does not count as reaching back.
    """
    since = step.args.get("since")
    if since is None:
        return step.tool == "get_field_history" and not step.is_error
    try:
        moment = datetime.fromisoformat(str(since).replace("Z", "+00:00"))
    except ValueError:
        return False
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment < day
