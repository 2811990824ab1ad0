"""A scripted investigation with real tool calls: it knows the answer and must be shown it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from heldout.build.validity.p02_necessity import HEALTHY_BELOW
from heldout.build.validity.subject import Subject
from heldout.graph.session import WorldSession
from heldout.graph.tools.page import iso
from heldout.interface import Session
from heldout.simulate.ground import DEPENDS, Ground
from heldout.simulate.plot import Plot
from heldout.simulate.rhythm import MINUTE
from heldout.simulate.scope import members, places, told

MOST_CALLS = 25
PAGE = 50
LOOK_BACK = 30 * MINUTE
"""Before the alert: longer than any trouble lasts until it fires."""

Row = Mapping[str, Any]


class Spent(Exception):
    """The walk needs more calls than an investigation has."""


class Answer(NamedTuple):
    """Rows of one answer, the rest of its envelope, and whether the source could not be read."""

    rows: list[dict[str, Any]]
    extra: Mapping[str, Any]
    withheld: bool


class Walk:
    """The links of one incident's truth, asked for one after the other.

    Each link is a method that returns what is missing, in sentences. ``calls`` counts what was
    asked, ``withheld`` becomes true when an answer admits a gap.
    """

    def __init__(self, subject: Subject) -> None:
        self.subject, self.plot = subject, subject.plot
        self.ground: Ground = subject.plot.land.ground
        self.calls = 0
        self._proved: set[tuple[str, str]] = set()
        self.withheld = False
        self._session: Session = WorldSession(subject.world)
        self._until = iso(self.plot.now)
        self._since = iso(self.plot.now - LOOK_BACK)

    def close(self) -> None:
        """End the session."""
        self._session.close()

    def ask(self, tool: str, **args: Any) -> Answer:
        """One call within the real limits of output; :class:`Spent` when there are too many."""
        if self.calls == MOST_CALLS:
            raise Spent
        self.calls += 1
        answer = self._session.call(tool, args)
        data = json.loads(answer.text)
        if answer.is_error:
            withheld = data.get("error", {}).get("type") == "unavailable"
            self.withheld |= withheld
            return Answer([], {}, withheld)
        self.withheld |= bool(data.get("data_gaps"))
        return Answer(data["rows"], data, bool(data.get("data_gaps")))

    def unproved(self) -> list[str]:
        """What the fault's record declares as evidence and no answer has shown."""
        apt = {"path": len(self.plot.binding.path) > 1, "scope": bool(members(self.plot)[0])}
        return [
            f"{tool} does not show the {link}, which the fault declares"
            for link, tool in self.plot.binding.fault.evidence
            if apt.get(link, True) and (link, tool) not in self._proved
        ]

    def _prove(self, link: str, tool: str) -> None:
        self._proved.add((link, tool))

    def symptom(self) -> list[str]:
        """The service of the alert can be found by its name, and its alert is on record."""
        victim = self.ground.entities[self.plot.binding.victim]
        where = {"cluster": victim.cluster} if victim.cluster else {}
        named = self.ask("search_entities", query=victim.name, kinds=["Service"], **where).rows
        rung = self.ask("list_alerts", since=self._since, until=self._until, entity=victim.id).rows
        found = []
        if not _row(named, "id", victim.id):
            found.append("no search finds the alerted service by its name")
        if not any(row["state"] == "firing" for row in rung):
            found.append("no alert of the alerted service is on record")
        self._prove("symptom", "list_alerts")
        return found

    def quiet(self) -> list[str]:
        """The alerted service is well by its own metrics, now or all along."""
        rows = self._metrics(self.plot.binding.victim, ["error_share"], LOOK_BACK)
        points = rows[0]["points"] if rows else []
        if not points:
            return ["no metric shows how the alerted service fares"]
        over = self.plot.binding.fault.cause == "recovered"
        found = []
        if points[-1][1] > HEALTHY_BELOW:
            found.append("the alerted service's metrics do not show that it is well")
        if over and rows[0]["max"] <= HEALTHY_BELOW:
            found.append("the alerted service's metrics do not show that it failed")
        return found

    def path(self) -> list[str]:
        """From the alerted service each failing call leads on to the next, down to the seat."""
        for hop, (at, below) in enumerate(pairwise(self.plot.binding.path)):
            own, name = self.ground.id(below), self.ground.name(below)
            said = self._lines(at, name) if hop == 0 else self._failures(at)
            near = self.ask("get_neighbors", id=self.ground.id(at), direction="out",
                            predicates=list(DEPENDS), limit=PAGE).rows  # fmt: skip
            if not _row(near, "id", own):
                return [f"the neighbours of {self.ground.name(at)} do not show {name}"]
            if not names(name, said) and not self._moved(below, ["error_share", "latency_p95"]):
                return [f"nothing leads from {self.ground.name(at)} to {name}"]
        self._prove("path", "search_logs")
        return []

    def _lines(self, entity: int, query: str) -> list[str]:
        rows = self.ask("search_logs", entity=self.ground.id(entity), query=query, level="ERROR",
                        since=self._since, until=self._until, limit=1).rows  # fmt: skip
        return [row["msg"] for row in rows]

    def _failures(self, entity: int) -> list[str]:
        return [row["pattern"] for row in self._patterns(entity) if row["level"] == "ERROR"]

    def mechanism(self) -> tuple[list[str], str]:
        """(what is missing, what was said): lines, gauge and reports at the seat."""
        binding, fault = self.plot.binding, self.plot.binding.fault
        rows = [row for row in self._patterns(binding.seat) if row["count"]]
        said = [row["pattern"] for row in rows if row["level"] in ("ERROR", "WARN")]
        if not said and not self.withheld:
            return ["the seat's logs say nothing"], ""
        self._prove("mechanism", "log_patterns")
        gauge = fault.gauge.name
        if self._routes(2) and gauge and not self._moved(binding.seat, [gauge]):
            return [f"the seat's {gauge} does not move"], " ".join(said)
        self._prove("mechanism", "query_metrics")
        missing, reported = self._reports()
        if not missing:
            self._prove("mechanism", "list_changes")
        return missing, " ".join([*said, *reported])

    def _reports(self) -> tuple[list[str], list[str]]:
        """The trigger and what controllers said: (what is missing, the summaries)."""
        binding, fault = self.plot.binding, self.plot.binding.fault
        wanted: dict[int, str] = {}
        if self.plot.latent or fault.cause in ("none", "recovered"):
            wanted[binding.woken] = fault.trigger.type
        if self._routes(3):
            for effect in fault.effects:
                for entity in self._reported_on(effect.on)[:1]:
                    wanted.setdefault(entity, effect.type)
        if not wanted:
            return [], []
        rows = self.ask(
            "list_changes", entity_ids=[self.ground.id(one) for one in wanted],
            since=self._since, until=self._until, types=sorted(set(wanted.values())), limit=PAGE,
        ).rows  # fmt: skip
        shown = {one["id"] for row in rows for one in row["entities"]}
        missing = [
            f"nothing is reported of {self.ground.name(entity)} at onset"
            for entity in wanted
            if self.ground.id(entity) not in shown
        ]
        return missing, [row["summary"] for row in rows]

    def _reported_on(self, on: str) -> list[int]:
        fault, binding = self.plot.binding.fault, self.plot.binding
        if fault.scope is not None and on == fault.scope.over:
            return members(self.plot)[0]
        return places(self.ground, on, binding.seat, binding.holder, binding.victim)

    def scope(self) -> list[str]:
        """A member of the scope and one that was spared differ in the fact that tells them."""
        scope = self.plot.binding.fault.scope
        reached, spared = members(self.plot)
        if scope is None or not reached:
            return []
        for entity, said in ((reached[0], scope.inside), (spared[0], scope.outside)):
            own, value = self.ground.id(entity), told(self.plot, said, entity)
            rows = self.ask("get_entity", id=own, fields=[scope.field]).rows
            if not rows or rows[0]["fields"][scope.field]["value"] != value:
                return [f"{scope.field} does not tell what is reached from what is spared"]
        self._prove("scope", "get_entity")
        return []

    def holder(self) -> list[str]:
        """The entity with the field is found from the seat, edge by edge."""
        at = self.plot.binding.seat
        ways = self.plot.binding.fault.holder
        for hop, end in zip(ways, self._hops(ways), strict=True):
            rows = self.ask(
                "get_neighbors", id=self.ground.id(at), predicates=[re.split("[<>]", hop)[0]],
                direction="out" if ">" in hop else "in", limit=PAGE,
            ).rows  # fmt: skip
            if not _row(rows, "id", self.ground.id(end)):
                name = self.ground.name(at)
                return [f"on the way to the field the neighbours of {name} do not show the next"]
            at = end
        return []

    def _hops(self, ways: Sequence[str]) -> list[int]:
        """The entities after the seat on the way to the holder."""
        goal = self.plot.binding.holder
        ends: list[list[int]] = [[self.plot.binding.seat]]
        for hop in ways:
            ends.append([two for one in ends[-1] for two in self.ground.follow(one, hop)])
        taken = [goal]
        for at in range(len(ways) - 1, 0, -1):
            taken.insert(0, next(
                one for one in ends[at] if taken[0] in self.ground.follow(one, ways[at])
            ))  # fmt: skip
        return taken if ways else []

    def change(self) -> list[str]:
        """The field's history, its change among those of its entity, and the change in full."""
        truth = self.subject.truth
        history = self.ask("get_field_history", entity=truth.culprit_entity,
                           field=truth.culprit_field)  # fmt: skip
        listed = self.ask(
            "list_changes", entity_ids=[truth.culprit_entity], since=iso(self.plot.start),
            until=self._until, field=truth.culprit_field.rsplit(".", 1)[-1], limit=PAGE,
        ).rows  # fmt: skip
        diffs = self._diffs(truth.culprit_change)
        own = [one for one in diffs if one["entity"] == truth.culprit_entity
               and one["field"] == truth.culprit_field]  # fmt: skip
        if not history.rows:
            return ["no change touches the field"]
        if history.rows[0]["change_id"] != truth.culprit_change:
            return ["another change of the field is newer than the cause"]
        if (history.extra.get("current") or {}).get("value") != history.rows[0]["new"]:
            return ["the field no longer holds the value that the cause set"]
        if not _row(listed, "id", truth.culprit_change):
            return ["the change is not listed among those of its entity"]
        if not own or own[0]["new"] != history.rows[0]["new"]:
            return ["the change in full does not show the field"]
        self._prove("field", "get_field_history")
        self._prove("change", "get_change")
        return []

    def look_around(self) -> None:
        """The holder's changes whatever their field, where a gap must be admitted."""
        self.ask(
            "list_changes", entity_ids=[self.ground.id(self.plot.binding.holder)],
            since=iso(self.plot.start), until=self._until, limit=PAGE,
        )  # fmt: skip

    def _diffs(self, change: str) -> list[dict[str, Any]]:
        """Every diff of a change, page by page."""
        found: list[dict[str, Any]] = []
        more: dict[str, Any] = {}
        while True:
            answer = self.ask("get_change", id=change, **more)
            found += answer.rows[0]["diffs"] if answer.rows else []
            if not answer.extra.get("cursor"):
                return found
            more = {"cursor": answer.extra["cursor"]}

    def _routes(self, least: int) -> bool:
        """Whether this incident shows the mechanism in as many ways."""
        return self.plot.knob("routes", 3) >= least and self.plot.kind != "unanswerable"

    def _patterns(self, entity: int) -> list[dict[str, Any]]:
        return self.ask("log_patterns", entity=self.ground.id(entity), since=self._since,
                        until=self._until).rows  # fmt: skip

    def _metrics(self, entity: int, series: list[str], back: int) -> list[dict[str, Any]]:
        since = iso(self.plot.now - back)
        return self.ask("query_metrics", entity=self.ground.id(entity), names=series, since=since,
                        until=self._until).rows  # fmt: skip

    def _moved(self, entity: int, series: list[str]) -> bool:
        return any(row["first_change"] for row in self._metrics(entity, series, 2 * LOOK_BACK))


def _row(rows: Sequence[Row], key: str, value: str) -> bool:
    return any(row[key] == value for row in rows)


def names(name: str, texts: Sequence[str]) -> bool:
    """Whether a text holds the whole name, not a longer one that contains it."""
    return any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) for text in texts)


def named_field(plot: Plot, field: str, text: str) -> bool:
    """Whether a text leads to a field: by its last part, the one before, or its entity's name."""
    said = letters(text)
    parts = [letters(part) for part in field.split(".")]
    near = [part for part in parts[1:] or parts if len(part) > 2]
    return any(part in said for part in near) or names(
        plot.land.ground.name(plot.binding.holder), [text]
    )


def letters(text: str) -> str:
    """A text without case and separators, so that any spelling of a name is found."""
    return re.sub(r"[^a-z0-9]", "", text.lower())
