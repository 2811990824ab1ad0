"""One failed investigation as a short text without identifiers: what was asked, when, and what for.

Times are given relative to the alert. The text has a fixed shape (sections with ``#``), is bounded,
and holds free text only after redaction.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from heldout.agent.trace import Step, Trace
from heldout.propose.redact import Redactor, redactor_for

MAX_STEPS = 30
MAX_LINE = 200
MAX_DIGEST = 9000
"""Bounds of a digest: tool lines shown, characters per line, characters in all."""

LOOKING = (
    "search_entities", "get_entity", "get_neighbors", "find_paths", "list_changes", "get_change",
    "get_field_history", "compare_state", "search_logs", "log_patterns", "query_metrics",
    "list_alerts", "check_health",
)  # fmt: skip
_ERRORS = frozenset(
    {
        "unknown_id", "unknown_argument", "missing_argument", "bad_argument", "unknown_tool",
        "unavailable", "timeout",
    }
)  # fmt: skip
_CHANGE = re.compile(r"(?<![\w-])c-[0-9a-f]{6,16}(?![\w-])")
_ENTITY = re.compile(r"(?<![\w-])e-[0-9a-f]{6,16}(?![\w-])")
_QUOTED = re.compile(r"'[^'\n]{1,80}'")
_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?Z?")


@dataclass(slots=True)
class _Facts:
    """What the steps add up to."""

    furthest_days: float = 0.0
    searches: int = 0
    cut_off: int = 0
    narrowed: bool = False
    outside: int = 0
    histories: int = 0
    comparisons: int = 0
    errors: int = 0
    gaps: int = 0
    entities: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    changes: dict[str, Mapping[str, Any]] = field(default_factory=dict)


def alert_time(alert: str) -> datetime | None:
    """When the alert fired: the first ISO time in its text."""
    match = _ISO.search(alert)
    return _time(match.group(0)) if match else None


def digest(trace: Trace, alert: str, reasoning: str) -> str:
    """The digest of one failing trace with the judge's reasoning, redacted and bounded."""
    redactor = redactor_for(alert, (step.answer for step in trace.steps))
    fired = alert_time(alert)
    facts = _Facts()
    lines = [_step(step, fired, redactor, facts) for step in trace.steps]
    if len(lines) > MAX_STEPS:
        half = MAX_STEPS // 2
        left_out = f"  ({len(lines) - MAX_STEPS} calls left out)"
        lines = [*lines[:half], left_out, *lines[-half:]]
    used = {step.tool for step in trace.steps}
    never = [tool for tool in LOOKING if tool not in used]
    parts = [
        "# Alert",
        redactor.text(alert.replace("#", " "), 700),
        "# Calls, in order",
        *lines,
        "# In short",
        *_summary(facts),
        f"Tools never used: {', '.join(never) or 'none'}",
        "# Submitted",
        *_submission(trace, fired, redactor, facts),
        "# Judge",
        redactor.text(_QUOTED.sub("'...'", reasoning), 1200),
        *_named_changes(reasoning, fired, redactor, facts),
        *_named_entities(reasoning, trace, redactor, facts),
    ]
    text = "\n".join(parts)
    if len(text) > MAX_DIGEST:
        text = text[: MAX_DIGEST // 2] + "\n  (cut)\n" + text[-MAX_DIGEST // 2 :]
    return text


def age(then: datetime | None, fired: datetime | None) -> str:
    """A moment in words relative to the alert, coarse enough to name no date."""
    if then is None or fired is None:
        return "at an unknown time"
    seconds = (fired - then).total_seconds()
    side = "before" if seconds >= 0 else "after"
    seconds = abs(seconds)
    if seconds < 3600:
        return f"minutes {side} the alert"
    if seconds < 36 * 3600:
        return f"about {max(1, round(seconds / 3600))} hours {side} the alert"
    return f"about {round(seconds / 86400)} days {side} the alert"


def _time(text: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _answer(step: Step) -> Mapping[str, Any]:
    try:
        data = json.loads(step.answer)
    except ValueError:
        return {}
    return data if isinstance(data, Mapping) else {}


def _rows(answer: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    rows = answer.get("rows")
    return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []


def _step(step: Step, fired: datetime | None, redactor: Redactor, facts: _Facts) -> str:
    answer = _answer(step)
    rows = _rows(answer)
    for row in rows:
        identity = str(row.get("id", ""))
        if identity.startswith("c-"):
            facts.changes[identity] = {**facts.changes.get(identity, {}), **row}
    facts.gaps += bool(answer.get("data_gaps")) or _unavailable(answer)
    shown = [f"{name}={_argument(name, value, redactor)}" for name, value in step.args.items()]
    said = f"{step.tool}({', '.join(shown)})"
    if step.is_error:
        facts.errors += 1
        error = answer.get("error")
        kind = error.get("type", "error") if isinstance(error, Mapping) else "error"
        return f"- {said}: error {kind if kind in _ERRORS else ''}"[:MAX_LINE]
    for name in ("id", "entity", "entity_b", "src", "dst"):
        if isinstance(step.args.get(name), str):
            facts.entities.add(str(step.args[name]))
    return f"- {said}: {_outcome(step, answer, rows, fired, redactor, facts)}"[:MAX_LINE]


def _unavailable(answer: Mapping[str, Any]) -> bool:
    error = answer.get("error")
    return isinstance(error, Mapping) and error.get("type") == "unavailable"


def _argument(name: str, value: Any, redactor: Redactor) -> str:
    if name in {"since", "until", "as_of", "t1", "t2"}:
        return "<time>"
    if isinstance(value, str) and name in {"types", "mode", "level", "direction", "step"}:
        return value
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return redactor.text(text, 60)


def _outcome(
    step: Step,
    answer: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    fired: datetime | None,
    redactor: Redactor,
    facts: _Facts,
) -> str:
    count = f"{len(rows)} rows"
    if step.tool == "list_changes":
        return _changes(step, answer, rows, fired, facts)
    if step.tool == "get_field_history":
        facts.histories += 1
        newest = age(_time(rows[0].get("ts")), fired) if rows else "none"
        return f"{count}, newest {newest}"
    if step.tool == "get_change" and rows:
        facts.read.add(str(rows[0].get("id", "")))
        diffs = rows[0].get("diffs")
        touched = len(diffs) if isinstance(diffs, list) else 0
        return f"{age(_time(rows[0].get('ts')), fired)}, touches {touched} fields"
    if step.tool == "compare_state":
        facts.comparisons += 1
        return f"{count} of differing fields"
    if step.tool in {"log_patterns", "search_logs"} and rows:
        text = rows[0].get("pattern") or rows[0].get("msg") or ""
        return f"{count}, first: {redactor.text(str(text), 140)}"
    cut = ", cut off" if answer.get("truncated") else ""
    return count + cut


def _changes(
    step: Step,
    answer: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    fired: datetime | None,
    facts: _Facts,
) -> str:
    window = answer.get("window_used")
    since = _time(window.get("since")) if isinstance(window, Mapping) else None
    since = since or _time(step.args.get("since"))
    facts.searches += 1
    if since and fired:
        days = (fired - since).total_seconds() / 86400
        facts.furthest_days = max(facts.furthest_days, days)
    outside = int(answer.get("outside_window") or 0)
    facts.outside = max(facts.outside, outside)
    cut = bool(answer.get("truncated"))
    facts.cut_off += cut
    facts.narrowed |= bool(step.args.get("field") or step.args.get("cursor"))
    total = answer.get("total_estimate")
    return (
        f"from {age(since, fired)}: {len(rows)} of {total} shown"
        + (", cut off" if cut else "")
        + f", {outside} more outside the window"
    )


def _summary(facts: _Facts) -> list[str]:
    return [
        f"Change searches: {facts.searches}; the furthest reached {facts.furthest_days:.1f} days"
        " before the alert",
        f"Changes outside the searched window: {facts.outside}",
        f"Change lists cut off: {facts.cut_off}; narrowed by field or paged:"
        f" {'yes' if facts.narrowed else 'no'}",
        f"Field histories asked: {facts.histories}",
        f"Changes read with their diff: {len(facts.read)}",
        f"States compared: {facts.comparisons}",
        f"Distinct entities looked at: {len(facts.entities)}",
        f"Calls that failed: {facts.errors}",
        f"Answers with gaps in the data: {facts.gaps}",
    ]


def _named_changes(
    reasoning: str, fired: datetime | None, redactor: Redactor, facts: _Facts
) -> list[str]:
    """When the changes that the judge speaks of happened, as far as the tools showed them."""
    lines = []
    for change in dict.fromkeys(_CHANGE.findall(reasoning)):
        row = facts.changes.get(change)
        if row is None:
            seen = "no tool call showed it"
        else:
            read = "its diff was read" if change in facts.read else "its diff was never read"
            many = ", it touched many fields" if "more_fields" in row else ""
            seen = f"{age(_time(row.get('ts')), fired)}, {read}{many}"
        lines.append(f"Judge's change {redactor.text(change)}: {seen}")
    return lines


def _named_entities(reasoning: str, trace: Trace, redactor: Redactor, facts: _Facts) -> list[str]:
    """Whether the agent met the entities that the judge speaks of, and looked at them."""
    lines = []
    for entity in dict.fromkeys(_ENTITY.findall(reasoning)):
        if entity in facts.entities:
            met = "it was looked at"
        elif any(entity in step.answer for step in trace.steps):
            met = "it was shown and never looked at"
        else:
            met = "no tool call showed it"
        lines.append(f"Judge's entity {redactor.text(entity)}: {met}")
    return lines


def _submission(
    trace: Trace, fired: datetime | None, redactor: Redactor, facts: _Facts
) -> list[str]:
    said = trace.submission
    change = said.root_cause_change
    if change is None:
        blamed = "none"
    else:
        row = facts.changes.get(change, {})
        read = "was read" if change in facts.read else "was never read"
        kind = redactor.text(str(row.get("type", "unknown type")))
        blamed = (
            f"{redactor.text(change)} ({kind}, {age(_time(row.get('ts')), fired)}); its diff {read}"
        )
    entity = redactor.text(said.root_cause_entity) if said.root_cause_entity else "none"
    return [
        f"Entity: {entity}",
        f"Change: {blamed}",
        f"Mechanism: {redactor.text(said.mechanism, 400) or 'not stated'}",
        f"Ended: {trace.stop_reason}",
    ]
