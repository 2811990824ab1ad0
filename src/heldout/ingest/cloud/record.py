"""One resource as one side tells of it: who it is, what it is like, what it refers to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from heldout.ingest.cloud.forms import dig, pick, snake, tags, text
from heldout.ingest.cloud.shape import Attributes, Ref, Shape, arn_parts, shape_of_arn, shapes

Side = Literal["declared", "running"]

MAX_GENERIC_FIELDS = 30
_LONGEST_GENERIC = 500
_VOLATILE = re.compile(
    r"(?i)(user_?data|_?base64|private_?key|password|_body$|template_body|^id$|^arn$)"
)


class Place(NamedTuple):
    """Where a resource lies, as far as that is known: empty parts are unknown."""

    account: str = ""
    region: str = ""


class Identity(NamedTuple):
    """Who a resource is: its shape and id, and what that id is unique in."""

    shape: str
    local: str
    place: Place
    within: str = ""
    arn: str = ""

    def external(self) -> str:
        """An id for people and for other sources: the ARN, else the parts that are known."""
        if self.arn:
            return self.arn
        parts = (self.place.account, self.place.region, self.shape, self.within, self.local)
        return "/".join(part for part in parts if part)


class Reference(NamedTuple):
    """An edge to a resource of shape ``to`` that is known by id, name or ARN."""

    predicate: str
    to: str
    value: str
    inverse: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """What one side says of one resource. ``made_by`` names the service that made it, if any."""

    identity: Identity
    kind: str
    name: str
    side: Side
    fields: Mapping[str, Any] = field(default_factory=dict)
    references: tuple[Reference, ...] = ()
    made_by: str = ""


def read_record(
    shape: Shape,
    attributes: Attributes,
    side: Side,
    place: Place,
    named: tuple[str, str] = ("", ""),
) -> Record | None:
    """The record of one item, ``None`` where it has no id.

    ``place`` fills what the item does not say, ``named`` is an id and an ARN for one that has none.
    """
    declared = side == "declared"
    at = 0 if declared else 1
    arn = (text(dig(attributes, shape.arn[at])) if shape.arn[at] else None) or named[1]
    parts = arn_parts(arn)
    local = shape.local_id(dig(attributes, shape.id[at])) or shape.local_id(arn if parts else None)
    local = local or shape.local_id(named[0])
    if not local:
        return None
    where = _place(attributes, arn, place, regional=shape.regional)
    within = (text(dig(attributes, shape.within[at])) or "") if shape.within[at] else ""
    identity = Identity(
        shape.name, local, where, within.rsplit("/", 1)[-1], arn if arn and parts else ""
    )
    identity = identity._replace(arn=identity.arn or _made_arn(shape, identity))
    labels = tags(dig(attributes, "tags_all|tags" if declared else "tags|tag_list|tag_set")) or {}
    title = labels.get("Name") or text(dig(attributes, shape.title[at])) or local
    references = tuple(_references(shape, attributes, at))
    fields = {
        **shape.fields(attributes, declared=declared),
        **{f"refers.{snake(ref.to)}": [] for ref in shape.refs if _empty(ref, attributes, at)},
        **_referred(shape, references),
    }
    return Record(identity, shape.kind, title[:200], side, fields, references)


def _made_arn(shape: Shape, identity: Identity) -> str:
    """The ARN that follows from account, region and id, empty where a part is unknown."""
    account, region = identity.place
    if not shape.service or not shape.path or identity.within:
        return ""
    if shape.service == "s3":
        return f"arn:aws:s3:::{identity.local}"
    if not account or (shape.regional and not region) or shape.local is not None:
        return ""
    path = shape.path.replace("{id}", identity.local)
    return f"arn:aws:{shape.service}:{region if shape.regional else ''}:{account}:{path}"


def _place(attributes: Attributes, arn: str | None, given: Place, *, regional: bool) -> Place:
    parts = arn_parts(arn)
    owner = text(dig(attributes, "owner_id|owner.id|aws_account_id"))
    account = parts.account if parts else ""
    account = account or (owner if owner and re.fullmatch(r"\d{12}", owner) else "")
    region = parts.region if parts else ""
    if not region and regional:
        zone = text(dig(attributes, "availability_zone|placement.availability_zone|region"))
        region = region_of(zone) if zone else ""
    return Place(account or given.account, (region or given.region) if regional else "")


_REGION = re.compile(r"((?:[a-z]{2,3}|us-gov|us-iso[a-z]?)-[a-z]+(?:-[a-z]+)?-\d)(?:[a-z])?")


def region_of(value: str) -> str:
    """The region of a zone or a region's name, empty where it is neither."""
    match = _REGION.fullmatch(value)
    return match[1] if match else ""


def _references(shape: Shape, attributes: Attributes, at: int) -> Iterator[Reference]:
    for ref in shape.refs:
        path = ref.declared if at == 0 else ref.running
        found = dig(attributes, path) if path else None
        for value in found if isinstance(found, list) else [found]:
            word = text(value)
            if word:
                yield Reference(ref.predicate, ref.to, word, ref.inverse)


def _empty(ref: Ref, attributes: Attributes, at: int) -> bool:
    """Whether the list that a reference is read from is there and holds nothing."""
    path = ref.declared if at == 0 else ref.running
    return ref.told and bool(path) and dig(attributes, path) == []


def _referred(shape: Shape, references: tuple[Reference, ...]) -> dict[str, list[str]]:
    """What is referred to as a field, by the shape referred to, so that it can be compared."""
    untold = {ref.to for ref in shape.refs if not ref.told}
    found: dict[str, set[str]] = {}
    for one in references:
        if one.to in untold:
            continue
        target = shapes().get(one.to)
        local = target.local_id(one.value) if target else one.value
        found.setdefault(f"refers.{snake(one.to)}", set()).add(local)
    return {name: sorted(values) for name, values in sorted(found.items())}


_HOLDERS = {
    "vpc_id": "Vpc", "subnet_id": "Subnet", "bucket": "Bucket", "cluster_name": "EksCluster",
    "function_name": "Function", "instance_id": "VmInstance", "security_group_id": "SecurityGroup",
    "load_balancer_arn": "LoadBalancer", "user": "IamUser", "queue_url": "Queue",
}  # fmt: skip
"""Attributes by which a thing of any type says what it is part of."""


def tagged_record(attributes: Attributes, place: Place) -> Record | None:
    """A record of what an answer about tags names by its ARN: that it is there, and its tags."""
    arn = text(pick(attributes, "resource_arn"))
    parts = arn_parts(arn)
    if arn is None or parts is None:
        return None
    shape = shape_of_arn(arn)
    if shape is not None:
        return read_record(shape, {"tags": pick(attributes, "tags")}, "running", place, ("", arn))
    kind = re.split(r"[:/]", arn.split(":", 5)[5])[0]
    named = {"arn": arn, "id": arn, "tags": pick(attributes, "tags")}
    return generic_record(f"{parts.service}:{kind}"[:80], named, "running", place)


def generic_record(type_: str, attributes: Attributes, side: Side, place: Place) -> Record | None:
    """A record of a type that no shape knows: its plain fields, ``None`` where it has no id."""
    arn = text(dig(attributes, "arn|load_balancer_arn")) or ""
    identifier = text(pick(attributes, "id")) or text(pick(attributes, "name"))
    parts = arn_parts(arn) or arn_parts(identifier)
    if not parts and not identifier:
        return None
    found = arn if arn_parts(arn) else identifier if arn_parts(identifier) else ""
    where = _place(attributes, found, place, regional=True)
    identity = Identity(type_, identifier or arn, where, "", found or "")
    fields = {
        snake(key): value
        for key, value in attributes.items()
        if isinstance(key, str)
        and isinstance(value, str | int | float | bool)
        and not _VOLATILE.search(key)
        and len(str(value)) <= _LONGEST_GENERIC
        and value != ""
    }
    kept = dict(sorted(fields.items())[:MAX_GENERIC_FIELDS])
    labels = tags(dig(attributes, "tags_all|tags")) or {}
    title = labels.get("Name") or text(pick(attributes, "name")) or identity.local
    references = tuple(
        Reference("part_of", shape, word)
        for name, shape in _HOLDERS.items()
        if (word := text(pick(attributes, name)))
    )
    return Record(identity, "CustomResource", title[:200], side, kept, references)
