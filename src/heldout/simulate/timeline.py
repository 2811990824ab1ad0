"""The healthy history: pods, nodes and autoscalers, releases, settings, applies, merges.

Mix and rhythm follow graph_simulator research (section 8). Each category draws from a stream of its
own. Edits of *protected* fields, those an incident's own changes use, are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from heldout.simulate.catalog import CHANGING, COUNTERS, VERSIONED, FieldSpec, fields_of
from heldout.simulate.dressing import DRAWS, INC, dress, image_at, padding
from heldout.simulate.ground import Change, Edit
from heldout.simulate.landscape import Landscape, spell
from heldout.simulate.rhythm import moments
from heldout.simulate.streams import stream

Protected = Mapping[tuple[int, str], int]
"""Fields that are left alone from a time on."""

_NEVER = 1 << 62

MIX: Mapping[str, float] = {
    "pod": 0.36, "scale": 0.13, "node": 0.07, "deploy": 0.15, "config": 0.07, "pr_merge": 0.08,
    "iac_apply": 0.055, "cloud_api": 0.045, "secret": 0.015, "certificate": 0.01, "flag": 0.015,
}  # fmt: skip
"""Share of each type among a world's change events."""

_POD_WORDS = (
    "Pulled image for {name}", "Started container in {name}", "Scheduled {name}",
    "Created container in {name}", "Readiness probe of {name} recovered", "Killing {name}",
    "Container of {name} restarted",
)  # fmt: skip
_NODE_WORDS = (
    "{name} reports ready", "{name} cordoned for image refresh", "{name} joined",
    "Taint removed from {name}", "Image garbage collection on {name}",
)  # fmt: skip


def zipf_picks(rng: np.random.Generator, pool: Sequence[int], count: int) -> list[int]:
    """``count`` picks by Zipf rank (exponent 0.85) over a shuffled pool."""
    order = rng.permutation(len(pool))
    weight = np.cumsum(1.0 / np.arange(1, len(pool) + 1) ** 0.85)
    ranks = np.searchsorted(weight, rng.random(count) * weight[-1])
    return [pool[int(order[int(rank)])] for rank in ranks]


class _Writer:
    def __init__(
        self, land: Landscape, seed: int, start: int, now: int, protected: Protected
    ) -> None:
        self.land, self.seed, self.start, self.now = land, seed, start, now
        self.protected = protected
        self.flat = stream(seed, "org", "rhythm").random() < 0.2
        self.changes: list[Change] = []
        self._spelled: dict[str, tuple[tuple[FieldSpec, str], ...]] = {}

    def _specs(self, entity: int) -> list[tuple[FieldSpec, str]]:
        """The catalog fields that this entity has."""
        kind = self.land.ground.entities[entity].kind
        known = self._spelled.get(kind)
        if known is None:
            known = tuple((spec, spell(spec.field, self.land.style)) for spec in fields_of(kind))
            self._spelled[kind] = known
        base = self.land.ground.base
        return [one for one in known if (entity, one[1]) in base]

    def human(self, type_: str, count: int) -> None:
        """Changes of settings by people and bots."""
        rng = stream(self.seed, "timeline", type_)
        ground = self.land.ground
        pool = [index for kind in CHANGING[type_] for index in ground.of_kind(kind)]
        if not pool or not count:
            return
        at = moments(rng, count, self.start, self.now, flat=self.flat).tolist()
        picks = zipf_picks(rng, pool, count)
        rows = rng.random((count, DRAWS)).tolist()
        for number, (ts, entity, u) in enumerate(zip(at, picks, rows, strict=True)):
            edit = self._edit(entity, ts, u)
            if edit is None:
                continue
            edits = tuple(
                one for one in padding(self.land, edit, u)
                if ts < self.protected.get((one.entity, one.field), _NEVER)
            )  # fmt: skip
            if edits:
                self.changes.append(
                    dress(self.land, f"{type_}/{number}", ts, edits, u, type_=type_)
                )

    def _edit(self, entity: int, ts: int, u: Sequence[float]) -> Edit | None:
        specs = self._specs(entity)
        if not specs:
            return None
        spec, field = specs[int(u[8] * len(specs))]
        if spec.field in VERSIONED:
            return None
        if spec.field in COUNTERS:
            return Edit(entity, field, INC, INC)
        n = len(spec.values)
        at = int(u[9] * n)
        return Edit(entity, field, spec.values[at], spec.values[(at + 1) % n])

    def deploys(self, count: int) -> None:
        """Releases: a new image tag on a Deployment."""
        rng = stream(self.seed, "timeline", "deploy")
        pool = [site.deployment for site in self.land.sites]
        if not pool or not count:
            return
        at = moments(rng, count, self.start, self.now, flat=self.flat).tolist()
        picks = zipf_picks(rng, pool, count)
        rows = rng.random((count, DRAWS)).tolist()
        field = "image"
        for number, (ts, entity, u) in enumerate(zip(at, picks, rows, strict=True)):
            if ts >= self.protected.get((entity, field), _NEVER):
                continue
            edit = Edit(entity, field, image_at(self.land.ground, entity, ts, self.start), None)
            self.changes.append(
                dress(self.land, f"deploy/{number}", ts, (edit,), u, type_="deploy")
            )

    def merges(self, count: int) -> None:
        """Merged pull requests."""
        rng = stream(self.seed, "timeline", "pr_merge")
        pool = self.land.ground.of_kind("Repository")
        if not pool or not count:
            return
        at = moments(rng, count, self.start, self.now, flat=self.flat).tolist()
        picks = zipf_picks(rng, pool, count)
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
        picks = zipf_picks(rng, pool, count)
        draws = rng.integers(0, 1 << 20, count).tolist()
        ground = self.land.ground
        add = self.changes.append
        for number, (ts, entity, draw) in enumerate(zip(at, picks, draws, strict=True)):
            summary = words[draw % len(words)].format(name=ground.name(entity))
            edits = self._machine_edits(type_, entity, draw)
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

    def _machine_edits(self, type_: str, entity: int, draw: int) -> tuple[Edit, ...]:
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
    land: Landscape, seed: int, start: int, now: int, *, events: int, protected: Protected
) -> list[Change]:
    """About ``events`` changes between start and now, unsorted."""
    writer = _Writer(land, seed, start, now, protected)
    ground = land.ground
    counts = {name: round(events * part) for name, part in MIX.items()}
    writer.machine("pod", counts["pod"], ground.of_kind("Pod"), _POD_WORDS, "kubelet")
    writer.machine(
        "scale", counts["scale"], ground.of_kind("Hpa"), ("Rescaled target of {name}",),
        "horizontal-pod-autoscaler",
    )  # fmt: skip
    writer.machine("node", counts["node"], ground.of_kind("Node"), _NODE_WORDS, "node-controller")
    writer.deploys(counts["deploy"])
    writer.merges(counts["pr_merge"])
    for type_ in ("config", "iac_apply", "cloud_api", "secret", "certificate", "flag"):
        writer.human(type_, counts[type_])
    return writer.changes
