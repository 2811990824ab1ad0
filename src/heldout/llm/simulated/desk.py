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
    MASK,
    Change,
    Fact,
    Sign,
    Thing,
    facts,
    keys,
    likeness,
    longest_part,
    mentions,
    quoted,
    signs,
    text,
    things,
    words,
)
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

WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet", "Function", "Job", "CronJob", "Rollout")
HINTS: Mapping[str, str] = {
    "ConfigMap": "config setting key parameter pool worker thread heap client timeout retry",
    "Deployment": "image version release column rollout replica lookup dns ndots memory limit oom",
    "StatefulSet": "image version release replica volume",
    "Hpa": "replica scaling scale autoscaler ceiling",
    "ResourceQuota": "quota forbidden exceeded",
    "LimitRange": "limit exceeded range",
    "Cache": "cache evicted eviction maxmemory memory key ttl",
    "DbInstance": "database sql query connection storage slot",
    "DbCluster": "database sql query connection storage slot",
    "DbParameterGroup": "database parameter connection slot lock statement",
    "Queue": "queue message visibility",
    "KafkaTopic": "topic record message offset partition retention lag segment",
    "Bucket": "bucket object expired lifecycle",
    "Secret": "password credential secret rotated rotation authentication token login",
    "Certificate": "certificate tls handshake issuer x509 expired chain authority",
    "IamRole": "denied permission authorized role policy assume access",
    "IamPolicy": "denied permission authorized policy access",
    "SecurityGroup": "syn dial ingress egress port subnet cidr refused rule",
    "NetworkPolicy": "ingress egress policy refused",
    "NetworkAcl": "syn dial port subnet cidr rule",
    "FeatureFlag": "flag percent variant exposure rollout",
    "NodeGroup": "node disk space image template evicted",
    "LaunchTemplate": "node disk space image template",
    "CronJob": "run schedule overlapping concurrency job batch",
    "Function": "function concurrency invocation throttled memory",
    "Ingress": "ingress rewrite host path upstream",
    "DnsRecord": "dns lookup nxdomain resolve record",
    "HelmRelease": "chart value release",
}
"""Kinds that carry settings, with the words in which their troubles are usually told."""
STORES = frozenset(
    {"Cache", "DbInstance", "DbCluster", "Database", "Queue", "KafkaTopic", "Bucket"}
)
_PASSIVE = frozenset(
    ["Pod", "Node", "Team", "Person", "Repository", "Region", "Zone", "Cluster", "Account"]
)
_BARE = frozenset(
    [
        "Service",
        "K8sService",
        "AlertRule",
        "ExternalDependency",
        "Dashboard",
        "ReplicaSet",
        "ServiceAccount",
        "Pdb",
        "ConsumerGroup",
        "Namespace",
    ]
)
"""Kinds that seldom carry the setting; read last."""
SURE = 2.6
"""A likeness from which on nothing better is looked for."""
_QUIET_TYPES = frozenset({"pod", "node", "runtime", "scale"})


@dataclass(frozen=True, slots=True)
class _Holder:
    """An entity that may hold a setting: how soon it is read, and whether it suggests itself."""

    thing: Thing
    rank: tuple[bool, bool, int, bool, int, str]
    likely: bool


Best = tuple[float, Fact | None, Sign | None]
"""The likeliest field so far, how likely, and the message that speaks of it."""


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
    ruled_out: list[str] = field(default_factory=list)
    evidence: list[str] = field(default_factory=list)
    unavailable: list[str] = field(default_factory=list)
    trigger: str = ""
    old_value: str = ""
    skills: list[str] = field(default_factory=list)
    opened: dict[str, Change] = field(default_factory=dict)
    """Changes that were read in full."""

    @property
    def here(self) -> Thing | None:
        """The entity that the errors led to."""
        return self.path[-1] if self.path else None

    @property
    def day(self) -> float:
        """Midnight (UTC) before the alert, at least six hours back."""
        return min(self.fired - self.fired % DAY, self.fired - 6 * HOUR)

    def cite(self, *ids: str) -> None:
        """Remember ids as evidence, each once."""
        self.evidence += [one for one in ids if one and one not in self.evidence]

    def ask(self, tool: str, why: str, /, **args: Any) -> Steps[Answer]:
        """One tool call; sources that are not available are remembered."""
        answer = yield Call(tool, {k: v for k, v in args.items() if v not in (None, (), "")}, why)
        if answer.error in {"unavailable", "timeout"} and tool not in self.unavailable:
            self.unavailable.append(tool)
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

    def neighbours(self, thing: Thing, depth: int = 1) -> Steps[tuple[Thing, ...]]:
        """What an entity is connected with; each entity is asked about once per depth."""
        key = f"{thing.id}/{depth}"
        if key not in self.around:
            why = f"I look at what {thing.name} is connected with."
            answer = yield from self.ask("get_neighbors", why, id=thing.id, depth=depth, limit=50)
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
        seen = {one.name for one in self.path} | {thing.name}
        counts: dict[str, float] = {}
        by_id = {one.id: one for one in around}
        for sign in found:
            if not sign.fresh:
                continue
            for other in by_id.values():
                if other.name not in seen and mentions(sign.message, other.name):
                    weight = sign.count * (2.0 if sign.level == "ERROR" else 1.0)
                    counts[other.id] = counts.get(other.id, 0.0) + weight
        loudest = max((sign.count for sign in found if sign.fresh), default=0.0)
        counts = {one: weight for one, weight in counts.items() if weight >= 0.2 * loudest}
        if not counts:
            return None
        best = max(counts, key=lambda one: (counts[one], by_id[one].kind == "Service", one))
        return by_id[best]

    def follow(self, hops: int) -> Steps[None]:
        """Walk along the errors, at most so many hops beyond the victim."""
        while self.here is not None and len(self.path) <= hops + 1:
            found = yield from self.trouble_at(self.here)
            if len(self.path) > hops:
                return
            following = yield from self.named_next(self.here, found)
            if following is None:
                return
            self.path.append(following)
            self.cite(following.id)

    # ---- from the errors to the setting ---------------------------------------------------

    def quote(self) -> Steps[None]:
        """Read single lines of the loudest pattern: patterns hide the numbers."""
        spot = self.here
        found = self.trouble.get(spot.id, ()) if spot else ()
        if spot is None or not (found and MASK in found[0].message):
            return
        answer = yield from self.ask(
            "search_logs",
            f"I read the lines of {spot.name} behind the pattern.",
            query=longest_part(found[0].message),
            entity=found[0].entity or spot.id,
            level="ERROR",
            since=iso(self.fired - HOUR),
            until=iso(self.fired),
            limit=10,
        )
        lines = signs(answer.rows)
        self.trouble[spot.id] = tuple(quoted(sign, lines) for sign in found)

    def candidates(self) -> list[Sign]:
        """Messages that may state the mechanism, nearest to the end of the path first."""
        result: list[Sign] = []
        names = [thing.name for thing in self.path]
        for place, thing in reversed(list(enumerate(self.path))):
            following = names[place + 1 :]
            for sign in self.trouble.get(thing.id, ()):
                relayed = any(mentions(sign.message, name) for name in following)
                if sign.fresh and (not relayed or keys(sign.message)) and sign not in result:
                    result.append(sign)
        own = self.path[-1].id if self.path else ""
        tail = {sign.message for sign in self.trouble.get(own, ())}
        result.sort(key=lambda sign: (sign.message not in tail, sign.level != "ERROR"))
        return result[:6]

    def inspect(
        self, thing: Thing, best: tuple[float, Fact | None, Sign | None]
    ) -> Steps[tuple[float, Fact | None, Sign | None]]:
        """Read an entity's fields and keep the one that the messages speak of most surely."""
        why = f"I read the settings of {thing.name}."
        answer = yield from self.ask("get_entity", why, id=thing.id)
        for row in answer.rows[:1]:
            for fact in facts(thing, row):
                for rank, sign in enumerate(self.candidates()):
                    score = likeness(sign.message, fact.field, fact.value) - 0.15 * rank
                    if score > best[0]:
                        best = (score, fact, sign)
        return best

    def locate(self, reads: int) -> Steps[None]:
        """Find the field that the messages speak of: on the spot, then around it."""
        if self.here is None:
            return
        messages = self.candidates()
        self.mechanism = messages[0] if messages else None
        best: Best = (1.1, None, None)
        done: set[str] = set()
        best = yield from self._named_holder(messages, best, done)
        for step in range(3):
            if best[0] >= SURE:
                break
            around = yield from self._holders(self.here, step)
            for ranked in self._ranked(around, messages):
                if step < 2 and not ranked.likely:
                    continue
                if ranked.thing.id in done or best[0] >= SURE or len(done) >= reads:
                    continue
                done.add(ranked.thing.id)
                best = yield from self.inspect(ranked.thing, best)
        _, self.fact, sign = best
        self.mechanism = sign or self.mechanism
        if self.fact is not None:
            self.cite(self.fact.entity.id)
        if self.mechanism is not None:
            self.cite(self.mechanism.example)

    def _named_holder(self, messages: Sequence[Sign], best: Best, done: set[str]) -> Steps[Best]:
        """Look up what the loudest messages call by a name that is not on the path."""
        on_path = {thing.name for thing in self.path}
        told = [key for sign in messages[:2] for key in keys(sign.message) if _is_name(key)]
        for name in [one for one in dict.fromkeys(told) if one not in on_path][:2]:
            why = f"The error names {name}; I look it up."
            answer = yield from self.ask("search_entities", why, query=name)
            exact = [thing for thing in things(answer.rows) if thing.name == name]
            cluster = self.path[-1].cluster or self.path[0].cluster or self.alert.cluster
            near = [thing for thing in exact if thing.cluster == cluster] or exact
            for thing in near[:1]:
                done.add(thing.id)
                best = yield from self.inspect(thing, best)
        return best

    def _holders(self, seat: Thing, step: int) -> Steps[list[Thing]]:
        """What may hold the settings of a seat: itself and its workload, then two hops around."""
        near = yield from self.neighbours(seat)
        found = [seat, *near]
        if step == 0:
            for workload in [one for one in near if one.kind in WORKLOADS][:1]:
                found += yield from self.neighbours(workload)
        elif step == 1:
            messages = self.candidates()
            stores = [one.thing for one in self._ranked(near, messages) if one.thing.kind in STORES]
            for thing in stores[:2]:
                found += yield from self.neighbours(thing)
        else:
            found += yield from self.neighbours(seat, 2)
        return found

    def _ranked(self, around: Sequence[Thing], messages: Sequence[Sign]) -> list[_Holder]:
        """Connected entities in the order in which their settings are worth reading."""
        spoken = {word for sign in messages[:2] for word in words(sign.message)}
        own = set(words(self.path[-1].name))

        def rated(thing: Thing) -> _Holder:
            named = any(mentions(sign.message, thing.name) for sign in messages)
            bare = thing.kind in _BARE
            related = own <= set(words(thing.name)) and not bare
            told = len(spoken & _hints(thing.kind))
            order = list(HINTS).index(thing.kind) if thing.kind in HINTS else len(HINTS)
            own_store = thing.kind in STORES and thing.depth == 1 and thing.direction == "out"
            near = related or own_store
            rank = (
                bare,
                not named,
                -min(told, 3) if near or told > 1 else 0,
                not near,
                order,
                thing.id,
            )
            here = thing.id == self.path[-1].id and not bare
            return _Holder(thing, rank, named or related or told > 0 or here)

        seen: dict[str, Thing] = {}
        for thing in around:
            if thing.kind not in _PASSIVE:
                seen.setdefault(thing.id, thing)
        return sorted(map(rated, seen.values()), key=lambda one: one.rank)

    # ---- what changed ---------------------------------------------------------------------

    def touches(self, change: Change) -> bool:
        """True when a change altered the field behind the mechanism, on its entity."""
        if self.fact is None or self.fact.entity.id not in change.entities:
            return False
        last = words(self.fact.field)[-3:]
        return any(
            one == self.fact.field or words(one)[-len(last) :] == last for one in change.fields
        )

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
        answer = yield from self.ask(
            "query_metrics",
            f"I look at how {spot.name} moved around the onset.",
            entity=spot.id,
            since=iso(self.fired - 3 * HOUR),
            until=iso(self.fired),
        )
        for row in answer.rows:
            first = text(row, "first_change")
            if first and text(row, "name"):
                self.trigger = f"{text(row, 'name')} of {spot.name} moved at {first}"
                self.cite(text(row, "series"))
                return


def _worst_first(found: Sequence[Sign]) -> tuple[Sign, ...]:
    severe = [sign for sign in found if sign.level in {"ERROR", "WARN", "FATAL", "CRITICAL"}]
    return tuple(
        sorted(severe, key=lambda sign: (not sign.fresh, sign.level == "WARN", -sign.count))
    )


def _hints(kind: str) -> frozenset[str]:
    return frozenset(words(HINTS.get(kind, ""))) | frozenset(words(kind))


def _is_name(key: str) -> bool:
    """True for what looks like the name of a thing rather than of a setting."""
    return "-" in key and "_" not in key and key.islower() and not key[0].isdigit()
