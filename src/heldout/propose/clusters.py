"""Failures grouped by what went wrong; the largest group that nothing answers comes first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from heldout.signatures import BEHAVIOURS, Diagnosis

UNREAD = "other"
"""The key of failures that were not read."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One failing incident and the reading of one of its failing investigations."""

    incident: str
    diagnosis: Diagnosis


@dataclass(frozen=True, slots=True)
class Cluster:
    """Failures that share a behaviour. ``key`` is the behaviour; ``failures`` are by incident.

    ``core`` counts the failures in which the behaviour decided the outcome; the others show it
    beside another one.
    """

    key: str
    failures: tuple[Failure, ...]
    core: int

    @property
    def incidents(self) -> tuple[str, ...]:
        """The failing incidents, those in which the behaviour decided the outcome first."""
        return tuple(failure.incident for failure in self.failures)

    def describe(self) -> str:
        """The cluster in words for the proposer: behaviour, size, what else goes with it."""
        tally = Counter(item for failure in self.failures for item in failure.diagnosis.behaviours)
        beside = [
            f"{name} ({tally[name]} of {len(self.failures)}): {BEHAVIOURS[name]}"
            for name in sorted(tally, key=lambda item: (-tally[item], item))
            if name != self.key
        ]
        lines = [
            f"{self.key}: {BEHAVIOURS[self.key]}",
            f"Seen in {len(self.failures)} failing incidents, decisive in {self.core}.",
        ]
        return "\n".join([*lines, *(["Beside it:"] if beside else []), *beside])


def cluster(failures: Sequence[Failure]) -> tuple[Cluster, ...]:
    """Clusters by behaviour, largest first: by decisive failures, then all, then name."""
    clusters: list[Cluster] = []
    for key in BEHAVIOURS:
        core = [item for item in failures if item.diagnosis.primary == key]
        beside = [
            item
            for item in failures
            if item.diagnosis.primary != key and key in item.diagnosis.behaviours
        ]
        if core:
            clusters.append(Cluster(key, (*core, *beside), len(core)))
    return tuple(sorted(clusters, key=lambda item: (-item.core, -len(item.failures), item.key)))


def unread(incidents: Sequence[str], seed: int) -> tuple[Cluster, ...]:
    """Failing incidents that nobody may look into: one cluster, in an order that ``seed`` gives."""
    if not incidents:
        return ()
    nothing = Diagnosis("", (), 0.0, False, UNREAD, (UNREAD,))
    order = sorted(incidents, key=lambda one: sha256(f"{seed}\0{one}".encode()).digest())
    return (Cluster(UNREAD, tuple(Failure(one, nothing) for one in order), len(order)),)


def next_cluster(
    clusters: Sequence[Cluster],
    *,
    answered: Collection[str],
    tried: Mapping[str, int],
    max_tries: int,
) -> Cluster | None:
    """The cluster to work on: not exhausted; unanswered before answered; then the largest.

    ``tried`` counts the rounds in which no candidate for the behaviour was accepted, since the
    last acceptance.
    """
    open_ones = [item for item in clusters if tried.get(item.key, 0) < max_tries]
    return min(
        open_ones,
        key=lambda item: (item.key in answered, tried.get(item.key, 0), clusters.index(item)),
        default=None,
    )


def companions(
    clusters: Sequence[Cluster],
    chosen: Cluster,
    *,
    answered: Collection[str],
    tried: Mapping[str, int],
    most: int,
) -> tuple[Cluster, ...]:
    """The largest further clusters that may be answered beside ``chosen``: open ones, untried."""
    open_ones = [
        item
        for item in clusters
        if item.key != chosen.key and item.key not in answered and not tried.get(item.key)
    ]
    return tuple(open_ones[:most])


def merged(clusters: Sequence[Cluster]) -> Cluster:
    """Clusters as one, under the first one's key; each incident once, where it stands first."""
    failures = {one.incident: one for item in reversed(clusters) for one in reversed(item.failures)}
    order = dict.fromkeys(one.incident for item in clusters for one in item.failures)
    core = min(len(order), sum(item.core for item in clusters))
    return Cluster(clusters[0].key, tuple(failures[incident] for incident in order), core)
