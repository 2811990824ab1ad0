"""From the resources of a state or plan to records, parts and planned steps."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from heldout.ingest.cloud.forms import dig, host, text
from heldout.ingest.cloud.identity import record_id
from heldout.ingest.cloud.parts import DECLARED_PARTS, Part
from heldout.ingest.cloud.record import Place, Record, generic_record, read_record, region_of
from heldout.ingest.cloud.shape import arn_parts, by_declared
from heldout.ingest.terraform.document import Planned, Resource

LOCAL_PROVIDERS = frozenset(
    {"null", "random", "local", "tls", "time", "template", "archive", "external", "terraform",
     "http", "cloudinit"}
)  # fmt: skip
"""Providers whose resources live in the state alone: nothing could run as their counterpart."""

_NAMED = ("domain_name", "fqdn", "name")


class Read(NamedTuple):
    """One resource as a record, or as parts of others; ``known`` says whether a shape fits."""

    resource: Resource
    record: Record | None
    parts: tuple[Part, ...]
    known: bool


def place_of(resources: Iterable[Resource], account: str = "") -> Place:
    """Account and region of a state where all of its ARNs agree on them, else empty parts."""
    accounts: Counter[str] = Counter()
    regions: Counter[str] = Counter()
    for one in resources:
        parts = None if one.data else arn_parts(text(dig(one.attributes, "arn")) or "")
        if parts:
            accounts.update([parts.account] * bool(parts.account and parts.account != "aws"))
            regions.update([parts.region] * bool(region_of(parts.region)))
    own = next(iter(accounts)) if len(accounts) == 1 else account if not accounts else ""
    return Place(own, next(iter(regions)) if len(regions) == 1 else "")


def read_resource(resource: Resource, place: Place) -> Read:
    """The record or the parts of one managed resource.

    One with neither ARN nor id, as a plan has those that are to be created, goes by its address.
    """
    attributes = with_derived(resource)
    shape = by_declared().get(resource.type)
    if shape is not None:
        record = read_record(shape, attributes, "declared", place)
        return Read(resource, record, (), True)
    parts = DECLARED_PARTS.get(resource.type)
    if parts is not None:
        return Read(resource, None, tuple(parts(attributes)), True)
    where = place if resource.provider == "aws" else Place()
    record = generic_record(resource.type, attributes, "declared", where)
    return Read(resource, record, (), False)


def with_derived(resource: Resource) -> Mapping[str, Any]:
    """The attributes with the id that a record in a zone goes by: name, type and set."""
    attributes = resource.attributes
    if resource.type != "aws_route53_record":
        return attributes
    name = host(dig(attributes, "fqdn|name")) or ""
    return {**attributes, **record_id(name, attributes)}


class Step(NamedTuple):
    """What a plan means to do to one resource: verbs and the fields that would change."""

    read: Read
    verb: str
    diffs: tuple[tuple[str, Any, Any], ...]


_VERBS = {
    ("create",): "create", ("update",): "update", ("delete",): "delete", ("no-op",): "no-op",
    ("read",): "read", ("delete", "create"): "replace", ("create", "delete"): "replace",
    ("forget",): "forget",
}  # fmt: skip


def read_step(one: Planned, place: Place) -> Step:
    """One planned change, its fields in the common form; what is not known yet is left out."""
    verb = _VERBS.get(one.actions, "+".join(one.actions) or "no-op")
    read = read_resource(one.resource, place)
    old, new = (_fields(one.resource, side, place) for side in (one.before, one.after))
    if verb not in ("update", "replace"):
        return Step(read, verb, ())
    old, new = {**_plain(one, one.before), **old}, {**_plain(one, one.after), **new}
    names = sorted(old.keys() & new.keys())
    return Step(read, verb, tuple((at, old[at], new[at]) for at in names if old[at] != new[at]))


def _plain(one: Planned, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes with a plain value that no field of the shape is read from, by their own names."""
    shape = by_declared().get(one.resource.type)
    read = {step.split(".")[0] for trait in (shape.traits if shape else ())
            for step in trait.declared.split("|")}  # fmt: skip
    return {
        name: value
        for name, value in attributes.items()
        if name not in read and isinstance(value, str | int | float | bool)
    }


def _fields(resource: Resource, attributes: Mapping[str, Any], place: Place) -> Mapping[str, Any]:
    if not attributes:
        return {}
    shape = by_declared().get(resource.type)
    if shape is not None:
        return shape.fields(attributes, declared=True)
    record = generic_record(
        resource.type, {"id": resource.address, **attributes}, "declared", place
    )
    return record.fields if record else {}


def name_of(resource: Resource) -> str:
    """A name for people: that of the attributes, else of the address."""
    for key in _NAMED:
        found = text(resource.attributes.get(key))
        if found:
            return found
    return re.sub(r"^(module\.[^.]+\.)*", "", resource.address)


def managed(resources: Iterable[Resource]) -> Iterator[Resource]:
    """The resources that a document declares; what it only reads is left out."""
    return (one for one in resources if not one.data)
