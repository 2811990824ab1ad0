"""An investigator's desk: what is known so far, and the steps that every investigator can take.

A step is a generator: it yields a :class:`Call` and is sent the :class:`Answer`. The whole
investigation is such a generator and is run anew over the conversation at every request, so that
nothing is remembered between requests.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from heldout.llm.simulated.evidence import (
    Change,
    Fact,
    Sign,
    Thing,
    called,
    mentions,
    signs,
    text,
    things,
    words,
)
from heldout.llm.simulated.kinds import SPEAKING, STORES, WORKLOADS
from heldout.llm.simulated.mind import Mind
from heldout.llm.simulated.transcript import READ_SKILL, Alert, Answer, Transcript, iso, seconds

T = TypeVar("T")
DAY = 86_400.0
HOUR = 3_600.0


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call and the sentence that goes with it."""

    tool: str
    args: Mapping[str, Any]
    why: str


Steps = Generator[Call, Answer, T]

_LEANING = ("calls", "reads_writes", "consumes_from", "publishes_to")
_ASKED = 4
"""Of how many neighbours metrics are asked for where logs are missing."""
_TURNS = 4
"""How often an investigator turns back where the errors lead in a circle."""
FAINT = 0.25
"""A message said less often than this share of the loudest is background."""
_QUIET_TYPES = frozenset({"pod", "node", "runtime", "scale"})


@dataclass(slots=True)
class Desk:
    """Everything one investigator knows about one incident."""

    alert: Alert
    mind: Mind
    fired: float
    victim: Thing | None = None
    path: list[Thing] = field(default_factory=list)
    around: dict[str, tuple[Thing, ...]] = field(default_factory=dict)
    trouble: dict[str, tuple[Sign, ...]] = field(default_factory=dict)
    mechanism: Sign | None = None
    fact: Fact | None = None
    culprit: Change | None = None
    culprit_entity: str = ""
    blamed: bool = False
    """True once a decision about the culprit was made, whichever."""
    told: Sequence[Sign] = ()
    """Messages that may state the mechanism, the likeliest first."""
    sure: float = 0.0
    """How surely a message speaks of the field that was found."""
    onset: float | None = None
    """When the victim's errors began, once that was asked."""
    over: str = ""
    """What was seen of the symptom where it is no longer there, or never was."""
    notes: list[str] = field(default_factory=list)
    """What the diagnosis says besides the mechanism."""
    holes: list[tuple[str, str]] = field(default_factory=list)
    """(source, entity) of gaps that the tools told of."""
    followed: set[str] = field(default_factory=set)
    """Entities whose surroundings were searched for settings."""
    ruled_out: list[str] = field(default_factory=list)
    evidence: list[str] = field(default_factory=list)
    unavailable: list[str] = field(default_factory=list)
    trigger: str = ""
    old_value: str = ""
    skills: list[str] = field(default_factory=list)
    asked: dict[str, Answer] = field(default_factory=dict)
    """What every call made so far was answered."""
    left: set[str] = field(default_factory=set)
    """Names of components from which the way led back."""
    series: dict[str, Answer] = field(default_factory=dict)
    report: dict[str, Any] = field(default_factory=dict)
    """What a report says where code was to be mended."""
    opened: dict[str, Change] = field(default_factory=dict)
    """Changes that were read in full."""

    @property
    def here(self) -> Thing | None:
        """The entity that the errors led to."""
        return self.path[-1] if self.path else None

    @property
    def cluster(self) -> str:
        """The cluster in which the trouble is."""
        return (self.victim.cluster if self.victim else "") or self.alert.cluster

    @property
    def day(self) -> float:
        """Midnight (UTC) before the alert, at least six hours back."""
        return min(self.fired - self.fired % DAY, self.fired - 6 * HOUR)

    def cite(self, *ids: str) -> None:
        """Remember ids as evidence, each once."""
        self.evidence += [one for one in ids if one and one not in self.evidence]

    def ask(self, tool: str, why: str, /, **args: Any) -> Steps[Answer]:
        """One tool call, made once; sources that are not available are remembered."""
        given = {k: v for k, v in args.items() if v not in (None, (), "")}
        key = f"{tool} {given!r}"
        if key in self.asked:
            return self.asked[key]
        answer = yield Call(tool, given, why)
        self.asked[key] = answer
        if answer.error in {"unavailable", "timeout"} and tool not in self.unavailable:
            self.unavailable.append(tool)
            self.holes.append((tool, str(args.get("entity") or "")))
        self.holes += [hole for hole in answer.holes if hole not in self.holes]
        self.unavailable += [gap for gap in answer.gaps if gap not in self.unavailable]
        return answer

    # ---- finding the way ------------------------------------------------------------------

    def find_victim(self) -> Steps[None]:
        """From the alert to the entity that hurts."""
        name = self.alert.service
        if name:
            why = f"The alert is about {name}; I look it up."
            answer = yield from self.ask("search_entities", why, query=name, kinds=["Service"])
            found = things(answer.rows)
            if not found:
                answer = yield from self.ask("search_entities", why, query=name)
                found = things(answer.rows)
            self.victim = self._best_named(found, name)
        if self.victim is None:
            yield from self._victim_by_alert()
        if self.victim is not None:
            self.path.append(self.victim)
            self.cite(self.victim.id)

    def _best_named(self, found: Sequence[Thing], name: str) -> Thing | None:
        def rank(thing: Thing) -> tuple[bool, bool, bool]:
            other = bool(self.alert.cluster) and thing.cluster != self.alert.cluster
            return (thing.name != name, other, thing.kind != "Service")

        return min(found, key=rank, default=None)

    def _victim_by_alert(self) -> Steps[None]:
        why = "I look at which alerts are firing."
        since, until = iso(self.fired - HOUR), iso(self.fired + 60)
        answer = yield from self.ask("list_alerts", why, since=since, until=until)
        rows = sorted(
            answer.rows,
            key=lambda row: (
                text(row, "rule") not in self.alert.title,
                -(seconds(text(row, "ts")) or 0.0),
            ),
        )
        for row in rows:
            if text(row, "entity"):
                self.victim = Thing(text(row, "entity"), "Service", text(row, "entity_name"))
                return

    def neighbours(
        self,
        thing: Thing,
        depth: int = 1,
        predicates: Sequence[str] = (),
        direction: str = "",
    ) -> Steps[tuple[Thing, ...]]:
        """What an entity is connected with, by all edges or some; each is asked once."""
        key = f"{thing.id}/{depth}/{direction}/{'+'.join(predicates)}"
        if key not in self.around:
            why = f"I look at what {thing.name} is connected with."
            chosen = {"predicates": list(predicates), "direction": direction} if predicates else {}
            answer = yield from self.ask(
                "get_neighbors", why, id=thing.id, depth=depth, limit=50, **chosen
            )
            self.around[key] = things(answer.rows)
        return self.around[key]

    def read_logs(self, thing: Thing) -> Steps[tuple[Sign, ...]]:
        """Fresh errors and warnings of an entity since shortly before the alert."""
        if thing.id not in self.trouble:
            why = f"I read what {thing.name} logs since the trouble began."
            answer = yield from self.ask(
                "log_patterns",
                why,
                entity=thing.id,
                since=iso(self.fired - HOUR),
                until=iso(self.fired),
            )
            partial = any(source.startswith("log") for source, _ in answer.holes)
            if partial and not self.mind.does("gap"):
                self.trouble[thing.id] = ()  # Who distrusts a log with gaps takes it for empty.
            else:
                self.trouble[thing.id] = _worst_first(signs(answer.rows))
        return self.trouble[thing.id]

    def trouble_at(self, thing: Thing) -> Steps[tuple[Sign, ...]]:
        """Trouble in an entity's logs, or in those of the workload behind it."""
        found = yield from self.read_logs(thing)
        if any(sign.fresh for sign in found):
            return found
        around = yield from self.neighbours(thing)
        for workload in [one for one in around if one.kind in WORKLOADS][:2]:
            behind = yield from self.read_logs(workload)
            if any(sign.fresh for sign in behind):
                self.trouble[thing.id] = behind
                return behind
        return found

    def named_next(self, thing: Thing, found: Sequence[Sign]) -> Steps[Thing | None]:
        """The connected entity that the errors name, most often named first."""
        around = yield from self.neighbours(thing)
        seen = {one.name for one in self.path} | {thing.name} | self.left
        counts: dict[str, float] = {}
        by_id = {one.id: one for one in around if one.kind in SPEAKING and one.name not in seen}
        fresh = [sign for sign in found if sign.fresh]
        loudest = max((sign.count for sign in fresh), default=0.0)
        for sign in [one for one in fresh if one.count > FAINT * loudest]:
            for other in by_id.values():
                if mentions(sign.message, other.name):
                    weight = sign.count * (2.0 if sign.level == "ERROR" else 1.0)
                    counts[other.id] = counts.get(other.id, 0.0) + weight
        if not counts:
            return (yield from self._looked_up(found, seen))
        best = max(counts, key=lambda one: (counts[one], by_id[one].kind == "Service", one))
        return by_id[best]

    def _looked_up(self, found: Sequence[Sign], seen: set[str]) -> Steps[Thing | None]:
        """Search for what the loudest error calls by a name that no neighbour bears."""
        loudest = next((sign for sign in found if sign.fresh and sign.level == "ERROR"), None)
        if loudest is None:
            return None
        for name in [one for one in called(loudest.message) if one not in seen][:1]:
            why = f"The error names {name}; I look it up."
            answer = yield from self.ask("search_entities", why, query=name)
            exact = [one for one in things(answer.rows) if one.name == name]
            speaking = [one for one in exact if one.kind in SPEAKING]
            return self.meant(sorted(speaking, key=lambda one: one.kind != "Service"))
        return None

    def meant(self, alike: Sequence[Thing]) -> Thing | None:
        """Of things with one name, the one of this incident, for who tells them apart."""
        if self.mind.does("identity"):
            return next((one for one in alike if one.cluster in ("", self.cluster)), None) or next(
                iter(alike), None
            )
        return next(iter(alike), None)

    def follow(self, hops: int) -> Steps[None]:
        """Walk along the errors, at most so many hops beyond the victim.

        A component that complains of those one came from leads nowhere: back, another way. Where
        there is none, what was left last is where the errors lead after all.
        """
        turned: list[Thing] = []
        while self.here is not None and len(self.path) <= hops + 1:
            found = yield from self.trouble_at(self.here)
            if len(self.path) > hops:
                return
            following = yield from self.named_next(self.here, found)
            if following is None and not found and self.mind.does("gap"):
                following = yield from self._moved_next(self.here)
            if following is not None:
                turned = []
                self.path.append(following)
                self.cite(following.id)
            elif self._circles(found) and len(self.left) < _TURNS:
                turned = turned or list(self.path)
                self.left.add(self.path.pop().name)
            else:
                self.path[:] = self.path if self._states(found) else turned or self.path
                return

    def _states(self, found: Sequence[Sign]) -> bool:
        """True where a loud message is about nothing that the errors led through."""
        met = {thing.name for thing in self.path} | self.left
        fresh = [sign for sign in found if sign.fresh]
        loud = [sign for sign in fresh if sign.count > FAINT * fresh[0].count]
        return any(not any(mentions(sign.message, name) for name in met) for sign in loud)

    def _circles(self, found: Sequence[Sign]) -> bool:
        """True where errors complain about something on the way here, and none of a setting."""
        before = [one.name for one in self.path[:-1]]
        fresh = [sign for sign in found if sign.fresh and sign.level == "ERROR"]
        loud = [sign for sign in fresh if sign.count > FAINT * fresh[0].count]
        back = [any(mentions(sign.message, name) for name in before) for sign in loud]
        own = [sign for sign, backward in zip(loud, back, strict=True) if not backward]
        return any(back) and not any("=" in sign.message for sign in own)

    def _moved_next(self, thing: Thing) -> Steps[Thing | None]:
        """Where a component says nothing: what it leans on whose errors rose."""
        seen = {one.id for one in self.path}
        around = yield from self.neighbours(thing)
        leans = [one for one in around if one.direction == "out" and one.predicate in _LEANING]
        silent: Thing | None = None
        for other in [one for one in leans if one.id not in seen][:_ASKED]:
            began = yield from self.began(other)
            if began is not None:
                return other
            if silent is None and other.kind in STORES and self._moved(self.series[other.id]):
                silent = other
        return silent

    def _moved(self, answer: Answer) -> bool:
        """True when a series of a store left its level in the last minutes."""
        moved = [seconds(text(row, "first_change")) for row in answer.rows]
        return any(one is not None and one > self.fired - HOUR / 3 for one in moved)

    def began(self, thing: Thing) -> Steps[float | None]:
        """When the errors of an entity last began to rise, ``None`` when they did not."""
        answer = yield from self.moves(thing)
        for row in answer.rows:
            moved = seconds(text(row, "first_change"))
            if moved is not None and "error" in text(row, "name"):
                return moved
        return None

    def moves(self, thing: Thing) -> Steps[Answer]:
        """The metrics of an entity in the half hour before the alert, asked once each."""
        if thing.id not in self.series:
            self.series[thing.id] = yield from self.ask(
                "query_metrics",
                f"I look at how {thing.name} moved in the last half hour.",
                entity=thing.id,
                since=iso(self.fired - HOUR / 2),
                until=iso(self.fired),
            )
        return self.series[thing.id]

    # ---- what changed ---------------------------------------------------------------------

    def touches(self, change: Change) -> bool:
        """True when a change altered the field behind the mechanism, on its entity."""
        if self.fact is None or self.fact.entity.id not in change.entities:
            return False
        if change.pairs:
            own = tuple(field for of, field in change.pairs if of == self.fact.entity.id)
            return self._names_field(own)
        return self.same_field(change)

    def same_field(self, change: Change) -> bool:
        """True when a change altered a field of the same name, wherever."""
        return self._names_field(change.fields)

    def _names_field(self, fields: Sequence[str]) -> bool:
        if self.fact is None:
            return False
        last = words(self.fact.field)[-3:]
        return any(one == self.fact.field or words(one)[-len(last) :] == last for one in fields)

    def suspects(self, found: Sequence[Change], minutes: float = 90.0) -> list[Change]:
        """Changes by people or pipelines shortly before the alert: on the path, then the latest."""
        near = [
            change
            for change in found
            if self.fired - minutes * 60 <= change.at <= self.fired
            and change.type not in _QUIET_TYPES
            and change.actor_kind != "controller"
        ]
        return sorted(near, key=lambda change: (not self.on_path(change), -change.at, change.id))

    def on_path(self, change: Change) -> bool:
        """True when a change altered something on the path, or something named after it."""
        names = tuple(thing.name for thing in self.path)
        return any(name.startswith(names) for name in change.names)

    def read_skills(self, transcript: Transcript) -> Steps[None]:
        """Read the on-demand skills whose description fits the alert."""
        topic = {word for word in words(self.alert.text) if len(word) > 3}
        for name, description in transcript.skills[:8]:
            fits = len({word for word in words(description) if len(word) > 3} & topic)
            if fits >= 2 and len(self.skills) < 2:
                answer = yield from self.ask(READ_SKILL, f"The skill {name} fits.", name=name)
                self.skills.append(answer.text)

    def see_trigger(self) -> Steps[None]:
        """Look in the metrics for what moved when the trouble began."""
        spot = self.here or self.victim
        if spot is None:
            return
        answer = yield from self.moves(spot)
        for row in answer.rows:
            first = text(row, "first_change")
            if first and text(row, "name"):
                self.trigger = f"{text(row, 'name')} of {spot.name} moved at {first}"
                self.cite(text(row, "series"))
                return


def _worst_first(found: Sequence[Sign]) -> tuple[Sign, ...]:
    """Fresh trouble before old, what is said often before what is said once, errors first."""
    severe = [sign for sign in found if sign.level in {"ERROR", "WARN", "FATAL", "CRITICAL"}]
    loudest = max((sign.count for sign in severe if sign.fresh), default=0.0)

    def rank(sign: Sign) -> tuple[bool, bool, bool, float]:
        faint = sign.count <= FAINT * loudest
        return (not sign.fresh, faint, sign.level == "WARN", -sign.count)

    return tuple(sorted(severe, key=rank))
