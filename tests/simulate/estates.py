"""Measures of drawn estates and their histories, for tests of distributions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from heldout.simulate.ground import CLOUD_MADE, TRAFFIC, Change, Ground
from heldout.simulate.landscape import Landscape, build_landscape
from heldout.simulate.rhythm import DAY, HOUR, calendar
from heldout.simulate.tables import Replay, replay
from heldout.simulate.timeline import healthy_changes

SETTINGS = ("config", "iac_apply", "cloud_api", "secret", "certificate", "flag")


@dataclass
class Estate:
    """One world before any incident: its estate and the healthy history."""

    land: Landscape
    start: int
    now: int

    @property
    def ground(self) -> Ground:
        return self.land.ground

    @cached_property
    def changes(self) -> list[Change]:
        return healthy_changes(
            self.land, self.ground.seed, self.start, self.now, protected={}
        )  # fmt: skip

    @cached_property
    def done(self) -> Replay:
        return replay(self.ground, self.changes)

    @cached_property
    def by_people(self) -> list[Change]:
        return [one for one in self.changes if one.actor_kind == "person"]

    @cached_property
    def callees(self) -> dict[int, list[int]]:
        """For each Service the Services that it calls."""
        ground = self.ground
        return {
            one: [to for name, to in ground.out(one)
                  if name == "calls" and ground.entities[to].kind == "Service"]
            for one in ground.of_kind("Service")
        }  # fmt: skip

    @cached_property
    def pods(self) -> list[int]:
        """How many pods each service has."""
        hops = ("controlled_by<ReplicaSet", "controlled_by<Pod")
        return [len(self.ground.reach(site.deployment, hops)) for site in self.land.sites]

    def kind(self, name: str) -> int:
        """How many entities of a kind there are."""
        return len(self.ground.of_kind(name))

    def facts(self, field: str, kind: str) -> set[object]:
        """The values of a fact among a kind."""
        return {self.ground.base[(one, field)] for one in self.ground.of_kind(kind)}


def estate(seed: int, **knobs: float | str) -> Estate:
    """The estate of a seed, at full scale unless a knob says otherwise."""
    now, start, _ = calendar(seed, knobs)
    return Estate(build_landscape(seed, knobs), start, now)


def callers(one: Estate) -> Counter[int]:
    """How many Services call each Service."""
    return Counter(to for called in one.callees.values() for to in called)


def cycles(one: Estate) -> int:
    """How many groups of services call each other in a circle."""
    order: list[int] = []
    seen: set[int] = set()
    for start in one.callees:
        stack: list[tuple[int, Iterator[int]]] = [(start, iter(one.callees[start]))]
        if start in seen:
            continue
        seen.add(start)
        while stack:
            step = next((to for to in stack[-1][1] if to not in seen), None)
            if step is None:
                order.append(stack.pop()[0])
            else:
                seen.add(step)
                stack.append((step, iter(one.callees[step])))
    above: dict[int, list[int]] = {}
    for src, called in one.callees.items():
        for to in called:
            above.setdefault(to, []).append(src)
    found, taken = 0, set()
    for start in reversed(order):
        if start in taken:
            continue
        group, todo = {start}, [start]
        while todo:
            for to in above.get(todo.pop(), ()):
                if to not in taken and to not in group:
                    group.add(to)
                    todo.append(to)
        taken |= group
        found += len(group) > 1
    return found


def dependencies(one: Estate) -> Counter[str]:
    """What is said of dependencies that hold now: ``observed``, ``inferred`` or ``unseen``."""
    ground = one.ground
    said: Counter[str] = Counter()
    for edge in ground.edges:
        if edge.predicate in TRAFFIC and not edge.until:
            real = (edge.predicate, edge.dst) in ground.out(edge.src)
            if real or edge.provenance == "declared":
                said[edge.provenance if real else "unseen"] += 1
    return said


def untrue(one: Estate) -> float:
    """Share of edges that are inferred and stale or wrong."""
    ground = one.ground
    bad = sum(
        1 for edge in ground.edges
        if edge.provenance == "inferred" and (edge.predicate, edge.dst) not in ground.out(edge.src)
    )  # fmt: skip
    return bad / len(ground.edges)


def by_hand(one: Estate) -> tuple[float, float]:
    """Share of cloud resources in no stack, and how much more it varies by team than by chance.

    The second is the variance of the teams' shares over that of independent draws.
    """
    ground = one.ground
    groups: dict[object, list[bool]] = {}
    for entity, it in enumerate(ground.entities):
        if it.kind in CLOUD_MADE:
            stacks = [to for name, to in ground.out(entity) if name == "declared_in"]
            owner = next((to for name, to in ground.out(entity) if name == "owned_by"), None)
            kept = [to for to in stacks if ground.entities[to].kind == "IacStack"]
            groups.setdefault((it.cluster, owner), []).append(not kept)
    every = [flag for flags in groups.values() for flag in flags]
    share = float(np.mean(every))
    teams = [flags for (_, owner), flags in groups.items() if owner is not None and len(flags) > 4]
    if not teams or share in (0.0, 1.0):
        return share, 1.0
    spread = np.mean([len(flags) * (np.mean(flags) - share) ** 2 for flags in teams])
    return share, float(spread / (share * (1 - share)))


def said(one: Estate, what: str) -> dict[str, float]:
    """Shares of who says the ``edge`` or the ``fact`` rows."""
    ground = one.ground
    count = Counter(
        edge.provenance for edge in ground.edges
    ) if what == "edge" else Counter(it.said[0] for it in ground.entities)  # fmt: skip
    return {name: number / count.total() for name, number in count.items()}


def hours(changes: list[Change]) -> np.ndarray:
    """Changes by hour of the day, 24 numbers."""
    return np.bincount([one.ts // HOUR % 24 for one in changes], minlength=24)


def weekdays(one: Estate, changes: list[Change]) -> np.ndarray:
    """Changes by day of the week, Monday first, for each such day of the history in part."""
    moments = np.arange(one.start, one.now, HOUR)
    covered = np.bincount((moments // DAY + 3) % 7, minlength=7) / 24
    count = np.bincount([int((it.ts // DAY + 3) % 7) for it in changes], minlength=7)
    return count / np.maximum(covered, 0.04)


def top_tenth(one: Estate) -> float:
    """Share of all changes that fall on the tenth of entities that change most."""
    hits = Counter(target for change in one.changes for target in change.targets)
    most = sorted(hits.values(), reverse=True)[: len(one.ground.entities) // 10]
    return sum(most) / hits.total()


def sizes(one: Estate, actor: str) -> np.ndarray:
    """How many fields each change of settings by an actor kind touched."""
    kinds = {
        one.done.ids[change.key] for change in one.changes
        if change.type in SETTINGS and change.actor_kind == actor
    }  # fmt: skip
    count = Counter(diff.change for diff in one.done.diffs if diff.change in kinds)
    return np.array(list(count.values()))


def promoted(one: Estate) -> tuple[float, float]:
    """Releases to integration and to staging for each rollout to production."""
    ground = one.ground
    stages = Counter(
        change.edits[0].field.split(".")[0]
        if ground.entities[change.targets[0]].kind == "Pipeline" else "production"
        for change in one.changes
        if change.type == "deploy" and change.key.split("/")[-1] in ("0", "1")
        and (change.key.count("/") == 3 or change.key.endswith("/0"))
    )  # fmt: skip
    return (
        stages["integration"] / stages["production"],
        stages["staging"] / stages["production"],
    )
