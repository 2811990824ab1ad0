"""Services before they are placed: who calls whom, and what each stands on.

Calls are acyclic (0 to 2 cycles are added on purpose). A caller makes 1 + geometric calls, about
three; callees are chosen by how many callers they have already, so that a few have very many.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from heldout.simulate.landscape.plan import Plan
from heldout.simulate.names import NameBook

LEAF = 4
MOST_CALLS = 9


@dataclass(slots=True)
class Logical:
    """A service before it is placed.

    ``places`` are the numbers of its clusters, home first. ``extras`` are the optional objects that
    every copy of it has: they come from one template.
    """

    name: str
    level: int
    places: tuple[int, ...]
    team: int
    calls: list[int] = field(default_factory=list)
    store: str = ""
    cache: str = ""
    consumes: str = ""
    publishes: str = ""
    takes: str = ""
    puts: str = ""
    bucket: str = ""
    function: str = ""
    pods: int = 2
    extras: frozenset[str] = frozenset()


_EXTRAS = (
    ("Hpa", 0.76), ("Pdb", 0.36), ("IamPolicy", 0.44), ("Certificate", 0.48), ("Role", 0.62),
    ("Pvc", 0.2), ("FeatureFlag", 0.55), ("AlertRule", 0.84), ("Inner", 0.3),
)  # fmt: skip
"""Optional objects of a service and the share of services that have them in a rich estate."""
_ALWAYS = ("Certificate", "Role", "Pvc", "Inner")


def draw_logicals(rng: np.random.Generator, book: NameBook, plan: Plan) -> list[Logical]:
    """Every service of an estate, entries first, with calls and stores."""
    made = _unconnected(rng, book, plan)
    _connect(rng, made, template=plan.archetype == "fleet")
    for _ in range(plan.cycles):
        _close_cycle(rng, made)
    _furnish(rng, book, plan, made)
    return made


def _levels(plan: Plan, count: int) -> list[int]:
    entries = max(2, round(plan.shape.entry * count))
    leaves = max(3, round(plan.shape.leaf * count))
    middle = max(1, count - entries - leaves)
    return [0] * entries + [1 + at * 3 // middle for at in range(middle)] + [LEAF] * leaves


def _unconnected(rng: np.random.Generator, book: NameBook, plan: Plan) -> list[Logical]:
    """Names, levels and places. A fleet's services run everywhere, but for the home's own."""
    clusters, placed = plan.clusters, plan.services
    everywhere = tuple(range(clusters))
    if plan.archetype == "fleet" and clusters > 1:
        own = max(5, round(placed * 0.2))
        shared = max(6, round((placed - own) / clusters))
        count = shared + own
        spots = [everywhere] * shared + [(0,)] * own
    else:
        copies = 0.15 if plan.archetype == "multicloud" and clusters > 1 else 0.0
        count = max(10, round(placed / (1 + copies)))
        spots = [(at % clusters,) for at in range(count)]
        for at in rng.permutation(count)[: round(count * copies)].tolist():
            home = spots[at][0]
            spots[at] = (home, (home + 1 + int(rng.integers(clusters - 1))) % clusters)
    levels = _levels(plan, count)
    order = rng.permutation(count).tolist()
    if plan.archetype == "fleet" and clusters > 1:
        order = _evenly(levels, shared)
    return [
        Logical(name, levels[at], spots[order[at]], int(rng.integers(plan.teams)))
        for at, name in enumerate(book.services(count, plan.name_similarity))
    ]


def _evenly(levels: list[int], shared: int) -> list[int]:
    """Spots, the first ``shared`` of which are alike, so that each level has its part of them.

    The first entry is the home's own and the second is not: both sorts need one that calls them.
    """
    took = 0
    firsts, rest = list(range(shared)), list(range(shared, len(levels)))
    spots = []
    for at in range(len(levels)):
        due = round((at + 1) * shared / len(levels))
        alike = at == 1 or (at > 1 and took < due)
        if (alike and firsts) or not rest:
            spots.append(firsts.pop())
            took += 1
        else:
            spots.append(rest.pop())
    return spots


def _connect(rng: np.random.Generator, made: list[Logical], *, template: bool) -> None:
    """Calls downwards: first a caller for everyone below the entries, then the rest.

    Where clusters come from one template, its services call each other inside their own cluster.
    """
    callers = [0] * len(made)

    def inside(one: Logical, other: Logical) -> bool:
        return not template or len(other.places) >= len(one.places)

    for at, one in enumerate(made):
        if one.level == 0:
            continue
        above = [
            n for n, other in enumerate(made)
            if other.level < one.level and (not template or other.places == one.places)
        ]  # fmt: skip
        near = [n for n in above if made[n].level == one.level - 1] or above
        free = [n for n in near if len(made[n].calls) < 3] or near
        parent = free[int(rng.integers(len(free)))]
        made[parent].calls.append(at)
        callers[at] += 1
    for one in made:
        if one.level == LEAF:
            continue
        below = [
            n for n, other in enumerate(made)
            if other.level > one.level and n not in one.calls and inside(one, other)
        ]  # fmt: skip
        wanted = min(MOST_CALLS, int(rng.geometric(0.45))) - len(one.calls)
        if not one.calls:
            wanted = max(wanted, 1)
        wanted = min(wanted, len(below))
        if wanted > 0:
            _prefer(rng, one, below, callers, wanted)
    _crowd(rng, made)


def _prefer(
    rng: np.random.Generator, one: Logical, below: list[int], callers: list[int], wanted: int
) -> None:
    weight = np.array([(1 + callers[n]) ** 1.25 for n in below])
    chosen = rng.choice(len(below), size=wanted, replace=False, p=weight / weight.sum())
    for at in np.sort(chosen).tolist():
        one.calls.append(below[at])
        callers[below[at]] += 1


def _crowd(rng: np.random.Generator, made: list[Logical]) -> None:
    """One leaf, as a shared login or catalogue is, is called by 15 to 28 placed services."""
    placed = sum(len(one.places) for one in made)
    goal = int(rng.integers(15, 29)) * min(1.0, placed / 40)
    callers = {n: 0 for n, one in enumerate(made) if one.level == LEAF}
    for one in made:
        for other in one.calls:
            if other in callers:
                # Copies in other clusters call what only the home has; else each its own copy.
                callers[other] += len(one.places) if len(made[other].places) == 1 else 1
    hub = max(callers, key=lambda n: (len(made[n].places) == 1, callers[n], -n))
    for n in rng.permutation(len(made)).tolist():
        one = made[n]
        if callers[hub] >= goal:
            return
        if one.level < LEAF and hub not in one.calls and len(one.calls) < MOST_CALLS:
            one.calls.append(hub)
            callers[hub] += len(one.places) if len(made[hub].places) == 1 else 1


def _close_cycle(rng: np.random.Generator, made: list[Logical]) -> None:
    """A call back up, from what a service calls to that service; never to an entry.

    Only between services of one cluster each: a template would repeat it in every copy.
    """
    pairs = [
        (n, below) for n, one in enumerate(made) if 0 < one.level < LEAF
        for below in one.calls
        if made[below].level < LEAF and len(one.places) == 1
        and made[below].places == one.places
        and n not in made[below].calls
    ]  # fmt: skip
    if pairs:
        up, down = pairs[int(rng.integers(len(pairs)))]
        made[down].calls.append(up)


_THINGS = ("stores", "caches", "topics", "queues", "buckets", "functions")
_SUFFIXES = ("-pg", "-mem", ".events", "-jobs", "-files", "-fn")
_SIGMA = 0.5


def _pools(book: NameBook, plan: Plan, count: int) -> dict[str, list[str]]:
    """Names of what ``count`` services share, by sort."""
    shape = plan.shape
    parts = (shape.stores, shape.caches, shape.topics, 0.1, 0.12, 0.12)
    return {
        thing: [f"{book.brand()}{suffix}" for _ in range(max(2, round(count * part)))]
        for thing, suffix, part in zip(_THINGS, _SUFFIXES, parts, strict=True)
    }


def _furnish(rng: np.random.Generator, book: NameBook, plan: Plan, made: list[Logical]) -> None:
    """Stores, topics, queues and the optional objects of each service.

    What services share is their cluster's own, or the template's.
    """
    shape = plan.shape
    groups = 1 if plan.archetype == "fleet" else plan.clusters
    pools = [_pools(book, plan, len(made) // groups) for _ in range(groups)]
    spare = [{thing: list(pool[thing]) for thing in ("topics", "queues")} for pool in pools]
    for one in made:
        own, left = pools[one.places[0] % groups], spare[one.places[0] % groups]
        u = rng.random(16).tolist()
        inner = one.level > 0
        if inner and u[0] < shape.stored:
            one.store = _of(own["stores"], u[1] ** 1.2)
        if u[2] < 0.3:
            one.cache = _of(own["caches"], u[3])
        if inner and u[4] < shape.consumes:
            one.consumes = _of(own["topics"], u[5])
        if u[6] < shape.publishes:
            one.publishes = left["topics"].pop() if left["topics"] else _of(own["topics"], u[7])
        if inner and u[8] < 0.16:
            one.takes = _of(own["queues"], u[9])
        if u[10] < 0.18:
            one.puts = left["queues"].pop() if left["queues"] else _of(own["queues"], u[11])
        if inner and u[12] < 0.24:
            one.bucket = _of(own["buckets"], u[13])
        if u[14] < 0.16:
            one.function = _of(own["functions"], u[15])
        extras = rng.random(len(_EXTRAS))
        one.extras = frozenset(
            name for (name, part), draw in zip(_EXTRAS, extras.tolist(), strict=True)
            if draw < part * (1.0 if name in _ALWAYS else min(1.15, plan.rich))
        )  # fmt: skip
        drawn = np.exp(np.log(plan.pods) - _SIGMA**2 / 2 + _SIGMA * rng.standard_normal())
        one.pods = int(min(24, max(2, round(float(drawn)))))


def _of(names: list[str], draw: float) -> str:
    return names[int(draw * len(names))]
