"""The split guard: nothing of one side of a frozen set stands on the other, and both are alike.

What the test side is worth hangs on it: a group, a lineage or a name on both sides lets an answer
carry over, and sides of unequal make-up do not compare (leak_gate research, section 8). Of the test
side a report says ids and counts only.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from heldout.build.labels import CLASSES, Labels, label, read_labels
from heldout.build.similarity import THRESHOLD, Portrait, portrait, similarity
from heldout.build.worlds import materialise, place_of, read_alert
from heldout.errors import SpecError
from heldout.gate.names import base_name, judge_name, unknown_parts
from heldout.gate.vocabulary import load_vocabulary
from heldout.graph import read_tables
from heldout.settings import Settings
from heldout.split import HeldoutAccess, Side, Split, read_specs, read_split
from heldout.store import Ledger
from heldout.store.queries import runs
from heldout.truth import KINDS, Spec, Truth, read_truth

SLACK, SHARE = 2, 0.10
"""How many more incidents of a kind or domain one side may have: so many, or this share of them."""
RATE = 0.10
"""How far apart the mean pass rates of the two sides' traps may be, or by :data:`SLACK` of them."""
SHOWN = 5
"""How many pairs or ids a guard names."""
_SHARED_KINDS = frozenset({"Region"})
"""Kinds whose names are a provider's, not an organisation's."""
_BINDING = frozenset({"train", "screen", "confirm", "score"})
"""What a run is for that binds its incidents to their side."""
_READ = {"entity": ("id", "kind", "name"), "change_event": ("actor", "actor_kind")}


class Member(NamedTuple):
    """One incident as the guard sees it. ``names`` are those that tell whose system it is."""

    spec: Spec
    side: Side
    portrait: Portrait
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Pair:
    """An incident of train, one of test, and how alike they are, 0 to 1."""

    train: str
    test: str
    alike: float


@dataclass(frozen=True, slots=True)
class Guard:
    """One thing that must hold: what was seen, and what is wrong in sentences."""

    name: str
    said: str
    findings: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """True where nothing is wrong."""
        return not self.findings


@dataclass(frozen=True, slots=True)
class SplitReport:
    """Every guard over one set, and the pairs across its sides that are most alike."""

    set: str
    lock: str
    train: int
    test: int
    guards: tuple[Guard, ...]
    pairs: tuple[Pair, ...] = ()

    @property
    def passed(self) -> bool:
        """True where every guard holds."""
        return all(guard.passed for guard in self.guards)

    def plain(self) -> dict[str, Any]:
        """Plain data for ``--json``."""
        guards = [{**asdict(guard), "passed": guard.passed} for guard in self.guards]
        return {**asdict(self), "passed": self.passed, "guards": guards}

    def text(self) -> str:
        """The report for a terminal."""
        verdict = "passed" if self.passed else "NOT PASSED"
        lines = [f"split of {self.set} {verdict}: train {self.train}, test {self.test}"]
        for guard in self.guards:
            lines.append(f"  {'ok  ' if guard.passed else 'FAIL'} {guard.name:<12} {guard.said}")
            lines += [f"       {sentence}" for sentence in guard.findings]
        if self.pairs:
            lines.append("  most alike across the sides, train and test:")
            lines += [f"       {one.alike:.2f}  {one.train}  {one.test}" for one in self.pairs]
        return "\n".join([*lines, f"lock {self.lock[:12]}"])


def check_split(
    settings: Settings, set_name: str, access: HeldoutAccess, *, workers: int = 1
) -> SplitReport:
    """Guard the split of a frozen set; worlds and truths that are missing are made first.

    A split file that cannot be trusted is the report's only finding: the sides mean nothing then.
    A set without one is a :class:`SpecError`, as is a spec or truth that cannot be read.
    """
    directory = settings.set_dir(set_name)
    try:
        split = read_split(directory)
    except SpecError as error:
        if not (directory / "split.toml").is_file():
            raise
        broken = Guard("frozen", "the split cannot be trusted", (error.what,))
        return SplitReport(set_name, "", 0, 0, (broken,))
    frozen = _frozen(directory, split)
    if not frozen.passed:
        return SplitReport(set_name, split.lock(), len(split.train), len(split.test), (frozen,))
    members: list[Member] = []
    sides: tuple[Side, Side] = ("train", "test")
    for side in sides:
        specs = read_specs(directory, side, access)
        materialise(settings, specs, directory, workers=workers)
        members += [_member(settings, directory, spec, side) for spec in specs]
    kept = _kept(settings, members)
    return guarded(split, members, read_labels(directory), (frozen, kept))


def _member(settings: Settings, directory: Path, spec: Spec, side: Side) -> Member:
    place = place_of(settings, spec)
    truth = read_truth(place.truth, digest=spec.truth_digest)
    tables = read_tables(place.world, _READ)
    entities = {row["id"]: row for row in tables["entity"]}
    people = {row["actor"] for row in tables["change_event"] if row["actor_kind"] == "person"}
    named = {row["name"] for row in entities.values() if row["kind"] not in _SHARED_KINDS}
    if spec.origin == "overlay":
        # One imported estate lies under incidents of both sides, and its names were nobody's
        # invention; a name of a cause is still refused, and so is every name in an edit.
        named = set()
    alert = read_alert(directory, spec.id)
    likeness = portrait(spec, truth, alert, _identifiers(truth, entities))
    return Member(spec, side, likeness, telling_names(named | people))


def _identifiers(truth: Truth, entities: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Ids of the cause's entities and changes, and the names of the entities with their kind."""
    ids = {truth.culprit_entity, *truth.accepted_entities} & set(entities)
    named = [f"{entities[one]['kind']} {entities[one]['name']}" for one in sorted(ids)]
    changes = {truth.culprit_change, *truth.accepted_changes} - {""}
    return [*sorted(ids), *named, *sorted(changes)]


def telling_names(names: Iterable[str]) -> frozenset[str]:
    """Those of the names that tell whose system it is, and their invented words alone.

    A name of public or everyday words tells nothing, so both sides may have it.
    """
    vocabulary = load_vocabulary()
    found: set[str] = set()
    for name in dict.fromkeys(base_name(one).lower() for one in names):
        judged = judge_name(name, "resource", vocabulary)
        if judged.tier in ("T1", "T2"):
            found |= {name, *unknown_parts(judged, vocabulary)}
    return frozenset(found)


def _frozen(directory: Path, split: Split) -> Guard:
    """The lock fits, and the folder holds what the split names and no more."""
    ids = {*split.train, *split.test}
    found = []
    for folder, ending in (("specs", ".toml"), ("alerts", ".md")):
        there = {path.stem for path in (directory / folder).glob(f"*{ending}")}
        found += [f"'{one}' has no file in {folder}/" for one in sorted(ids - there)]
        found += [f"'{one}' in {folder}/ is on no side" for one in sorted(there - ids)]
    if not split.train or not split.test:
        found.append("one side is empty")
    return Guard("frozen", f"the lock fits, {len(ids)} specs and alerts", tuple(found))


def guarded(
    split: Split, members: Sequence[Member], labels: Labels | None, before: Iterable[Guard] = ()
) -> SplitReport:
    """Every guard that looks at members, after those that ran before."""
    train = [one for one in members if one.side == "train"]
    test = [one for one in members if one.side == "test"]
    pairs = sorted(
        (
            Pair(one.spec.id, two.spec.id, similarity(one.portrait, two.portrait))
            for one, two in product(train, test)
        ),
        key=lambda pair: (-pair.alike, pair.train, pair.test),
    )
    guards = (
        *before,
        _groups(train, test),
        _lineages(train, test),
        _likeness(pairs),
        _causes(train, test),
        _names(train, test),
        _balance("kinds", train, test, lambda one: one.spec.kind, KINDS),
        _balance("domains", train, test, lambda one: one.spec.domain),
        _difficulty(train, test, labels),
    )
    return SplitReport(split.set, split.lock(), len(train), len(test), guards, tuple(pairs[:SHOWN]))


def _groups(train: Sequence[Member], test: Sequence[Member]) -> Guard:
    groups = {one.spec.group for one in (*train, *test)}
    found = _shared(train, test, lambda one: {one.spec.group})
    said = f"{len(groups)} groups, {len(found)} of them on both sides"
    return Guard("groups", said, _told("a group", found.values()))


def _lineages(train: Sequence[Member], test: Sequence[Member]) -> Guard:
    """No fault, seed, report or shape of a chain on both sides."""
    by_sort: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for lineage, pair in _shared(train, test, lambda one: one.portrait.lineage).items():
        by_sort[lineage.split(" ", 1)[0]].append(pair)
    by_sort.pop("group", None)
    found = [one for sort in sorted(by_sort) for one in _told(f"a {sort}", by_sort[sort])]
    return Guard("lineage", "faults, seeds, reports and shapes of chains", tuple(found))


def _likeness(pairs: Sequence[Pair]) -> Guard:
    most = pairs[0].alike if pairs else 0.0
    found = [
        f"{one.train} and {one.test} are {one.alike:.2f} alike"
        for one in pairs
        if one.alike >= THRESHOLD
    ]
    return Guard(
        "likeness", f"at most {most:.2f} alike across the sides, below {THRESHOLD:.2f} allowed",
        _cut(found),
    )  # fmt: skip


def _causes(train: Sequence[Member], test: Sequence[Member]) -> Guard:
    found = _shared(train, test, lambda one: one.portrait.identifiers)
    counts = [len(_all(side, lambda one: one.portrait.identifiers)) for side in (train, test)]
    return Guard(
        "causes", f"{counts[0]} + {counts[1]} identifiers of causes, {len(found)} on both sides",
        _told("an identifier of a cause", found.values()),
    )  # fmt: skip


def _names(train: Sequence[Member], test: Sequence[Member]) -> Guard:
    found = _shared(train, test, lambda one: one.names)
    counts = [len(_all(side, lambda one: one.names)) for side in (train, test)]
    return Guard(
        "names", f"{counts[0]} + {counts[1]} telling names, {len(found)} on both sides",
        _told("a name", found.values()),
    )  # fmt: skip


def _balance(
    name: str,
    train: Sequence[Member],
    test: Sequence[Member],
    of: Callable[[Member], str],
    order: Sequence[str] = (),
) -> Guard:
    """Both sides have about as many of each."""
    counts = [Counter(map(of, side)) for side in (train, test)]
    both = counts[0] + counts[1]
    known = [one for one in order or sorted(both) if both[one]]
    found = []
    for one in known:
        here, there = counts[0][one], counts[1][one]
        allowed = max(SLACK, SHARE * both[one])
        if abs(here - there) > allowed:
            found.append(f"{one}: {here} + {there}, more than {allowed:g} apart")
    said = ", ".join(f"{one} {counts[0][one]}+{counts[1][one]}" for one in known)
    return Guard(name, said, tuple(found))


def _difficulty(train: Sequence[Member], test: Sequence[Member], labels: Labels | None) -> Guard:
    """The traps of both sides are about as hard for the model that measured them."""
    if labels is None:
        return Guard("difficulty", "not measured: the set has no labels")
    sides = [
        [labels.rates[one.spec.id] for one in side
         if one.spec.kind == "trap" and one.spec.id in labels.rates]
        for side in (train, test)
    ]  # fmt: skip
    traps = sum(one.spec.kind == "trap" for one in (*train, *test))
    found = []
    if len(sides[0]) + len(sides[1]) < traps:
        found.append(f"{traps - len(sides[0]) - len(sides[1])} of {traps} traps have no label")
    if not all(sides):
        return Guard("difficulty", f"labels of {labels.model}", (*found, "a side has no label"))
    means = [sum(rates) / len(rates) for rates in sides]
    allowed = max(RATE, SLACK / min(map(len, sides)))
    if abs(means[0] - means[1]) > allowed + 1e-9:
        found.append(f"pass rates are more than {allowed:.0%} apart")
    classes = [Counter(map(label, rates)) for rates in sides]
    known = dict.fromkeys([label(most) for most, _ in CLASSES] + [label(1.0)])
    shown = ", ".join(f"{one} {classes[0][one]}+{classes[1][one]}" for one in known)
    said = (
        f"{labels.model} solves {means[0]:.0%} of traps in train, {means[1]:.0%} in test; {shown}"
    )
    return Guard("difficulty", said, tuple(found))


def _kept(settings: Settings, members: Sequence[Member]) -> Guard:
    """No incident stands on another side than when it was tuned on or scored."""
    if not settings.ledger.is_file():
        return Guard("kept", "nothing was played yet")
    sides = {one.spec.world_digest: one for one in members}
    moved, played = set(), set()
    with Ledger.open(settings.ledger, read_only=True) as ledger:
        for run in runs(ledger):
            for case in run.cases if run.purpose in _BINDING else ():
                one = sides.get(str(case["digest"]))
                if one is not None:
                    played.add(one.spec.id)
                    if one.side != case["side"]:
                        moved.add(f"{one.spec.id} was played on the other side")
    return Guard("kept", f"{len(played)} were played on a side", _cut(sorted(moved)))


def _all(side: Iterable[Member], of: Callable[[Member], Iterable[str]]) -> set[str]:
    return {one for member in side for one in of(member)}


def _shared(
    train: Sequence[Member], test: Sequence[Member], of: Callable[[Member], Iterable[str]]
) -> dict[str, tuple[str, str]]:
    """What stands on both sides, each with the first incident of train and of test that has it."""
    first: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for owners, side in zip(first, (train, test), strict=True):
        for member in side:
            for one in of(member):
                owners.setdefault(one, member.spec.id)
    return {one: (first[0][one], first[1][one]) for one in sorted(first[0].keys() & first[1])}


def _told(what: str, pairs: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Who shares something: the incidents, never the thing."""
    found = [
        f"{one} and {two} share {what}" + (f" ({count} of them)" if count > 1 else "")
        for (one, two), count in sorted(Counter(pairs).items())
    ]
    return _cut(found)


def _cut(sentences: Sequence[str]) -> tuple[str, ...]:
    more = len(sentences) - SHOWN
    return (*sentences[:SHOWN], *([f"and {more} more"] if more > 0 else []))
