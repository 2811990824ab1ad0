"""Documents of Terraform brought into a world: stacks, what they declare, what is planned."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from heldout.ingest.cloud.joining import Estate, Seen
from heldout.ingest.cloud.record import Identity, Place, Record
from heldout.ingest.cloud.shape import by_declared
from heldout.ingest.draft import WorldDraft
from heldout.ingest.terraform.applied import Applied
from heldout.ingest.terraform.records import (
    Read,
    Step,
    managed,
    name_of,
    place_of,
    read_resource,
    read_step,
)
from heldout.ingest.terraform.stacks import Dated, stack_name

_SOURCE = "iac"
_SHOWN_TARGETS = 3


@dataclass(slots=True)
class Counts:
    """What became of the resources of an import."""

    kinds: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)


class Stacks:
    """Places documents, one stack after the other; an address is known within its stack."""

    def __init__(
        self,
        draft: WorldDraft,
        estate: Estate,
        root: str,
        *,
        account: str = "",
        applied: Mapping[str, Applied] = MappingProxyType({}),
    ) -> None:
        """``applied`` are the applies that are known, by the path of their log."""
        self._applies = applied
        self._done = {(stack_name(path, root), address)
                      for path, one in applied.items() for address, _, _ in one.steps}  # fmt: skip
        self._draft = draft
        self._estate = estate
        self._root = root
        self._account = account
        self._stacks: dict[str, str] = {}
        self._places: dict[str, Place] = {}
        self._addresses: dict[tuple[str, str], str] = {}
        self._diffs: defaultdict[str, list[tuple[str, Any, Any]]] = defaultdict(list)
        self.counts = Counts()

    def place(self, one: Dated) -> int:
        """Place one document, or a part of it; how many of its resources were read."""
        name = stack_name(one.path, self._root)
        document = one.document
        stack = self._stack(name, one)
        place = self._place(one)
        seen = Seen("declared", stack=stack)
        count = 0
        for resource in document.resources:
            self.counts.left_out["a data source, which declares nothing"] += resource.data
        for resource in managed(document.resources):
            self._resource(read_resource(resource, place), name, seen, place)
            count += 1
        for planned in document.planned:
            if not planned.resource.data:
                self._step(read_step(planned, place), name, seen, place)
                count += 1
        for what, times in document.odd.items():
            self.counts.left_out[what] += times
        return count

    def _place(self, one: Dated) -> Place:
        """Account and region of a document, those of its earlier parts where this tells none."""
        planned = (step.resource for step in one.document.planned)
        found = place_of((*one.document.resources, *planned), self._account)
        known = self._places.get(one.path, Place())
        place = Place(found.account or known.account, found.region or known.region)
        self._places[one.path] = place
        return place

    def _stack(self, name: str, one: Dated) -> str:
        if name in self._stacks:
            return self._stacks[name]
        document = one.document
        facts = {
            "terraform_version": document.version,
            "serial": document.serial if document.serial >= 0 else None,
            "lineage": document.lineage,
        }
        stack = self._draft.entity(
            "IacStack",
            name,
            name=name,
            facts={key: value for key, value in facts.items() if value not in (None, "")},
            provenance="declared",
            source=_SOURCE,
        )
        self._estate.know(stack, "IacStack", Identity("IacStack", name, Place()))
        self._stacks[name] = stack
        return stack

    def _resource(
        self, read: Read, stack: str, seen: Seen, place: Place, *, new: bool = False
    ) -> str | None:
        resource = read.resource
        if not read.known:
            self.counts.unknown[resource.type] += 1
        for part in read.parts:
            self._estate.part(part, seen, place)
        if read.parts or (
            read.known and read.record is None and resource.type not in by_declared()
        ):
            self.counts.kinds[f"part: {resource.type}"] += 1
            return None
        record = read.record or self._unidentified(read, place)
        if new and self._taken(record):
            record = self._unidentified(read, place)
        entity = self._estate.place(record, seen)
        self.counts.kinds[record.kind] += 1
        self._addresses[stack, resource.address] = entity
        told = {"address": resource.address}
        if resource.provider != "aws":
            told["provider"] = resource.provider
        for name, value in told.items():
            self._draft.fact(
                entity, name, value, since=seen.since, provenance="declared", source=_SOURCE
            )
        return entity

    def _taken(self, record: Record) -> bool:
        """Whether the name of what is to be made is that of something under another address."""
        one = record.identity
        found = self._estate.find(one.shape, one.local, one.place, one.within)
        return found is not None and found in self._addresses.values()

    def _unidentified(self, read: Read, place: Place) -> Record:
        """A record of what has no id yet: a plan knows what is to be created by its address."""
        resource = read.resource
        shape = by_declared().get(resource.type)
        fields = shape.fields(resource.attributes, declared=True) if shape else {}
        kind = shape.kind if shape else "CustomResource"
        where = place if resource.provider == "aws" else Place()
        identity = Identity(shape.name if shape else resource.type, resource.address, where)
        return Record(identity, kind, name_of(resource)[:200], "declared", fields)

    def _step(self, step: Step, stack: str, seen: Seen, place: Place) -> None:
        """A planned change: facts of what it would do, unless a log says that it was applied."""
        address = step.read.resource.address
        if step.verb in ("no-op", "read"):
            return
        entity = self._addresses.get((stack, address))
        if entity is None:
            entity = self._resource(step.read, stack, seen, place, new=step.verb == "create")
        if entity is None:  # A part: what it would do is seen on nothing of its own.
            self.counts.left_out[f"a planned {step.verb} of a part of something"] += 1
            return
        redact = self._draft.redactor.object
        old = redact({name: value for name, value, _ in step.diffs}, is_secret=False)
        new = redact({name: value for name, _, value in step.diffs}, is_secret=False)
        self._diffs[entity] += [(name, old[name], new[name]) for name in old]
        if (stack, address) in self._done:
            return
        for name, value in {
            "planned": step.verb,
            **{f"planned.{at}": new[at] for at in new},
        }.items():
            self._draft.fact(
                entity, name, value, since=seen.since, provenance="declared", source=_SOURCE
            )

    def apply(self) -> int:
        """Each apply as one change of everything it touched; the fields are those of the plan.

        How many became changes. An address that no document has is counted.
        """
        return sum(self._apply(path, one) for path, one in sorted(self._applies.items()))

    def _apply(self, path: str, applied: Applied) -> bool:
        own = stack_name(path, self._root)
        targets: list[str] = []
        for address, _, _ in applied.steps:
            found = self._addresses.get((own, address)) or self._only(address)
            if found is None:
                self.counts.left_out["an applied address that no state or plan has"] += 1
            elif found not in targets:
                targets.append(found)
        self.counts.left_out["a step of an apply that failed"] += len(applied.failed)
        if not targets:
            return False
        verbs = Counter(verb for _, verb, _ in applied.steps)
        shown = ", ".join(f"{count} {verb}" for verb, count in sorted(verbs.items()))
        names = ", ".join(address for address, _, _ in applied.steps[:_SHOWN_TARGETS])
        diffs = [(entity, name, old, new) for entity in targets
                 for name, old, new in self._diffs.get(entity, ())]  # fmt: skip
        self._draft.change(
            f"terraform:{path}:{applied.at}",
            applied.at,
            "iac_apply",
            actor="terraform",
            actor_kind="bot",
            source=_SOURCE,
            summary=f"apply of {own}: {shown} ({names})"[:300],
            targets=targets,
            diffs=diffs,
        )
        return True

    def _only(self, address: str) -> str | None:
        """The entity of an address that stands in one stack alone."""
        found = {entity for (_, known), entity in self._addresses.items() if known == address}
        return next(iter(found)) if len(found) == 1 else None
