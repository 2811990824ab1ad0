"""Which incidents of a pool stand together, and which of them a set takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product

from heldout.build.admission import Admitted
from heldout.build.similarity import THRESHOLD, Portrait, crossings, groups, similarity
from heldout.truth import KINDS
from heldout.truth.specs import Kind

LARGEST = 0.15
"""A group with a greater share of the pool than this is formed anew with complete linkage."""

CROSSING = "near-duplicate across the sides"


def grouped(pool: Sequence[Admitted]) -> list[Admitted]:
    """The pool with each spec's group: one lineage, or near-duplicates, named after a fault."""
    portraits = [one.entry.portrait for one in pool]
    found = groups(portraits)
    sizes = Counter(found.values())
    if max(sizes.values(), default=0) > LARGEST * len(pool):
        found = completely_linked(portraits)
    faults: dict[str, list[str]] = {}
    for one in pool:
        faults.setdefault(found[one.spec.id], []).append(one.spec.fault)
    names = {group: min(members) for group, members in faults.items()}
    return [one._replace(spec=replace(one.spec, group=names[found[one.spec.id]])) for one in pool]


def completely_linked(portraits: Sequence[Portrait]) -> dict[str, str]:
    """Groups in which every pair of lineages is as alike as the threshold, the most alike first.

    Single linkage lets a chain of pairs draw half a pool into one group; this cuts the chain. A
    lineage is never cut.
    """
    by_id = {one.id: one for one in portraits}
    families: dict[str, list[str]] = {}
    # Above any score only lineages join.
    for own, family in groups(portraits, threshold=2.0).items():
        families.setdefault(family, []).append(own)
    clusters = [sorted(families[name]) for name in sorted(families)]
    while True:
        best, pair = THRESHOLD, None
        for left, right in combinations(range(len(clusters)), 2):
            least = min(
                similarity(by_id[a], by_id[b]) for a, b in product(clusters[left], clusters[right])
            )
            if least >= best and (pair is None or least > best):
                best, pair = least, (left, right)
        if pair is None:
            return {own: cluster[0] for cluster in clusters for own in cluster}
        merged = clusters.pop(pair[1])
        clusters[pair[0]] = sorted([*clusters[pair[0]], *merged])


def chosen(
    pool: Sequence[Admitted],
    sides: Mapping[str, int],
    need: tuple[Mapping[Kind, int], Mapping[Kind, int]],
    solved: Iterable[str] = (),
    discards: Counter[str] | None = None,
) -> tuple[list[Admitted], list[Admitted]]:
    """What train and test take of a pool whose groups have sides: so many of each kind.

    Faults that a side has least of go first, then incidents that no shortcut is right on; those in
    ``solved`` (a model still solves them nearly always) come last. One that is too much like an
    incident of the other side is left out, and counted.
    """
    late = set(solved)
    taken: tuple[list[Admitted], list[Admitted]] = ([], [])
    order = {one.spec.id: number for number, one in enumerate(pool)}
    apart = _apart(pool, sides)
    for kind, side in product(KINDS, (0, 1)):
        left = [one for one in pool if one.spec.kind == kind and sides[one.spec.group] == side]
        for _ in range(need[side].get(kind, 0)):
            own, other = taken[side], taken[1 - side]
            fitting = [
                one for one in left if not any((one.spec.id, two.spec.id) in apart for two in other)
            ]
            if discards is not None and len(fitting) < len(left):
                discards[CROSSING] += len(left) - len(fitting)
            left = fitting
            if not left:
                break
            faults, domains = (Counter(getattr(one.spec, part) for one in own)
                               for part in ("fault", "domain"))  # fmt: skip
            best = min(
                left,
                key=lambda one: (
                    one.spec.id in late, faults[one.spec.fault], _shortcuts(one),
                    domains[one.spec.domain], order[one.spec.id],
                ),
            )  # fmt: skip
            left.remove(best)
            own.append(best)
    return taken


def _shortcuts(one: Admitted) -> int:
    """How many fixed rules, at the tables or through the tools, are right on the incident."""
    return sum(one.entry.hits.values()) + sum(one.entry.floors.values())


def _apart(pool: Sequence[Admitted], sides: Mapping[str, int]) -> set[tuple[str, str]]:
    """Pairs of ids on different sides of which a set may take only one, both ways round."""
    found = set()
    for one, two in combinations(pool, 2):
        if sides[one.spec.group] != sides[two.spec.group] and crossings(
            [one.entry.portrait, two.entry.portrait], {one.spec.id: 0, two.spec.id: 1}
        ):
            found |= {(one.spec.id, two.spec.id), (two.spec.id, one.spec.id)}
    return found
