"""Records of both sides brought into one world: who is who, rules gathered, references resolved.

Two records are one resource when their ARNs are equal, or their shape and id are and nothing that
is known of account, region, zone or cluster contradicts. An id that fits several is joined to none.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from heldout.graph.ontology import fits
from heldout.ingest.cloud.parts import JOINED, SETTLED, Part, Tie, Value, Whole
from heldout.ingest.cloud.record import Identity, Place, Record, Reference, Side
from heldout.ingest.cloud.shape import arn_parts, shapes
from heldout.ingest.draft import WorldDraft

PARTS_OF = "declared_parts."
"""Begins the field of lines that a stack declares for something that it does not declare itself."""

PROVENANCE: Mapping[Side, str] = {"declared": "declared", "running": "observed"}


class _Known(NamedTuple):
    """Where an entity that has a shape and id lies, as far as that is known."""

    entity: str
    place: Place
    within: str


@dataclass(frozen=True, slots=True)
class Seen:
    """Who says something, and from when until when it holds (microseconds, ``None``: unknown)."""

    side: Side
    since: int | None = None
    until: int | None = None
    stack: str = ""

    @property
    def provenance(self) -> str:
        """The provenance of what this side says."""
        return PROVENANCE[self.side]

    @property
    def source(self) -> str:
        """The source of what this side says."""
        return "iac" if self.side == "declared" else "aws"


class Estate:
    """Places records in a draft; :meth:`finish` resolves what refers to what was read later."""

    def __init__(self, draft: WorldDraft) -> None:
        self._draft = draft
        self._by_arn: dict[str, str] = {}
        self._by_id: defaultdict[tuple[str, str], list[_Known]] = defaultdict(list)
        self._kinds: dict[str, str] = {}
        self._hosts: dict[str, str] = {}
        self._placed: set[tuple[str, str, str]] = set()
        self._homes: dict[tuple[str, str], str] = {}
        self._references: list[tuple[str, Reference, Seen, Place]] = []
        self._names: list[tuple[str, str, Seen]] = []
        self._parts: list[tuple[Part, Seen, Place]] = []
        self._own: dict[str, str] = {}
        self._arns: dict[str, str] = {}
        self._values: dict[tuple[str, str, Side], tuple[Any, Seen]] = {}
        self._lines: defaultdict[tuple[str, str, Side], set[str]] = defaultdict(set)
        self._seen: dict[tuple[str, str, Side], Seen] = {}
        self._both: defaultdict[str, set[Side]] = defaultdict(set)
        self.counts: Counter[str] = Counter()
        """What could not be placed, by reason."""

    def know(self, entity: str, kind: str, identity: Identity, sides: Iterable[Side] = ()) -> None:
        """Let an entity that is already there be found by its identity; ``sides`` told of it."""
        self._kinds[entity] = kind
        self._own[entity] = identity.local
        self._both[entity].update(sides)
        if identity.arn:
            self._by_arn[identity.arn] = entity
        key = (identity.shape, identity.local)
        self._by_id[key].append(_Known(entity, identity.place, identity.within))

    def find(self, shape: str, value: str, place: Place, within: str = "") -> str | None:
        """The one entity of a shape that an id, name or ARN means, ``None`` for none or several."""
        if value in self._by_arn:
            return self._by_arn[value]
        known = shapes().get(shape)
        parts = arn_parts(value)
        where = Place(parts.account, parts.region) if parts else place
        local = known.local_id(value) if known else value
        found = [
            one
            for one in self._by_id.get((shape, local), ())
            if _agree(one.place, where) and (not within or one.within in ("", within))
        ]
        exact = [one for one in found if one.place == where and one.within == within]
        found = exact or found
        if len({one.entity for one in found}) > 1:
            self.counts["an id that fits several resources"] += 1
            return None
        return found[0].entity if found else None

    def place(self, record: Record, seen: Seen) -> str:
        """Bring one record into the draft, onto the entity it means, else onto a new one."""
        one = record.identity
        entity = self.find(one.shape, one.arn, one.place) if one.arn else None
        entity = entity or self.find(one.shape, one.local, one.place, one.within)
        if entity is None:
            entity = self._made(record, seen)
        elif self._both[entity] and seen.side not in self._both[entity]:
            self.counts["joined"] += 1
        self.know(entity, self._kinds.get(entity, record.kind), one)
        self._both[entity].add(seen.side)
        self._tell(entity, record, seen)
        if record.side == "declared" and seen.stack:
            self._edge(entity, "declared_in", seen.stack, seen)
        return entity

    def _made(self, record: Record, seen: Seen) -> str:
        redact = self._draft.redactor.text
        facts: dict[str, Any] = {}
        if record.kind == "CustomResource":
            facts["custom_kind"] = record.identity.shape
        external = record.identity.external()
        made = self._draft.entity(
            record.kind,
            external if record.identity.arn else redact(external),
            name=redact(record.name),
            facts=facts,
            provenance=seen.provenance,
            source=seen.source,
        )
        self._arns[made] = external
        return made

    def _tell(self, entity: str, record: Record, seen: Seen) -> None:
        joined = JOINED.get(record.identity.shape, ())
        settled = SETTLED.get(record.identity.shape, ()) if seen.since is None else ()
        fields = self._draft.redactor.object(record.fields, is_secret=False)
        for field, value in fields.items():
            if field in joined and isinstance(value, list):
                lines = [str(one) for one in value]
                if seen.since is None:
                    self._gather(entity, field, seen, lines)
                else:  # One moment of many: it says all of the field.
                    self._fact(entity, field, self._settled(entity, lines), seen)
            elif field in settled:
                self._values[entity, field, seen.side] = (value, seen)
            else:
                self._fact(entity, field, value, seen)
        if record.made_by:
            self._fact(entity, "made_by", record.made_by, seen)
        if isinstance(record.fields.get("host"), str):
            self._hosts[str(record.fields["host"])] = entity
        if record.kind == "DnsRecord":
            names = [record.fields.get("alias"), *(record.fields.get("values") or ())]
            self._names += [(entity, str(name), seen) for name in names if name]
        self._locate(entity, record.identity, seen)
        place = record.identity.place
        for one in record.references:
            if not self._refer(entity, one, seen, place):
                self._references.append((entity, one, seen, place))

    def _locate(self, entity: str, identity: Identity, seen: Seen) -> None:
        """Account, region, type and id of an entity, and the edges to account and region.

        An ARN is a fact only where it came too late to be the entity's id.
        """
        for field, value in (
            ("account", identity.place.account),
            ("region", identity.place.region),
            ("arn", "" if self._arns.get(entity) == identity.arn else identity.arn),
            ("cloud_type", identity.shape),
            ("cloud_id", self._draft.redactor.text(identity.local)),
            ("cloud_within", identity.within),
        ):
            # The type is told by each side: it says that a resource without fields is there.
            key = (entity, field, seen.side if field == "cloud_type" else "")
            if value and key not in self._placed:
                self._placed.add(key)
                self._fact(entity, field, value, seen)
                if field in ("account", "region"):
                    self._edge(entity, "part_of", self._home(field, value, seen), seen)

    def _home(self, field: str, value: str, seen: Seen) -> str:
        if (field, value) in self._homes:
            return self._homes[field, value]
        kind = "CloudAccount" if field == "account" else "Region"
        home = self._draft.entity(
            kind, value, name=value, facts={"provider": "aws"},
            provenance=seen.provenance, source=seen.source,
        )  # fmt: skip
        self._kinds[home] = kind
        self._homes[field, value] = home
        return home

    def part(self, part: Part, seen: Seen, place: Place) -> None:
        """Keep a part until everything that it may belong to has been read."""
        self._parts.append((part, seen, place))

    def _gather(self, entity: str, field: str, seen: Seen, lines: Iterable[str]) -> None:
        key = (entity, field, seen.side)
        self._seen.setdefault(key, seen)
        self._lines[key].update(lines)

    def _settled(self, entity: str, lines: Iterable[str]) -> list[str]:
        """The lines in order; a rule whose peer is the group that holds it says so."""
        own = f" from {self._own.get(entity, '')}"
        return sorted(
            {line.removesuffix(own) + " from self" if line.endswith(own) else line
             for line in lines if line}
        )  # fmt: skip

    def finish(self) -> None:
        """Tell the fields that were gathered, and every edge whose two ends are there."""
        for part, seen, place in self._parts:
            self._belong(part, seen, place)
        for (entity, field, _), (value, seen) in self._values.items():
            self._fact(entity, field, value, seen)
        for (entity, field, side), lines in self._lines.items():
            self._fact(entity, field, self._settled(entity, lines), self._seen[entity, field, side])
        for entity, one, seen, place in self._references:
            if not self._refer(entity, one, seen, place):
                self.counts["a reference to what was not read"] += 1
        for entity, name, seen in self._names:
            other = self._hosts.get(name.lower().rstrip(".").removeprefix("dualstack."))
            if other is not None:
                self._edge(entity, "resolves_to", other, seen)

    def _refer(self, entity: str, one: Reference, seen: Seen, place: Place) -> bool:
        """Draw the edge of a reference; whether what it names is there."""
        other = self.find(one.to, one.value, place)
        if other is None:
            return False
        src, dst = (other, entity) if one.inverse else (entity, other)
        self._edge(src, one.predicate, dst, seen)
        return True

    def _belong(self, part: Part, seen: Seen, place: Place) -> None:
        if isinstance(part, Tie):
            src, dst = (self._whole(one, place) for one in (part.src, part.dst))
            if src and dst:
                self._edge(src, part.predicate, dst, seen)
            else:
                self.counts["a reference to what was not read"] += 1
            return
        entity = self._whole(part.whole, place) or self._named(part.whole, seen, place)
        if isinstance(part, Value):
            value = self._draft.redactor.object({part.field: part.value}, is_secret=False)
            self._values[entity, part.field, seen.side] = (value[part.field], seen)
        elif seen.side in self._both[entity]:
            self._gather(entity, part.field, seen, part.lines)
        else:
            # The whole stands in another stack, so that these lines are not all of the field.
            self._gather(entity, f"{PARTS_OF}{part.field}", seen, part.lines)

    def _named(self, whole: Whole, seen: Seen, place: Place) -> str:
        """An entity for what is known only because a part names it: on neither side yet."""
        self.counts[f"a part of a {whole.shape} that was not read"] += 1
        shape = shapes()[whole.shape]
        parts = arn_parts(whole.value)
        where = Place(parts.account, parts.region) if parts else place
        where = where if shape.regional else where._replace(region="")
        local = shape.local_id(whole.value)
        identity = Identity(shape.name, local, where, "", whole.value if parts else "")
        entity = self._made(Record(identity, shape.kind, local, seen.side), seen)
        self.know(entity, shape.kind, identity)
        self._locate(entity, identity, seen)
        return entity

    def _whole(self, whole: Whole, place: Place) -> str | None:
        return self.find(whole.shape, whole.value, place)

    def _fact(self, entity: str, field: str, value: Any, seen: Seen) -> None:
        self._draft.fact(
            entity, field, value, since=seen.since, until=seen.until,
            provenance=seen.provenance, source=seen.source,
        )  # fmt: skip

    def _edge(self, src: str, predicate: str, dst: str, seen: Seen) -> None:
        if src == dst:
            return
        if not fits(self._kinds.get(src, ""), predicate, self._kinds.get(dst, "")):
            self.counts[f"an edge '{predicate}' that the ontology has no place for"] += 1
            return
        self._draft.edge(
            src, predicate, dst, since=seen.since, until=seen.until,
            provenance=seen.provenance, source=seen.source,
        )  # fmt: skip


def _agree(one: Place, two: Place) -> bool:
    """Whether nothing that is known of two places contradicts."""
    return all(a == b or not a or not b for a, b in zip(one, two, strict=True))
