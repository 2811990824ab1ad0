"""Answers of describe and list calls: which items they hold, and of which shape."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from heldout.ingest.cloud.forms import dig, host, pick, snake, text
from heldout.ingest.cloud.identity import record_id
from heldout.ingest.cloud.parts import LISTED_PARTS
from heldout.ingest.cloud.record import Place, region_of
from heldout.ingest.cloud.shape import arn_parts, by_listed

MAX_DEPTH = 4

_ZONE = re.compile(r"(?<![A-Z0-9])Z[A-Z0-9]{7,31}(?![A-Z0-9])")
_ACCOUNT = re.compile(r"(?<!\d)(\d{12})(?!\d)")
_PAGED = ("NextToken", "nextToken", "NextMarker", "Marker", "IsTruncated", "NextRecordName")
_BARE = {
    "QueueUrls": ("QueueUrls", "queue_url"), "TableNames": ("Table", "table_name"),
    "clusters": ("cluster", "name"),
}  # fmt: skip
"""Keys of lists of names: what is listed, and the key that its name stands under elsewhere."""
_PLAIN = frozenset({"ResponseMetadata", "Owner", "ConsistencyToken", "RequestId", "Records"})
_WRAPPERS = frozenset({"DistributionList"})
_EVENT = frozenset({"eventName", "eventSource", "eventVersion", "detail-type"})
"""Keys of events: what they carry was asked or answered then, and is no inventory."""
_ITEMS = (
    ("ApiId", "Apis"), ("apiKeySource", "rest_apis"), ("endpointConfiguration", "rest_apis"),
    ("DistributionConfig", "distributions"), ("DomainName", "distributions"),
)  # fmt: skip


class Hint(NamedTuple):
    """What the path of a file says of the answers in it; ``zone`` is a DNS zone's id."""

    place: Place = Place()
    zone: str = ""
    key: str = ""


class Item(NamedTuple):
    """One item of an answer. ``key`` is what it was listed under."""

    key: str
    attributes: Mapping[str, Any]
    place: Place


class Listed(NamedTuple):
    """A key that was asked for and answered: what it does not hold does not run there."""

    key: str
    place: Place
    whole: bool


Found = Item | Listed


def hint_of(path: str, account: str = "") -> Hint:
    """Account, region, zone and kind of answer that a path such as
    ``123456789012/eu-west-1/describe-vpcs.json`` tells; what it does not tell is empty."""
    parts = PurePosixPath(path).parts
    stem = PurePosixPath(path).name.split(".")[0]
    accounts = [match[1] for part in parts if (match := _ACCOUNT.search(part))]
    regions = [
        found
        for part in parts
        for word in (part.split(".")[0], *re.split(r"[_.]", part))
        if (found := region_of(word.lower()))
    ]
    zones = [match[0] for part in parts if (match := _ZONE.search(part))]
    place = Place(accounts[-1] if accounts else account, regions[-1] if regions else "")
    return Hint(place, zones[-1] if zones else "", _key_of(stem))


def _key_of(stem: str) -> str:
    """The key whose answer a file of this name holds: ``ec2-describe-vpcs`` has ``Vpcs``."""
    words = re.sub(r"[^a-z0-9]", "", stem.lower())
    keys = [key for key in by_listed() if words.endswith(key.lower().replace("_", ""))]
    return max(keys, key=len, default="")


def read_answer(raw: Any, hint: Hint, depth: int = 0) -> Iterator[Found]:
    """Every item of one answer, in order; several answers may lie in a map by region or account."""
    if isinstance(raw, list):
        if hint.key:
            yield from _list(hint.key, raw, hint, whole=False)
        else:
            yield from _by_arn(raw, hint)
        return
    if not isinstance(raw, Mapping) or depth > MAX_DEPTH or _EVENT & raw.keys():
        return
    whole = not any(raw.get(key) for key in _PAGED)
    for key, value in raw.items():
        if not isinstance(key, str) or key in _PLAIN:
            continue
        if key == "Reservations" and isinstance(value, list):
            yield from _list("Instances", list(_instances(value)), hint, whole=whole)
        elif key in ("items", "Items") and isinstance(value, list):
            yield from _list(_items_key(value), value, hint, whole=whole)
        elif key == "Attributes" and isinstance(value, Mapping):
            yield from _attributes(value, hint)
        elif isinstance(value, list):
            yield from _list(key, value, hint, whole=whole)
        elif isinstance(value, Mapping) and key in by_listed():
            yield Item(key, value, hint.place)
        elif isinstance(value, Mapping) and (key in _WRAPPERS or _names_place(key)):
            yield from read_answer(value, _inside(key, hint), depth + 1)


def _names_place(key: str) -> bool:
    return bool(_ACCOUNT.fullmatch(key) or region_of(key))


def _inside(key: str, hint: Hint) -> Hint:
    """The hint inside a map by account or region."""
    account, region = _ACCOUNT.fullmatch(key), region_of(key)
    place = hint.place
    if account:
        place = place._replace(account=key)
    if region:
        place = place._replace(region=region)
    return hint._replace(place=place)


def _instances(reservations: list[Any]) -> Iterator[Mapping[str, Any]]:
    for one in reservations:
        owner = text(pick(one, "owner_id"))
        for instance in pick(one, "instances") or ():
            if isinstance(instance, Mapping):
                yield {**instance, "OwnerId": owner} if owner else instance


def _items_key(items: list[Any]) -> str:
    first = next((one for one in items if isinstance(one, Mapping)), {})
    return next((key for name, key in _ITEMS if name in first), "items")


def _attributes(value: Mapping[str, Any], hint: Hint) -> Iterator[Item]:
    """What is asked of one queue or topic comes without its name, but with its ARN."""
    if "QueueArn" in value:
        yield Item("QueueUrls", value, hint.place)
    elif "TopicArn" in value:
        yield Item("Topics", value, hint.place)


def _list(key: str, items: list[Any], hint: Hint, *, whole: bool) -> Iterator[Found]:
    if items and all(isinstance(one, str) for one in items):
        if key in _BARE:
            named, field = _BARE[key]
            yield Listed(named, hint.place, whole)
            yield from (Item(named, {field: one}, hint.place) for one in items)
        return
    if key in by_listed():
        yield Listed(key, hint.place, whole)
    elif key not in LISTED_PARTS and not any(isinstance(one, Mapping) for one in items):
        return
    if key == "LaunchTemplateVersions":
        items = _newest(items)
    apex = _apex(items) if key == "ResourceRecordSets" else ""
    for one in items:
        if isinstance(one, Mapping):
            yield Item(key, _record(one, apex, hint) if apex else one, hint.place)


def _newest(items: list[Any]) -> list[Any]:
    """Of every template its newest version: that is what a state holds."""
    best: dict[str, tuple[int, Any]] = {}
    for one in items:
        version = pick(one, "version_number")
        key, order = (
            str(pick(one, "launch_template_id")),
            version if isinstance(version, int) else 0,
        )
        if key not in best or order > best[key][0]:
            best[key] = (order, one)
    return [one for _, one in best.values()]


def _apex(items: list[Any]) -> str:
    """The name that a zone is of: that of its SOA record, else the shortest."""
    names = [(text(pick(one, "type")) != "SOA", host(pick(one, "name")) or "") for one in items]
    return min(names, key=lambda one: (one[0], len(one[1])), default=(True, "."))[1] or "."


def _record(one: Mapping[str, Any], apex: str, hint: Hint) -> Mapping[str, Any]:
    name = host(pick(one, "name")) or ""
    return {**one, **record_id(name, one), "_zone": hint.zone, "_apex": name == apex}


def _by_arn(items: list[Any], hint: Hint) -> Iterator[Item]:
    """Items of a bare list: each goes by the key whose id or ARN it has."""
    for one in items:
        if not isinstance(one, Mapping):
            continue
        keys = [
            key
            for key, shape in by_listed().items()
            if (value := dig(one, shape.arn[1]))
            and (parts := arn_parts(value))
            and parts.service == shape.service
            and shape.arn[1] != "arn"
        ]
        own = [key for key, shape in by_listed().items() if _first_key(one) == shape.id[1]]
        yield Item((own or keys or [""])[0], one, hint.place)


def _first_key(one: Mapping[str, Any]) -> str:
    """The first id of an item: what lists call ``VpcId`` or ``SubnetId`` says what it is of."""
    return next((snake(str(key)) for key in one if str(key).endswith(("Id", "Identifier"))), "")
