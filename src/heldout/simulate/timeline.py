"""The healthy history: pods, nodes and autoscalers, releases, settings, applies, merges.

Mix, rhythm and unevenness are the organisation's habits. Each category draws from a stream of its
own. Edits of *protected* fields, those an incident's own changes use, are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from heldout.simulate.catalog import CHANGING, COUNTERS, VERSIONED, FieldSpec, lent
from heldout.simulate.dressing import DRAWS, INC, dress, padding
from heldout.simulate.ground import Change, Edit
from heldout.simulate.landscape import Landscape
from heldout.simulate.releases import releases
from heldout.simulate.renewal import renewals
from heldout.simulate.rhythm import moments
from heldout.simulate.streams import stream

Protected = Mapping[tuple[int, str], int]
"""Fields that are left alone from a time on."""

_NEVER = 1 << 62
_POD_WORDS = (
    "Pulled image for {name}", "Started container in {name}", "Scheduled {name}",
    "Created container in {name}", "Readiness probe of {name} recovered", "Killing {name}",
    "Container of {name} restarted",
)  # fmt: skip
_NODE_WORDS = (
    "{name} reports ready", "{name} cordoned for image refresh", "{name} joined",
    "Taint removed from {name}", "Image garbage collection on {name}",
)  # fmt: skip


def zipf_picks(
    rng: np.random.Generator, pool: Sequence[int], count: int, exponent: float
) -> list[int]:
    """``count`` picks by Zipf rank over a shuffled pool."""
    order = rng.permutation(len(pool))
    weight = np.cumsum(1.0 / np.arange(1, len(pool) + 1) ** exponent)
    ranks = np.searchsorted(weight, rng.random(count) * weight[-1])
    return [pool[int(order[int(rank)])] for rank in ranks]


class _Writer:
    def __init__(
        self, land: Landscape, seed: int, start: int, now: int, protected: Protected
    ) -> None:
        self.land, self.seed, self.start, self.now = land, seed, start, now
        self.protected = protected
        self.changes: list[Change] = []

    def _times(self, rng: np.random.Generator, count: int) -> list[int]:
        rhythm = self.land.habits.rhythm
        times: list[int] = moments(
            rng, count, self.start, self.now, flat=False, rhythm=rhythm
        ).tolist()
        return times

    def _specs(self, entity: int) -> list[tuple[FieldSpec, str]]:
        """The catalog fields that this entity has."""
        base = self.land.ground.base
        known = self.land.fields(self.land.ground.entities[entity].kind)
        return [one for one in known if (entity, one[1]) in base]

    def pool(self, type_: str) -> list[int]:
        """What a type of human change can touch: only a stack's own is applied from a stack."""
        found = [one for kind in CHANGING[type_] for one in self.land.ground.of_kind(kind)]
        if type_ == "iac_apply":
            found = [one for one in found if self.land.in_stack(one)]
        return found

    def human(self, type_: str, count: int) -> None:
        """Changes of settings by people and bots: every field once, then by Zipf rank."""
        rng = stream(self.seed, "timeline", type_)
        pool = self.pool(type_)
        if not pool or not count:
            return
        at = self._times(rng, count)
        picks = zipf_picks(rng, pool, count, self.land.habits.zipf)
        rows = rng.random((count, DRAWS)).tolist()
        edits = [self._edit(entity, u) for entity, u in zip(picks, rows, strict=True)]
        for number, once in enumerate(self._rounds(rng, pool, count)):
            edits[number] = once
        for number, (ts, edit, u) in enumerate(zip(at, edits, rows, strict=True)):
            if edit is None:
                continue
            kept = tuple(
                one for one in padding(self.land, edit, u, type_=type_)
                if ts < self.protected.get((one.entity, one.field), _NEVER)
            )  # fmt: skip
            if kept:
                self.changes.append(dress(self.land, f"{type_}/{number}", ts, kept, u, type_=type_))

    def _edit(self, entity: int, u: Sequence[float]) -> Edit | None:
        specs = self._specs(entity)
        if not specs:
            return None
        spec, field = specs[int(u[8] * len(specs))]
        return self._step(entity, spec, field, u[9])

    def _step(self, entity: int, spec: FieldSpec, field: str, draw: float) -> Edit | None:
        if spec.field in VERSIONED:
            return None
        if spec.field in COUNTERS:
            return Edit(entity, field, INC, INC)
        n = len(spec.values)
        at = int(draw * n)
        return Edit(entity, field, spec.values[at], spec.values[(at + 1) % n])

    def _rounds(self, rng: np.random.Generator, pool: Sequence[int], count: int) -> list[Edit]:
        """One edit of each field of each kind, at most two thirds of ``count``: none is rare.

        Fields that faults use come first, each on an entity that the incident leaves alone, where
        there is one.
        """
        holders: dict[str, list[int]] = {}
        for entity in pool:
            holders.setdefault(self.land.ground.entities[entity].kind, []).append(entity)
        base = self.land.ground.base
        firsts: list[Edit] = []
        rest: list[Edit] = []
        for kind, entities in holders.items():
            fields = self.land.fields(kind)
            draws = rng.random((len(fields), 2)).tolist()
            for (spec, field), (start, draw) in zip(fields, draws, strict=True):
                at = int(start * len(entities))
                other = next(
                    (
                        one for one in (*entities[at:], *entities[:at])
                        if (one, field) in base and (one, field) not in self.protected
                    ),
                    None,
                )  # fmt: skip
                edit = None if other is None else self._step(other, spec, field, draw)
                if edit is not None:
                    (firsts if (kind, spec.field) in lent() else rest).append(edit)
        order = [firsts[int(at)] for at in rng.permutation(len(firsts))]
        order += [rest[int(at)] for at in rng.permutation(len(rest))]
        return order[: 2 * count // 3]

    def merges(self, count: int) -> None:
        """Merged pull requests."""
        rng = stream(self.seed, "timeline", "pr_merge")
        pool = self.land.ground.of_kind("Repository")
        if not pool or not count:
            return
        picks = zipf_picks(rng, pool, count, self.land.habits.zipf)
        at = self._times(rng, count)
        rows = rng.random((count, DRAWS)).tolist()
        for number, (ts, entity, u) in enumerate(zip(at, picks, rows, strict=True)):
            edit = Edit(entity, "head", f"{int(u[9] * 2**40):010x}", None)
            change = dress(self.land, f"pr_merge/{number}", ts, (edit,), u, type_="pr_merge")
            self.changes.append(change)

    def machine(
        self, type_: str, count: int, pool: Sequence[int], words: Sequence[str], actors: str
    ) -> None:
        """What controllers do all day: pod and node lifecycle, scaling."""
        if not pool or not count:
            return
        rng = stream(self.seed, "timeline", type_)
        at = moments(rng, count, self.start, self.now, flat=True).tolist()
        picks = zipf_picks(rng, pool, count, self.land.habits.zipf)
        draws = rng.integers(0, 1 << 20, count).tolist()
        ground = self.land.ground
        add = self.changes.append
        for number, (ts, entity, draw) in enumerate(zip(at, picks, draws, strict=True)):
            summary = words[draw % len(words)].format(name=ground.name(entity))
            edits = _machine_edits(type_, entity, draw)
            add(
                Change(
                    ts,
                    f"{type_}/{number}",
                    type_,
                    "k8s",
                    actors,
                    "controller",
                    "",
                    "",
                    "",
                    summary,
                    (entity,),
                    edits,
                )
            )


def _machine_edits(type_: str, entity: int, draw: int) -> tuple[Edit, ...]:
    if type_ == "pod":
        if draw % 7 == 6:
            return (Edit(entity, "restarts", INC, INC),)
        return ()
    value: Any
    if type_ == "scale":
        field, value = "desired_replicas", 2 + draw % 5
    else:
        field, value = "heartbeat", f"{draw:06x}"
        if draw % 3:
            return ()
    return (Edit(entity, field, value, value + 1 if isinstance(value, int) else None),)


def healthy_changes(
    land: Landscape, seed: int, start: int, now: int, *, protected: Protected, events: int = 0
) -> list[Change]:
    """About ``events`` changes between start and now, unsorted; 0 is as many as is usual there."""
    writer = _Writer(land, seed, start, now, protected)
    ground = land.ground
    events = events or land.habits.events
    counts = {name: round(events * part) for name, part in land.habits.mix.items()}
    writer.machine("pod", counts["pod"], ground.of_kind("Pod"), _POD_WORDS, "kubelet")
    writer.machine(
        "scale", counts["scale"], ground.of_kind("Hpa"), ("Rescaled target of {name}",),
        "horizontal-pod-autoscaler",
    )  # fmt: skip
    writer.machine("node", counts["node"], ground.of_kind("Node"), _NODE_WORDS, "node-controller")
    writer.changes += releases(land, seed, start, now, counts["deploy"], protected)
    writer.merges(counts["pr_merge"])
    if not writer.pool("iac_apply"):
        counts["cloud_api"] += counts.pop("iac_apply")
    for type_ in ("config", "iac_apply", "cloud_api", "secret", "certificate", "flag"):
        writer.human(type_, counts.get(type_, 0))
    return writer.changes + renewals(land, seed, start, now, protected)
