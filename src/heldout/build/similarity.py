"""How alike two incidents are, and which must stand on one side of a split.

Features, weights and threshold follow leak_gate research (section 8): the words of the truth with
names masked, the class of the mechanism, the field, kinds, trigger, source, domain and alert.
Incidents of one lineage belong together whatever they score.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from rapidfuzz.fuzz import token_set_ratio

from heldout.gate.shingles import shingles
from heldout.simulate import Fault
from heldout.simulate.fault import faults
from heldout.simulate.ground import source_of
from heldout.truth import Spec, Truth

THRESHOLD = 0.80
"""From this score on two incidents are near-duplicates."""

_RUN = 3
_WEIGHTS: Mapping[str, float] = {
    "text": 0.30, "family": 0.25, "leaf": 0.10, "kind": 0.10, "trigger": 0.10, "source": 0.05,
    "domain": 0.05, "alert": 0.05,
}  # fmt: skip
_IN_WORDS = frozenset({"text", "trigger", "alert"})
_NAME = re.compile(r"\{[^{}]*\}|\S*[\d_.\-/=][\w.\-/=#]*|\b[a-z]+[A-Z]\w*")


@dataclass(frozen=True, slots=True)
class Portrait:
    """What is compared of one incident.

    ``lineage`` names what it descends from: its fault, group, seed, report, and the shape of its
    chain. ``runs`` are hashed runs of words of its log lines. ``identifiers`` are the ids and names
    that give its cause away.
    """

    id: str
    lineage: frozenset[str]
    features: Mapping[str, str]
    runs: frozenset[int]
    identifiers: frozenset[str] = frozenset()


def portrait(
    spec: Spec, truth: Truth | None = None, alert: str = "", identifiers: Iterable[str] = ()
) -> Portrait:
    """The portrait of an incident; without a truth, what its fault's record says stands for it."""
    record = faults().get(spec.fault)
    text = trigger = field = ""
    if truth is not None:
        text = f"{truth.mechanism} {truth.recommended_fix}"
        trigger, field = truth.trigger, truth.culprit_field
    elif record is not None:
        text = f"{record.mechanism} {record.fix}"
        trigger, field = record.trigger.prose, record.field
    kind = record.holder_kind if record else ""
    return Portrait(
        id=spec.id,
        lineage=frozenset(_lineage(spec, record)),
        features={
            "text": masked(text), "family": spec.family, "leaf": _letters(field), "kind": kind,
            "trigger": masked(trigger), "source": source_of(kind) if kind else "",
            "domain": spec.domain, "alert": masked(alert),
        },
        runs=frozenset(_runs(record)) if record else frozenset(),
        identifiers=frozenset(identifiers),
    )  # fmt: skip


def _lineage(spec: Spec, record: Fault | None) -> list[str]:
    found = [f"group {spec.group}"]
    if spec.is_drawn:  # What was recorded was drawn by nobody.
        found.append(f"seed {spec.seed}")
    if spec.fault:
        found.append(f"fault {spec.fault}")
    # What an incident was grafted on says nothing of its cause.
    own = spec.source if spec.origin != "overlay" else ""
    reports = (own, record.source if record else "")
    found += [f"report {source}" for source in dict.fromkeys(reports) if source]
    if record is not None and record.field:
        found.append(f"chain {' '.join((record.seat, *record.holder))} {record.field}")
    return found


def _runs(record: Fault) -> set[int]:
    lines = [*record.logs, *(effect.summary for effect in record.effects)]
    return {run for line in lines for run in shingles(masked(line), _RUN)}


def masked(text: str) -> str:
    """The text without what is spelled like a name, an id, a value or a placeholder."""
    return " ".join(_NAME.sub(" ", text).lower().split())


def _letters(field: str) -> str:
    """The last part of a field, without case and separators."""
    return re.sub(r"[^a-z]", "", field.rsplit(".", 1)[-1].lower())


def similarity(one: Portrait, two: Portrait) -> float:
    """How alike two incidents are, 0 to 1: by their features, or by the words of their logs."""
    score = sum(
        weight * _agreement(name, one.features[name], two.features[name])
        for name, weight in _WEIGHTS.items()
    )
    union = len(one.runs | two.runs)
    return max(score, len(one.runs & two.runs) / union if union else 0.0)


def _agreement(name: str, one: str, two: str) -> float:
    if not one or not two:
        return 0.0
    if name in _IN_WORDS:
        return token_set_ratio(one, two) / 100
    return float(one == two)


def akin(one: Portrait, two: Portrait) -> bool:
    """True where both descend from the same fault, group, seed, report or chain."""
    return bool(one.lineage & two.lineage)


def groups(portraits: Sequence[Portrait], threshold: float = THRESHOLD) -> dict[str, str]:
    """The group of each incident, named after its first member.

    A pair of one lineage, or as alike as ``threshold``, is in one group, and so is what either of
    them is grouped with.
    """
    parent = {one.id: one.id for one in portraits}

    def root(own: str) -> str:
        while parent[own] != own:
            parent[own] = parent[parent[own]]
            own = parent[own]
        return own

    for one, two in combinations(portraits, 2):
        if root(one.id) != root(two.id) and (akin(one, two) or similarity(one, two) >= threshold):
            first, second = sorted((root(one.id), root(two.id)))
            parent[second] = first
    return {one.id: root(one.id) for one in portraits}


def crossings(portraits: Sequence[Portrait], sides: Mapping[str, object]) -> list[str]:
    """Sentences about pairs on different sides that ought not to be: near-duplicates, one lineage,
    or an identifier of a cause that both share.
    """
    found = []
    for one, two in combinations(portraits, 2):
        if sides[one.id] == sides[two.id]:
            continue
        where = f"{one.id} and {two.id} stand on different sides"
        if akin(one, two):
            found.append(f"{where} and share {min(one.lineage & two.lineage)}")
        elif (score := similarity(one, two)) >= THRESHOLD:
            found.append(f"{where} and are {score:.2f} alike")
        if one.identifiers & two.identifiers:
            found.append(f"{where} and share the name '{min(one.identifiers & two.identifiers)}'")
    return found


def most_alike(portraits: Sequence[Portrait], sides: Mapping[str, object]) -> float:
    """The highest similarity of any pair across the sides, 0 where there is none."""
    return max(
        (
            similarity(one, two)
            for one, two in combinations(portraits, 2)
            if sides[one.id] != sides[two.id]
        ),
        default=0.0,
    )
