"""A cluster as a world: what a capture of one tier holds of it, under one variant of its names."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np

from heldout.graph.tools.page import iso
from heldout.ingest import kubernetes
from heldout.ingest.cases.case import truth
from heldout.ingest.cases.sregym.cluster import ENDS, ONSET, Change, Cluster, Event, Key
from heldout.ingest.cases.sregym.fault import TIERS, Cause, Fault, Tier
from heldout.ingest.cases.sregym.naming import Naming
from heldout.ingest.changes.placing import Placer
from heldout.ingest.changes.record import Change as Placed
from heldout.ingest.changes.record import ClusterTarget, object_moves
from heldout.ingest.draft import WorldDraft
from heldout.ingest.objects import CLUSTER_WIDE, KINDS, K8sObject
from heldout.ingest.telemetry.recording import Line
from heldout.truth import Truth

SECOND = 1_000_000
_PATHS = ("spec.", "metadata.")
NOW = int((ONSET + timedelta(seconds=ENDS)).timestamp()) * SECOND
STEP_SECONDS = 60
_HOURS = 6
_CALM = {
    "http_requests_per_second": ("1/s", 12.0, 0.10), "http_error_ratio": ("", 0.002, 0.30),
    "request_duration_p99_ms": ("ms", 45.0, 0.15), "container_cpu_cores": ("cores", 0.08, 0.12),
    "container_memory_mib": ("MiB", 90.0, 0.04),
}  # fmt: skip
"""Series of every workload: unit, level and noise while all is well."""


def moment(at: float) -> int:
    """Seconds from the onset as microseconds."""
    return int(ONSET.timestamp() * SECOND) + round(at * SECOND)


class Recording:
    """Puts a cluster into a draft, every text under the variant's names."""

    def __init__(self, cluster: Cluster, naming: Naming, tier: Tier) -> None:
        self._cluster, self._naming, self._tier = cluster, naming, TIERS.index(tier)
        self._home = naming.text(cluster.app.name)
        self.draft = WorldDraft(name="reconstructed")
        self._changes: dict[str, str] = {}
        objects = [self._object(key, body) for key, body in cluster.objects.items()]
        if self._tier >= 1:
            objects += [self._event(number, one) for number, one in enumerate(cluster.events)]
        found = kubernetes.of_objects(objects, name=self._home, listed=self._listed())
        kubernetes.into(self.draft, found, cluster=self._home, derives=False)
        self._placer = Placer(self.draft, self._home)
        for one in sorted(cluster.changes, key=lambda change: (change.at, int(change.key))):
            self._change(one)
        if self._tier >= 1:
            self.draft.log_lines(sorted(self._lines()))
        if self._tier >= 2:
            self._series()

    def _listed(self) -> dict[str, set[str]]:
        """All kinds of the cluster were read: what is not there does not exist."""
        kinds = {one for one in KINDS.values() if one != "CustomResource"}
        places = {self._naming.text(key[1]) for key in self._cluster.objects if key[1]}
        return {"": kinds & CLUSTER_WIDE, **dict.fromkeys(places, kinds - CLUSTER_WIDE)}

    def truth(self, fault: Fault, cause: Cause) -> Truth:
        """The truth of a fault in this world's ids."""
        main = self._all(cause.key)
        also = [one for key in cause.also for one in self._all(key)]
        changes = [self._changes[one.key] for one in cause.changes]
        found = truth(
            main[0],
            self._naming.text(fault.mechanism),
            tuple(tuple(self._naming.text(term) for term in group) for group in fault.terms),
            accepted=(*main[1:], *also),
            change=changes[0] if changes else "",
            field_=self._naming.text(cause.field),
            affected=tuple(one for name in cause.affected for one in self._named(name)[:1]),
        )
        return replace(found, accepted_changes=tuple(dict.fromkeys(changes)))

    def _all(self, key: Key) -> list[str]:
        kind, _, name = key
        if kind != "*":
            return [self._entity(key)]
        held = [
            one for one in self._cluster.objects
            if one[0] in ("Pod", "ReplicaSet") and self._made_by(one, name)
        ]  # fmt: skip
        return [*self._named(name), *map(self._entity, held)]

    def _made_by(self, key: Key, name: str) -> bool:
        pods = self._cluster.pods.get(name, ())
        return key[2] in pods or any(pod.rpartition("-")[0] == key[2] for pod in pods)

    def _named(self, name: str) -> list[str]:
        """Every entity of a name: the workload first, its Service, the application's service."""
        ranked = ("Deployment", "K8sService", "Service")
        found = self.draft.find(name=self._naming.text(name))
        known = [one for one in found if self.draft.kind(one) in ranked]
        return sorted(known, key=lambda one: ranked.index(self.draft.kind(one)))

    def _entity(self, key: Key) -> str:
        kind, namespace, name = (key[0], *(self._naming.text(one) for one in key[1:]))
        known = KINDS.get(kind, "CustomResource")
        place = "" if known in CLUSTER_WIDE else namespace
        external = "/".join(part for part in (self._home, place, name) if part)
        return self.draft.entity(known, external, name=name, cluster=self._home)

    def _object(self, key: Key, body: dict[str, Any]) -> K8sObject:
        said = self._naming.value(body)
        clean = self.draft.redactor.object(said, is_secret=key[0] == "Secret")
        namespace, name = self._naming.text(key[1]), self._naming.text(key[2])
        return K8sObject(key[0], str(body["apiVersion"]), namespace, name, clean)

    def _event(self, number: int, one: Event) -> K8sObject:
        kind, namespace, name = one.object
        body = {
            "metadata": {"name": f"event-{number}", "namespace": namespace or "default"},
            "involvedObject": {"kind": kind, "namespace": namespace, "name": name},
            "lastTimestamp": iso(moment(one.at)), "type": one.type, "reason": one.reason,
            "message": one.message, "source": {"component": one.component},
        }  # fmt: skip
        return self._object(("Event", namespace, f"event-{number}"), {"apiVersion": "v1", **body})

    def _change(self, one: Change) -> None:
        said, kind = self._naming, KINDS.get(one.object[0], "CustomResource")
        namespace, name = (said.text(part) for part in one.object[1:])
        target = ClusterTarget(kind, namespace, name, self._home)
        states = [
            None if body is None else self._object(one.object, body)
            for body in (one.before, one.after)
        ]
        told_apart = () if states == [None, None] else object_moves(*states)
        # Where a world has no name for what differs those are paths, which are told below.
        known = tuple(move for move in told_apart if not move.field.startswith(_PATHS))
        told = Placed(
            f"audit\x1f{one.key}", moment(one.at), one.type, one.actor,
            "bot" if one.actor.startswith("ci-") else "person", "k8s", said.text(one.summary),
            (target,), known,
        )  # fmt: skip
        self._placer.place([told])
        # An audit trail has every field by its path; a world's own names are fewer.
        about, hidden = self._entity(one.object), one.object[0] == "Secret"
        paths = {} if hidden else one.fields()
        self._changes[one.key] = self.draft.change(
            told.key, told.at, told.type, source=told.source, summary=told.summary,
            diffs=[
                (about, said.text(path), said.value(old), said.value(new))
                for path, (old, new) in paths.items()
                if not path.startswith(("metadata.name", "kind", "apiVersion"))
            ],
        )  # fmt: skip

    def _lines(self) -> Iterator[Line]:
        speakers = {name: self._named(name)[0] for name in self._cluster.app.services}
        for name, speaker in speakers.items():
            drawn = random.Random(f"lines {name}")
            at = -3600 + drawn.uniform(0, 300)
            while at < ENDS:
                yield moment(at), speaker, "INFO", f"served {drawn.randint(300, 900)} requests"
                at += drawn.uniform(200, 320)
        for at, name, level, text in self._cluster.lines:
            if name not in speakers:
                speakers[name] = self._named(name)[0]
            yield moment(at), speakers[name], level, self._naming.text(text)

    def _series(self) -> None:
        times = np.arange(-_HOURS * 3600, ENDS, STEP_SECONDS, dtype=np.float64)
        workloads = [key[2] for key in self._cluster.objects if key[0] == "Deployment"]
        for name in workloads:
            for series, (unit, level, noise) in _CALM.items():
                drawn = np.random.default_rng(random.Random(f"{name} {series}").getrandbits(32))
                scale = level * (0.6 + drawn.random())
                values = scale * (1 + noise * drawn.standard_normal(len(times)))
                self._put(name, series, unit, times, np.maximum(values, 0))
        effects = self._cluster.effects
        others = {(one.workload, one.series) for one in effects if one.series not in _CALM}
        for name, series in sorted(others):
            self._put(name, series, "", times, np.zeros(len(times)))

    def _put(
        self, name: str, series: str, unit: str, times: np.ndarray[Any, Any],
        values: np.ndarray[Any, Any],
    ) -> None:  # fmt: skip
        for one in self._cluster.effects:
            if (one.workload, one.series) == (name, series):
                on = times >= one.at
                values[on] = [
                    one.value(float(at - one.at), float(calm))
                    for at, calm in zip(times[on], values[on], strict=True)
                ]
        t0 = moment(float(times[0]))
        speaker = self._named(name)[0]
        self.draft.series(speaker, self._naming.text(series), unit, t0, STEP_SECONDS, values)
