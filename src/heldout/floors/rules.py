"""The rules, how one is played, and when its answer counts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from heldout.floors.bm25 import rank
from heldout.interface import Interface, Session, Submission
from heldout.judge import judge_exact
from heldout.split import Case
from heldout.truth import Truth, read_truth

_FIRED = re.compile(r"Fired at (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)")
_FIRST, _LAST = "1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z"
_SERVICE = re.compile(r"^Service: (\S+)", re.MULTILINE)
_SEVERITIES = ("critical", "error", "high", "warning", "warn", "medium", "low", "info")
_PAGES = 40
"""Pages of 50 changes that the ranking floor reads at most."""
_SETTINGS = ("config", "iac_apply", "cloud_api", "secret", "certificate", "flag")
"""Types of change that set something; the ranking floor leaves out the churn of pods."""
WORK = ["deploy", *_SETTINGS]
"""Types of change that somebody made."""


@dataclass(frozen=True, slots=True)
class Floor:
    """How many traps and controls one rule solves (once each: it is deterministic)."""

    name: str
    traps_solved: int
    traps: int
    controls_solved: int
    controls: int


class Desk:
    """A rule's view of one incident: the alert and the tools, answers already read."""

    def __init__(self, alert: str, session: Session) -> None:
        self.alert = alert
        self.session = session
        fired = _FIRED.search(alert)
        told = _time(fired.group(1)) if fired else None
        self.fired = told or self._clock()
        service = _SERVICE.search(alert)
        self.service = service.group(1) if service else ""

    def _clock(self) -> datetime:
        """The present of the world, where the alert does not say when it fired.

        The machine's clock is never asked, as a floor must be the same on every day.
        """
        answer = self.session.call("list_changes", {"since": _FIRST, "until": _LAST, "limit": 1})
        data = {} if answer.is_error else json.loads(answer.text)
        window = data.get("window_used") if isinstance(data, dict) else None
        told = window.get("until") if isinstance(window, dict) else None
        return _time(told) or datetime(1970, 1, 1, tzinfo=UTC)

    def rows(self, tool: str, **args: Any) -> list[dict[str, Any]]:
        """The rows of one answer; an error has none."""
        return self.page(tool, **args)[0]

    def page(self, tool: str, **args: Any) -> tuple[list[dict[str, Any]], str | None]:
        """The rows of one answer and the cursor to go on with."""
        answer = self.session.call(tool, args)
        data = json.loads(answer.text)
        if answer.is_error or not isinstance(data, dict):
            return [], None
        rows = data.get("rows", [])
        return ([row for row in rows if isinstance(row, dict)], data.get("cursor"))

    def victim(self) -> str | None:
        """The id of the service that the alert names."""
        found = self.rows("search_entities", query=self.service, limit=20) if self.service else []
        exact = [row for row in found if row.get("name") == self.service]
        services = [row for row in exact if row.get("kind") == "Service"]
        best = services or exact or found
        return str(best[0]["id"]) if best else None

    def blame(self, change: Mapping[str, Any]) -> dict[str, Any]:
        """A diagnosis that names one change, its first entity, and its diffs as the mechanism."""
        detail = self.rows("get_change", id=change["id"])
        diffs = detail[0].get("diffs", []) if detail else []
        entities = change.get("entities") or [{"id": "none"}]
        entity = diffs[0].get("entity") if diffs else entities[0].get("id")
        return _answer(str(entity or "none"), str(change["id"]), _mechanism(diffs, change))


def _mechanism(diffs: Iterable[Mapping[str, Any]], change: Mapping[str, Any]) -> str:
    parts = [f"{d.get('field')} changed from {d.get('old')} to {d.get('new')}" for d in diffs]
    return "; ".join([*parts[:5], str(change.get("summary", ""))])[:600]


def _answer(entity: str, change: str, mechanism: str) -> dict[str, Any]:
    return {
        "root_cause_entity": entity,
        "root_cause_change": change,
        "mechanism": mechanism,
        "trigger": "",
        "affected": [],
        "evidence_ids": [],
        "ruled_out": [],
        "unavailable_sources": [],
        "recommended_fix": "revert the change",
    }


_NOTHING = _answer("none", "none", "no change caused this")


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _time(text: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    except ValueError:
        return None


def constant(desk: Desk) -> dict[str, Any]:
    """The same answer to everything: no change caused it."""
    return _NOTHING


def newest_change(desk: Desk) -> dict[str, Any]:
    """The last change that somebody made before the alert, wherever it was."""
    since = desk.fired - timedelta(days=14)
    found = desk.rows(
        "list_changes", since=_iso(since), until=_iso(desk.fired), types=WORK, limit=1
    )
    return desk.blame(found[0]) if found else _NOTHING


def nearest_onset(desk: Desk) -> dict[str, Any]:
    """The change nearest to when the victim's metrics first moved, within two hops of it.

    The churn of pods is left out, as anyone would: with it the rule is never right and no floor.
    """
    victim = desk.victim()
    if victim is None:
        return newest_change(desk)
    since = _iso(desk.fired - timedelta(hours=12))
    series = desk.rows("query_metrics", entity=victim, since=since, until=_iso(desk.fired))
    moved = [when for row in series if (when := _time(row.get("first_change"))) is not None]
    onset = min(moved, default=desk.fired - timedelta(minutes=10))
    window = {
        "since": _iso(onset - timedelta(days=1)),
        "until": _iso(desk.fired),
        "types": WORK,
        "limit": 50,
    }
    near = desk.rows("list_changes", around={"id": victim, "depth": 2}, **window)
    near = near or desk.rows("list_changes", **window)
    if not near:
        return _NOTHING

    def distance(row: Mapping[str, Any]) -> float:
        when = _time(row.get("ts"))
        return abs((when - onset).total_seconds()) if when else float("inf")

    return desk.blame(min(near, key=distance))


def health_only(desk: Desk) -> dict[str, Any]:
    """The worst finding of the health checks, and the last change of its first field."""
    findings = desk.rows("check_health", scope="all")
    if not findings:
        return _NOTHING

    def severity(row: Mapping[str, Any]) -> int:
        word = str(row.get("severity", "")).lower()
        return _SEVERITIES.index(word) if word in _SEVERITIES else len(_SEVERITIES)

    worst = min(findings, key=severity)
    fields = worst.get("fields") or []
    names = list(fields) if isinstance(fields, dict) else [str(name) for name in fields]
    text = f"{worst.get('check', '')}: {worst.get('finding', '')} {' '.join(names)}"
    change = "none"
    for name in names:
        history = desk.rows("get_field_history", entity=worst["entity"], field=name)
        if history and history[0].get("change_id"):
            change = str(history[0]["change_id"])
            break
    return _answer(str(worst.get("entity", "none")), change, text)


def alert_words(desk: Desk) -> dict[str, Any]:
    """The setting changed in the last two weeks whose words are nearest to the alert's (BM25)."""
    window = {"since": _iso(desk.fired - timedelta(days=14)), "until": _iso(desk.fired)}
    changes: list[dict[str, Any]] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        more = {"cursor": cursor} if cursor else {}
        rows, cursor = desk.page("list_changes", types=list(_SETTINGS), limit=50, **window, **more)
        changes += rows
        if not cursor or not rows:
            break
    if not changes:
        return _NOTHING
    scores = rank(desk.alert, [_words_of(change) for change in changes])
    return desk.blame(changes[max(range(len(changes)), key=lambda i: (scores[i], -i))])


def _words_of(change: Mapping[str, Any]) -> str:
    names = [str(entity.get("name", "")) for entity in change.get("entities", [])]
    return " ".join([str(change.get("summary", "")), *names, *map(str, change.get("fields", []))])


FLOORS: Mapping[str, Callable[[Desk], dict[str, Any]]] = {
    "constant answer": constant,
    "newest change": newest_change,
    "change nearest to onset": nearest_onset,
    "health checks only": health_only,
    "words of the alert (BM25)": alert_words,
}


def submit(rule: Callable[[Desk], dict[str, Any]], case: Case, interface: Interface) -> Submission:
    """Let one rule investigate one incident."""
    session = interface.open(str(case.incident.world), 0)
    try:
        return investigate(rule, case.incident.alert, session)
    finally:
        session.close()


def investigate(rule: Callable[[Desk], dict[str, Any]], alert: str, session: Session) -> Submission:
    """Let one rule investigate through an open session, and end it with its submission."""
    session.call("submit_diagnosis", rule(Desk(alert, session)))
    return session.finish() or Submission(complete=False)


def play_floors(
    cases: Sequence[Case],
    interface: Interface,
    judge: Callable[[Submission, Case], bool],
    names: Iterable[str] = tuple(FLOORS),
) -> tuple[Floor, ...]:
    """Every rule on every incident. ``judge`` says whether a submission is right.

    Incident by incident, so that each world is loaded once.
    """
    rules = tuple(names)
    solved = {(name, trap): 0 for name in rules for trap in (True, False)}
    for case in cases:
        for name in rules:
            right = judge(submit(FLOORS[name], case, interface), case)
            solved[name, case.is_trap] += right
    traps = sum(case.is_trap for case in cases)
    controls = len(cases) - traps
    return tuple(
        Floor(name, solved[name, True], traps, solved[name, False], controls) for name in rules
    )


def generous_judge(submission: Submission, case: Case) -> bool:
    """Whether a submission points at the cause of ``case``.

    A truth that was altered is a SpecError, before money is spent.
    """
    truth = read_truth(case.truth_file, digest=case.truth_digest)
    if case.is_trap and not truth.accepted_changes:
        # A recorded fault without a recorded change: pointing at no change says nothing of it.
        held = judge_exact(submission, truth).criteria
        return bool(held["entity"] and held["change"] and held["not_near_miss"])
    return points_at_cause(submission, truth)


def points_at_cause(submission: Submission, truth: Truth) -> bool:
    """The deterministic judge, but for the words of the mechanism.

    A rule that points at the right entity and change shows that the incident is solvable by a
    trick; somebody could put the explanation into words. Where no change is the answer, pointing at
    none is enough.
    """
    held = judge_exact(submission, truth).criteria
    if not truth.accepted_changes:
        return bool(held["change"])
    return bool(held["entity"] and held["change"] and held["not_near_miss"])
