"""Inventories and recorded items brought into a world: what runs, and how it came to be so."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from heldout.graph.reconciliation.sides import INVENTORIED
from heldout.ingest.aws.answers import Found, Item, Listed
from heldout.ingest.aws.recorder import Moment, record_of
from heldout.ingest.cloud.joining import Estate, Seen
from heldout.ingest.cloud.origin import made_by
from heldout.ingest.cloud.parts import LISTED_PARTS
from heldout.ingest.cloud.record import Record, Side, generic_record, read_record, tagged_record
from heldout.ingest.cloud.shape import by_listed, by_recorded
from heldout.ingest.draft import WorldDraft

_SOURCE = "aws"
_TAGGED = ("ResourceTagMappingList", "TagDescriptions")
"""Answers about tags: they name resources of any type by ARN."""
_RUNNING: Side = "running"


@dataclass(slots=True)
class Counts:
    """What became of the items of an import."""

    kinds: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    changes: int = 0


class _Kept(NamedTuple):
    """One recorded moment, as little of it as is needed later."""

    type: str
    at: int | None
    gone: bool
    record: Record


class Inventory:
    """Places what runs. Recorded items are kept until all of a resource's are there."""

    def __init__(self, draft: WorldDraft, estate: Estate) -> None:
        self._draft = draft
        self._estate = estate
        self._moments: defaultdict[tuple[str, str], list[_Kept]] = defaultdict(list)
        self._asked: set[tuple[str, str, str]] = set()
        self.counts = Counts()

    def answer(self, found: Iterable[Found]) -> int | None:
        """Place the items of one answer; how many were read, ``None`` where it answers nothing."""
        count: int | None = None
        for one in found:
            if isinstance(one, Listed):
                self._listed(one)
                count = count or 0
            else:
                count = (count or 0) + self._item(one)
        return count

    def _listed(self, one: Listed) -> None:
        """Remember that a type was asked for: what is not there then is known not to run."""
        shape = by_listed()[one.key]
        if not one.whole:
            self.counts.left_out["an answer that is one page of several"] += 1
        elif one.place.account:
            region = one.place.region if shape.regional else ""
            self._asked.add((one.place.account, region, shape.name))

    def _item(self, one: Item) -> int:
        parts = LISTED_PARTS.get(one.key)
        seen = Seen(_RUNNING)
        if parts is not None:
            for part in parts(one.attributes):
                self._estate.part(part, seen, one.place)
            self.counts.kinds[f"part: {one.key}"] += 1
            return 1
        shape = by_listed().get(one.key)
        if one.key in _TAGGED:
            record = tagged_record(one.attributes, one.place)
        elif shape is None:
            self.counts.unknown[one.key or "an item that nothing names"] += 1
            record = generic_record(one.key, one.attributes, _RUNNING, one.place)
        else:
            record = read_record(shape, one.attributes, _RUNNING, one.place)
        if record is None:
            self.counts.left_out[f"{one.key}: an item without an id"] += 1
            return 0
        self._estate.place(_with_maker(record, one.attributes), seen)
        self.counts.kinds[record.kind] += 1
        return 1

    def keep(self, one: Moment) -> None:
        """Keep what one recorded item says until :meth:`finish`."""
        record = record_of(one)
        if record is None:
            self.counts.left_out[f"{one.type}: an item without an id"] += 1
            return
        self._moments[one.key].append(
            _Kept(one.type, one.at, one.gone, _with_maker(record, one.attributes))
        )

    def finish(self) -> None:
        """Place what was recorded, with the changes between its moments, and what was asked for."""
        for moments in self._moments.values():
            self._resource(sorted(moments, key=lambda one: (one.at or 0, one.gone)))
        for account, region, shape in sorted(self._asked):
            entity = self._draft.entity(
                "CloudAccount", account, name=account, facts={"provider": "aws"}, source=_SOURCE
            )
            field_ = f"{INVENTORIED}{shape}.{region}".rstrip(".")
            self._draft.fact(entity, field_, True, source=_SOURCE)

    def _resource(self, moments: list[_Kept]) -> None:
        last = moments[-1]
        if by_recorded().get(last.type) is None:
            self.counts.unknown[last.type] += 1
        alive = [one for one in moments if not one.gone]
        newest = (alive or moments)[-1].record
        seen = Seen(
            _RUNNING, (alive or moments)[0].at, last.at if last.gone else None
        )  # fmt: skip
        history = _History(alive)
        entity = self._estate.place(replace(newest, fields=history.settled(newest.fields)), seen)
        self.counts.kinds[newest.kind] += 1
        for name, value, since, until in history.moved(seen.until):
            self._draft.fact(
                entity, name, self._clean(name, value), since=since, until=until, source=_SOURCE
            )
        self._changes(entity, newest, last, history)

    def _clean(self, name: str, value: Any) -> Any:
        return self._draft.redactor.object({name: value}, is_secret=False)[name]

    def _changes(self, entity: str, record: Record, last: _Kept, history: _History) -> None:
        """What the recorder saw change between two of its items, and that it saw it go."""
        for at, diffs in history.steps():
            told = [(entity, name, self._clean(name, old), self._clean(name, new))
                    for name, old, new in diffs]  # fmt: skip
            names = ", ".join(name for name, _, _ in diffs[:5])
            self._change(entity, record, at, f"recorded change of {names}", told)
        if last.gone and last.at is not None:
            self._change(entity, record, last.at, "recorded as deleted", [])

    def _change(
        self,
        entity: str,
        record: Record,
        at: int,
        what: str,
        diffs: list[tuple[str, str, Any, Any]],
    ) -> None:
        name = self._draft.redactor.text(record.name)
        self._draft.change(
            f"config:{record.identity.external()}:{at}",
            at,
            "cloud_api",
            actor="configuration recorder",
            actor_kind="provider",
            source=_SOURCE,
            summary=f"{record.identity.shape} {name}: {what}"[:300],
            targets=[entity],
            diffs=diffs,
        )
        self.counts.changes += 1


class _History:
    """The fields of one resource over its recorded moments, oldest first."""

    def __init__(self, alive: list[_Kept]) -> None:
        dated = [(one.at, one.record.fields) for one in alive if one.at is not None]
        self._dated = dated if len(dated) > 1 else []

    def _fields(self) -> set[str]:
        """Fields that did not hold the same value at every moment."""
        names = {name for _, fields in self._dated for name in fields}
        return {
            name
            for name in names
            if any(fields.get(name) != self._dated[0][1].get(name) for _, fields in self._dated)
        }

    def settled(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields that never moved."""
        moving = self._fields()
        return {name: value for name, value in fields.items() if name not in moving}

    def moved(self, ended: int | None) -> list[tuple[str, Any, int, int | None]]:
        """(field, value, since, until) of every run of one value of a field that moved."""
        found: list[tuple[str, Any, int, int | None]] = []
        for name in sorted(self._fields()):
            runs: list[tuple[int, Any]] = []
            for at, fields in self._dated:
                value = fields.get(name)
                if not runs or runs[-1][1] != value:
                    runs.append((at, value))
            ends = [*(at for at, _ in runs[1:]), ended]
            found += [(name, value, at, end) for (at, value), end in zip(runs, ends, strict=True)
                      if value is not None]  # fmt: skip
        return found

    def steps(self) -> list[tuple[int, list[tuple[str, Any, Any]]]]:
        """(time, diffs) between neighbouring moments that differ."""
        found: list[tuple[int, list[tuple[str, Any, Any]]]] = []
        for (_, old), (at, new) in zip(self._dated, self._dated[1:], strict=False):
            diffs = [
                (name, old.get(name), new.get(name))
                for name in sorted(old.keys() | new.keys())
                if old.get(name) != new.get(name)
            ]
            if diffs:
                found.append((at, diffs))
        return found


def _with_maker(record: Record, attributes: Mapping[str, Any]) -> Record:
    found = made_by(record.identity.shape, attributes)
    return replace(record, made_by=found) if found else record
