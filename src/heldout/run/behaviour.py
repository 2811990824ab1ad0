"""How an agent worked, measured on its trace: measures that stand beside the outcome.

A share is ``None`` when there is nothing to count, never 1. Argument and row names are those of the
thirteen tools: ``since`` of a change search, ``id`` and ``name`` of entities in answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from heldout.agent.trace import Step, Trace

CHANGE_SEARCHES = frozenset({"list_changes", "get_field_history"})
_FIRED = re.compile(r"^Fired at\s+(\d{4}-\d{2}-\d{2})", re.MULTILINE)
_DATE = re.compile(r"\b(\d{4}-\d{2}-\d{2})(?:[T ]|\b)")


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Counts and shares of one or several investigations."""

    investigations: int
    steps: int
    errors: int
    """Calls that were answered with an error."""
    redundant: int
    """Calls that repeat an earlier one of the same investigation, argument for argument."""
    change_searches: int
    reaching: int
    """Change searches that reach before the day of the incident."""
    evidence: int
    """Evidence ids that were cited."""
    evidence_shown: int
    entities: int
    """Entities that were named: the root cause and what is affected."""
    entities_shown: int

    @property
    def redundant_share(self) -> float | None:
        """Redundant calls over calls."""
        return _share(self.redundant, self.steps)

    @property
    def reach(self) -> float | None:
        """Share of change searches that reach before the incident's day."""
        return _share(self.reaching, self.change_searches)

    @property
    def grounded_evidence(self) -> float | None:
        """Share of cited evidence ids that a tool had shown."""
        return _share(self.evidence_shown, self.evidence)

    @property
    def grounded_entities(self) -> float | None:
        """Share of named entities that a tool had shown, by id or by name."""
        return _share(self.entities_shown, self.entities)


def alert_day(alert: str) -> date | None:
    """The day on which an alert fired (its ``Fired at`` line, else the first date in it)."""
    found = _FIRED.search(alert) or _DATE.search(alert)
    if found is None:
        return None
    try:
        return date.fromisoformat(found.group(1))
    except ValueError:
        return None


def behaviour(trace: Trace, alert: str) -> Behaviour:
    """Measure one investigation. Without a date in the alert no change search is counted."""
    day = alert_day(alert)
    searches = [step for step in trace.steps if step.tool in CHANGE_SEARCHES and not step.is_error]
    shown = _shown(trace.steps)
    submission = trace.submission
    named = [submission.root_cause_entity] if submission.root_cause_entity else []
    named += [one for one in submission.affected if one]
    cited = list(dict.fromkeys(submission.evidence_ids))
    return Behaviour(
        investigations=1,
        steps=len(trace.steps),
        errors=sum(step.is_error for step in trace.steps),
        redundant=_redundant(trace.steps),
        change_searches=len(searches) if day else 0,
        reaching=sum(_reaches(step, day) for step in searches) if day else 0,
        evidence=len(cited),
        evidence_shown=_count(cited, shown),
        entities=len(dict.fromkeys(named)),
        entities_shown=_count(dict.fromkeys(named), shown),
    )


def total(parts: Iterable[Behaviour]) -> Behaviour:
    """Several measured investigations as one; shares are then over all of them."""
    names = Behaviour.__dataclass_fields__
    sums = dict.fromkeys(names, 0)
    for part in parts:
        for name in names:
            sums[name] += getattr(part, name)
    return Behaviour(**sums)


def _redundant(steps: Iterable[Step]) -> int:
    seen: set[str] = set()
    count = 0
    for step in steps:
        key = json.dumps([step.tool, step.args], sort_keys=True, default=str)
        count += key in seen
        seen.add(key)
    return count


def _reaches(step: Step, day: date | None) -> bool:
    """A field's history without ``since`` is whole; a list of changes always has one."""
    since = step.args.get("since")
    if since is None:
        return step.tool == "get_field_history"
    moment = _moment(since)
    return moment is not None and day is not None and moment.date() < day


def _moment(value: Any) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment.tzinfo else moment


def _shown(steps: Iterable[Step]) -> frozenset[str]:
    """Every id that answers carried, and every name in their rows."""
    shown: set[str] = set()
    for step in steps:
        if step.is_error:
            continue
        shown.update(step.shown_ids)
        try:
            _collect(json.loads(step.answer), shown)
        except (ValueError, RecursionError):
            continue
    return frozenset(shown)


def _collect(value: Any, shown: set[str]) -> None:
    if isinstance(value, dict):
        for key, one in value.items():
            if isinstance(one, str) and (
                key in {"id", "name", "entity", "change_id", "example_id", "series"}
                or key.endswith("_name")
            ):
                shown.add(one)
            else:
                _collect(one, shown)
    elif isinstance(value, list):
        for one in value:
            _collect(one, shown)


def _count(wanted: Iterable[str], shown: Collection[str]) -> int:
    return sum(one in shown for one in wanted)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
