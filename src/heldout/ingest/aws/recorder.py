"""Items of the configuration recorder: one resource as it was found at one time.

They come as a snapshot, as a history, from ``get-resource-config-history``,
``batch-get-resource-config`` or ``select-resource-config``, and inside notifications.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from heldout.ingest.cloud.forms import pick, text
from heldout.ingest.cloud.record import Place, Record, generic_record, read_record
from heldout.ingest.cloud.shape import arn_parts, by_recorded
from heldout.ingest.moments import moment

_LISTS = ("configurationItems", "baseConfigurationItems", "BaseConfigurationItems")
_TEXTS = ("invokingEvent", "Message", "message")
_INSIDE = ("detail", "configurationItemSummary")
_GONE = ("ResourceDeleted", "ResourceDeletedNotRecorded", "ResourceNotRecorded")
MAX_DEPTH = 4


class Moment(NamedTuple):
    """A resource at one time (microseconds, ``None`` where it is not told); gone: no record."""

    type: str
    arn: str
    local: str
    place: Place
    at: int | None
    gone: bool
    attributes: Mapping[str, Any]
    related: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str]:
        """What the moments of one resource share."""
        return (self.arn, "") if self.arn else (self.type, self.local)


def holds_items(raw: Any) -> bool:
    """Whether a document is of the configuration recorder."""
    return next(items_of(raw), None) is not None


def items_of(raw: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """Every configuration item of a document, however it is wrapped."""
    if isinstance(raw, str):
        raw = _decoded(raw)
    if isinstance(raw, list):
        for one in raw if depth < MAX_DEPTH else ():
            yield from items_of(one, depth + 1)
    if not isinstance(raw, Mapping) or depth > MAX_DEPTH:
        return
    if isinstance(raw.get("resourceType"), str) and _is_item(raw):
        yield raw
        return
    for key in _LISTS:
        yield from (one for one in _listed(raw, key) if isinstance(one, Mapping))
    item = raw.get("configurationItem")
    if isinstance(item, Mapping):
        yield item
    for one in _listed(raw, "Results"):
        yield from items_of(one, depth + 1)
    for key in (*_TEXTS, *_INSIDE):
        if key in raw and item is None:
            yield from items_of(raw[key], depth + 1)


def _listed(raw: Mapping[str, Any], key: str) -> list[Any]:
    value = raw.get(key)
    return value if isinstance(value, list) else []


def _is_item(raw: Mapping[str, Any]) -> bool:
    return any(name in raw for name in ("configuration", "configurationItemStatus", "resourceId",
                                        "configurationItemCaptureTime"))  # fmt: skip


def _decoded(raw: str) -> Any:
    try:
        return json.loads(raw) if raw.lstrip()[:1] in ("{", "[") else None
    except (ValueError, RecursionError):
        return None


def read_moment(item: Mapping[str, Any], given: Place) -> Moment | None:
    """One configuration item, ``None`` where it says nothing of what it is."""
    type_ = text(item.get("resourceType"))
    arn = text(pick(item, "arn")) or ""
    local = text(item.get("resourceName")) or text(item.get("resourceId")) or ""
    if not type_ or not (arn or local):
        return None
    account = text(item.get("awsAccountId")) or text(item.get("accountId")) or ""
    region = text(item.get("awsRegion")) or ""
    place = Place(account or given.account, "" if region == "global" else region or given.region)
    related = item.get("relatedEvents")
    return Moment(
        type=type_,
        arn=arn if arn_parts(arn) else "",
        local=local,
        place=place,
        at=moment(item.get("configurationItemCaptureTime")),
        gone=text(item.get("configurationItemStatus")) in _GONE,
        attributes=_attributes(item),
        related=tuple(str(one) for one in related[:20]) if isinstance(related, list) else (),
    )


def _attributes(item: Mapping[str, Any]) -> Mapping[str, Any]:
    configuration = _opened(item.get("configuration"))
    extra = item.get("supplementaryConfiguration")
    found: dict[str, Any] = dict(configuration) if isinstance(configuration, Mapping) else {}
    if isinstance(extra, Mapping):
        found["supplementary"] = {str(key): _opened(value) for key, value in extra.items()}
    if item.get("tags"):
        found["tags"] = item["tags"]
    return found


def _opened(value: Any) -> Any:
    """A value that some answers give as JSON text."""
    if isinstance(value, str):
        decoded = _decoded(value)
        return value if decoded is None else decoded
    return value


def record_of(one: Moment) -> Record | None:
    """The record of a moment; one that is gone is known by its identity alone."""
    attributes = {**one.attributes, "arn": one.arn} if one.arn else one.attributes
    shape = by_recorded().get(one.type)
    if shape is not None:
        return read_record(shape, attributes, "running", one.place, named=(one.local, one.arn))
    return generic_record(one.type, {"id": one.local, **attributes}, "running", one.place)
