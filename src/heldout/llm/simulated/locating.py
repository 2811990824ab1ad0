"""From what is logged to the setting it speaks of: which field of which entity, on the spot or near.

The steps read the settings of what may hold them, the likeliest first, until a field is found that
the messages name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from heldout.llm.simulated.desk import FAINT, HOUR, Desk, Steps
from heldout.llm.simulated.evidence import (
    MASK,
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
    things,
    words,
)
from heldout.llm.simulated.kinds import BARE, HINTS, ONWARD, PASSIVE, SHARED, STORES, WORKLOADS
from heldout.llm.simulated.transcript import iso

SURE = 2.6
"""A likeness from which on nothing better is looked for."""
LEAST = 1.1
"""A likeness below which a field is not taken for the one."""
_CALLS = 20
"""After so many calls the search for the setting ends: the changes must still be looked at."""
_ROUNDS = 4
_HUBS = 3
"""How many connected things are followed onwards per round."""


@dataclass(frozen=True, slots=True)
class Holder:
    """An entity that may hold a setting: how soon it is read, and whether it suggests itself."""

    thing: Thing
    rank: tuple[bool, bool, int, bool, int, str]
    likely: bool


@dataclass(slots=True)
class Search:
    """The likeliest field so far, how likely, and the message that speaks of it."""

    messages: Sequence[Sign]
    score: float = LEAST
    fact: Fact | None = None
    sign: Sign | None = None

    def weigh(self, fact: Fact) -> None:
        """Keep the field if a message speaks of it more surely than of the best so far."""
        for rank, sign in enumerate(self.messages):
            score = likeness(sign.message, fact.field, fact.value) - 0.15 * rank
            if score > self.score:
                self.score, self.fact, self.sign = score, fact, sign


def quote(desk: Desk) -> Steps[None]:
    """Read single lines of the loudest pattern: patterns hide the numbers."""
    spot = desk.here
    found = desk.trouble.get(spot.id, ()) if spot else ()
    if spot is None or not (found and MASK in found[0].message):
        return
    answer = yield from desk.ask(
        "search_logs",
        f"I read the lines of {spot.name} behind the pattern.",
        query=longest_part(found[0].message),
        entity=found[0].entity or spot.id,
        level="ERROR",
        since=iso(desk.fired - HOUR),
        until=iso(desk.fired),
        limit=10,
    )
    lines = signs(answer.rows)
    desk.trouble[spot.id] = tuple(quoted(sign, lines) for sign in found)


def candidates(desk: Desk) -> list[Sign]:
    """Messages that may state the mechanism, nearest to the end of the path first."""
    result: list[Sign] = []
    names = [thing.name for thing in desk.path]
    for place, thing in reversed(list(enumerate(desk.path))):
        following = names[place + 1 :]
        for sign in desk.trouble.get(thing.id, ()):
            relayed = any(mentions(sign.message, name) for name in following)
            if sign.fresh and (not relayed or keys(sign.message)) and sign not in result:
                result.append(sign)
    own = desk.path[-1].id if desk.path else ""
    tail = {sign.message for sign in desk.trouble.get(own, ())}
    loudest = max((sign.count for sign in result), default=0.0)

    def rank(sign: Sign) -> tuple[bool, bool, bool]:
        return (sign.message not in tail, sign.count <= FAINT * loudest, sign.level != "ERROR")

    return sorted(result, key=rank)[:6]


def locate(desk: Desk, reads: int) -> Steps[None]:
    """Find the field that the messages speak of: on the spot, then around it."""
    if desk.here is None:
        return
    messages = candidates(desk)
    desk.mechanism = messages[0] if messages else None
    desk.told = messages
    search = Search(messages)
    done: set[str] = set()
    yield from _named_holder(desk, search, done)
    pool: dict[str, Thing] = {}
    for step in range(_ROUNDS):
        if search.score >= SURE or len(done) >= reads or len(desk.asked) >= _CALLS:
            break
        yield from _widen(desk, pool, step)
        for ranked in _ranked(desk, pool.values(), messages):
            if not ranked.likely or ranked.thing.id in done:
                continue
            if search.score >= SURE or len(done) >= reads or len(desk.asked) >= _CALLS:
                break
            done.add(ranked.thing.id)
            yield from _inspect(desk, ranked.thing, search)
    desk.fact = search.fact
    desk.sure = search.score
    desk.mechanism = search.sign or desk.mechanism
    if desk.fact is not None:
        desk.cite(desk.fact.entity.id)
    if desk.mechanism is not None:
        desk.cite(desk.mechanism.example)


def _inspect(desk: Desk, thing: Thing, search: Search) -> Steps[None]:
    answer = yield from desk.ask("get_entity", f"I read the settings of {thing.name}.", id=thing.id)
    for row in answer.rows[:1]:
        for fact in facts(thing, row):
            search.weigh(fact)


def _named_holder(desk: Desk, search: Search, done: set[str]) -> Steps[None]:
    """Look up what the loudest messages call by a name that is not on the path."""
    on_path = {thing.name for thing in desk.path}
    told = [key for sign in search.messages[:2] for key in keys(sign.message) if is_name(key)]
    for name in [one for one in dict.fromkeys(told) if one not in on_path][:2]:
        why = f"The error names {name}; I look it up."
        answer = yield from desk.ask("search_entities", why, query=name)
        thing = desk.meant([one for one in things(answer.rows) if one.name == name])
        if thing is not None:
            done.add(thing.id)
            yield from _inspect(desk, thing, search)


def _widen(desk: Desk, pool: dict[str, Thing], step: int) -> Steps[None]:
    """Add what may hold settings: the seat and its workload's surroundings, then further on."""
    seat = desk.here
    assert seat is not None
    if step == 0:
        near = yield from desk.neighbours(seat)
        _add(pool, [seat, *near])
        for workload in [one for one in near if one.kind in WORKLOADS][:1]:
            _add(pool, (yield from desk.neighbours(workload)))
        return
    spoken = {word for sign in desk.told[:2] for word in words(sign.message)}
    for hub in _hubs(desk, pool, spoken):
        desk.followed.add(hub.id)
        for way in ONWARD[hub.kind]:
            found = yield from desk.neighbours(hub, 1, way.predicates, way.direction)
            _add(pool, found)


def _add(pool: dict[str, Thing], found: Iterable[Thing]) -> None:
    for thing in found:
        pool.setdefault(thing.id, thing)


def _hubs(desk: Desk, pool: dict[str, Thing], spoken: set[str]) -> list[Thing]:
    """Things of the pool behind which settings lie that the messages speak of, best first."""
    rated = []
    for place, thing in enumerate(pool.values()):
        if thing.kind not in ONWARD or thing.id in desk.followed:
            continue
        behind = [kind for way in ONWARD[thing.kind] for kind in way.behind]
        told = max(len(spoken & hints(kind)) for kind in behind)
        passing = any(kind in ONWARD for kind in behind)
        foreign = thing.kind in STORES and thing.direction == "in"
        if (told or passing) and not foreign:
            rated.append((-told, not passing, place, thing))
    rated.sort(key=lambda one: one[:3])
    return [thing for *_, thing in rated[:_HUBS]]


def _ranked(desk: Desk, around: Iterable[Thing], messages: Sequence[Sign]) -> list[Holder]:
    """Connected entities in the order in which their settings are worth reading."""
    spoken = {word for sign in messages[:2] for word in words(sign.message)}
    own = set(words(desk.path[-1].name))

    def rated(thing: Thing) -> Holder:
        named = any(mentions(sign.message, thing.name) for sign in messages)
        bare = thing.kind in BARE
        told = len(spoken & hints(thing.kind))
        related = own <= set(words(thing.name)) and not bare
        own_store = thing.kind in STORES and thing.depth == 1 and thing.direction == "out"
        near = (related and thing.kind not in SHARED) or own_store
        order = list(HINTS).index(thing.kind) if thing.kind in HINTS else len(HINTS)
        worth = -min(told, 3) if near or told > 1 else 0
        rank = (bare, not named, worth, not near, order, thing.id)
        here = thing.id == desk.path[-1].id and not bare
        return Holder(thing, rank, named or near or told > 0 or here)

    seen = {thing.id: thing for thing in around if thing.kind not in PASSIVE}
    return sorted(map(rated, seen.values()), key=lambda one: one.rank)


def hints(kind: str) -> frozenset[str]:
    """The words that speak of a kind's troubles, its own name among them."""
    return frozenset(words(HINTS.get(kind, ""))) | frozenset(words(kind))


def is_name(key: str) -> bool:
    """True for what looks like the name of a thing rather than of a setting."""
    return "-" in key and "_" not in key and key.islower() and not key[0].isdigit()
