"""Making a set: pool, harden, label, split by group, freeze."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from heldout.build.admission import Admitted, Result, admitted, tried
from heldout.build.freezing import Frozen, forget, refuse_frozen, staged_set
from heldout.build.grouping import chosen, grouped
from heldout.build.harden import ROUNDS, harden
from heldout.build.labels import Labels, write_labels
from heldout.build.measuring import Yardstick
from heldout.build.plans import SetPlan
from heldout.build.pool import draft, reseeded, slots
from heldout.build.records import PoolRecord, write_record
from heldout.build.similarity import most_alike
from heldout.build.splitting import halves, split_by_group
from heldout.errors import SpecError
from heldout.settings import Settings
from heldout.split import Split
from heldout.truth import KINDS, Spec
from heldout.truth.specs import Kind

ATTEMPTS = 8
"""How many drafts one place of the pool may try before it is left empty."""
MOVES = 4
"""How many seeds an incident may try when it gets the names of the other side."""

Sides = tuple[list[Admitted], list[Admitted]]
Say = Callable[[str], None]


def _silent(_: str) -> None:
    """Say nothing."""


@dataclass(frozen=True, slots=True)
class SetReport:
    """What making a set came to.

    ``kinds`` are (train, test) counts by kind; ``seen`` the share of test-side trap incidents whose
    family stands in train too; ``alike`` the greatest similarity of two incidents of different
    sides; ``rates`` the mean pass rates of train and test where labels were measured.
    """

    name: str
    kinds: Mapping[Kind, tuple[int, int]]
    seen: float
    alike: float
    record: PoolRecord
    rates: tuple[float, float] | None = None

    @property
    def sides(self) -> Mapping[str, int]:
        """How many incidents each side has."""
        train, test = (sum(pair[side] for pair in self.kinds.values()) for side in (0, 1))
        return {"train": train, "test": test}

    def lines(self) -> list[str]:
        """For people."""
        held = self.sides
        said = [f"{self.name}: train {held['train']}, test {held['test']}"]
        for kind, (train, test) in self.kinds.items():
            if train + test:
                said.append(f"  {kind:<14} {train:>3} + {test}")
        said.append(f"  most alike across the sides {self.alike:.2f}")
        if self.kinds["trap"][1]:
            said.append(f"  test traps of a family seen in train {self.seen:.0%}")
        if self.rates:
            said.append(f"  pass rate train {self.rates[0]:.0%}, test {self.rates[1]:.0%}")
        return said + self.record.lines()


class _Shaped(NamedTuple):
    """A pool after hardening, and what was measured of it."""

    pool: list[Admitted]
    rates: dict[str, float]
    solved: Sequence[str] = ()
    said: str = ""


@dataclass(slots=True)
class _Making:
    """A set in the making: what it is made with, and every spec whose world it has cached."""

    settings: Settings
    plan: SetPlan
    workers: int
    say: Say
    discards: Counter[str] = field(default_factory=Counter)
    stored: list[Spec] = field(default_factory=list)

    def tried(self, candidates: Sequence[Sequence[Spec]], what: str = "raised") -> list[Result]:
        """What came of each group of candidates."""
        total = len(candidates)
        results = tried(
            self.settings, candidates, self.workers,
            lambda done: self.say(f"{self.plan.name}: {what}, {done} of {total} tried"),
        )  # fmt: skip
        self.stored += [one.admitted.spec for one in results if one.admitted is not None]
        return results


def make_set(
    settings: Settings,
    plan: SetPlan,
    *,
    replace_existing: bool = False,
    workers: int = 1,
    against: Yardstick | None = None,
    rounds: int = ROUNDS,
    say: Say = _silent,
) -> SetReport:
    """Make a set from scratch and freeze it; worlds and truths go to the cache.

    A pool of drafts, larger than the set, passes the validity gate. With ``against`` it is hardened
    against a model, and labels are measured afterwards. Then it is split by group and each side
    takes what the plan wants. An existing set is refused unless ``replace_existing``; a pool that
    cannot fill the plan is a :class:`SpecError`. Nothing is written to the set before the end.
    """
    directory = settings.set_path(plan.name)
    if not replace_existing:
        refuse_frozen(directory)
    if against is not None:
        against.check()
    making = _Making(settings, plan, workers, say)
    places = slots(plan)
    try:
        drafts = [[draft(plan, slot, attempt) for attempt in range(ATTEMPTS)] for slot in places]
        pool = admitted(making.tried(drafts, "pool"), making.discards)
        filled = len(pool)
        shaped = _hardened(making, pool, against, rounds)
        kept, labels = _split(making, shaped, against)
        record = PoolRecord(plan.seed, len(places), filled, dict(making.discards), shaped.said)
        _freeze(settings, directory, kept, labels, record)
    except BaseException:
        forget(settings, making.stored)
        raise
    forget(settings, making.stored, keep=[one.spec for side in kept for one in side])
    return _report(plan, kept, labels, record)


def _hardened(
    making: _Making, pool: list[Admitted], against: Yardstick | None, rounds: int
) -> _Shaped:
    """The pool hardened against a model and then measured anew; as it is without a model."""
    if against is None:
        return _Shaped(pool, {})
    done = harden(pool, against.rates, making.tried, making.discards, rounds=rounds)
    said = (
        f"hardened against {against.model}: {len(done.raised)} raised in {done.rounds} "
        f"round(s), {len(done.solved)} of the pool still solved nearly always"
    )
    return _Shaped(done.pool, against.rates(done.pool, "labels"), done.solved, said)


def _split(
    making: _Making, shaped: _Shaped, against: Yardstick | None
) -> tuple[Sides, Labels | None]:
    """The two sides of a pool, each named from its own half of the stock, and their labels."""
    plan, rates = making.plan, dict(shaped.rates)
    need = halves(plan.wanted)
    pool = grouped(shaped.pool)
    sides = split_by_group([one.spec for one in pool], plan.seed, rates=rates or None, need=need)
    pool, moved = _renamed(making, pool, sides)
    kept = chosen(pool, sides, need, shaped.solved, making.discards)
    _require(plan, kept, making.discards)
    if against is None:
        return kept, None
    taken = {one.spec.id for side in kept for one in side}
    for one in moved:  # Its world is another now.
        rates.pop(one.spec.id, None)
    rates |= against.rates([one for one in moved if one.spec.id in taken], "labels-renamed")
    return kept, _labels(against, {one: rate for one, rate in rates.items() if one in taken})


def _freeze(
    settings: Settings, directory: Path, kept: Sides, labels: Labels | None, record: PoolRecord
) -> None:
    train, test = (tuple(one.spec.id for one in side) for side in kept)
    incidents = [Frozen(one.spec, one.alert) for side in kept for one in side]
    with staged_set(settings, directory, Split(directory.name, train, test), incidents) as stage:
        write_record(record, stage)
        if labels is not None:
            write_labels(labels, stage)


def _renamed(
    making: _Making, pool: Sequence[Admitted], sides: Mapping[str, int]
) -> tuple[list[Admitted], list[Admitted]]:
    """The pool with every incident named from its side's half of the stock, and those that moved.

    One that is not valid under its new names, whatever the seed, is left out.
    """
    strangers = [one for one in pool if one.spec.knobs.get("bank") != sides[one.spec.group]]
    groups = []
    for one in strangers:
        spec = replace(one.spec, knobs={**one.spec.knobs, "bank": sides[one.spec.group]})
        others = [reseeded(spec, spec.seed, "renamed", number) for number in range(1, MOVES)]
        groups.append([spec, *others])
    moved = admitted(making.tried(groups, "renamed"), making.discards)
    fresh = {one.spec.id: one for one in moved}
    gone = {one.spec.id for one in strangers} - set(fresh)
    return [fresh.get(one.spec.id, one) for one in pool if one.spec.id not in gone], moved


def _require(plan: SetPlan, kept: Sides, discards: Counter[str]) -> None:
    """Raise :class:`SpecError` where a side has too few of a kind."""
    for side, need in zip(kept, halves(plan.wanted), strict=True):
        have = Counter(one.spec.kind for one in side)
        for kind, count in need.items():
            if have[kind] < count:
                why = ", ".join(f"{n} x {reason}" for reason, n in discards.most_common(3))
                raise SpecError(
                    f"the pool fills {have[kind]} of {count} places for '{kind}' on one side "
                    f"(discarded: {why or 'none'})",
                    where=f"set {plan.name}",
                    mend="Ask for fewer, or take another --seed",
                )


def _labels(against: Yardstick, rates: Mapping[str, float]) -> Labels:
    runs = tuple(run for name, run in against.runs.items() if name.startswith("labels"))
    today = datetime.datetime.now(tz=datetime.UTC).date()
    return Labels(against.model, against.brain.hash, against.repeats, today, runs, rates)


def _report(plan: SetPlan, kept: Sides, labels: Labels | None, record: PoolRecord) -> SetReport:
    counts = [Counter(one.spec.kind for one in side) for side in kept]
    train, test = ([one.spec.family for one in side if one.spec.kind == "trap"] for side in kept)
    side_of = {one.spec.id: number for number, side in enumerate(kept) for one in side}
    return SetReport(
        plan.name,
        kinds={kind: (counts[0][kind], counts[1][kind]) for kind in KINDS},
        seen=sum(family in set(train) for family in test) / len(test) if test else 0.0,
        alike=most_alike([one.entry.portrait for side in kept for one in side], side_of),
        record=record,
        rates=(_mean(labels, kept[0]), _mean(labels, kept[1])) if labels else None,
    )


def _mean(labels: Labels, side: Sequence[Admitted]) -> float:
    rates = [labels.rates[one.spec.id] for one in side if one.spec.id in labels.rates]
    return sum(rates) / len(rates) if rates else 0.0
