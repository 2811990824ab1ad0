"""The cloud resources of a draft that began with a world, so that further material joins them."""

from __future__ import annotations

from collections.abc import Iterator

from heldout.ingest.cloud.joining import Estate
from heldout.ingest.cloud.record import Identity, Place, Side
from heldout.ingest.draft import WorldDraft


def estate_of(draft: WorldDraft) -> Estate:
    """An estate that knows every resource which an earlier import put into the draft."""
    estate = Estate(draft)
    for entity in draft.find():
        shape = draft.value(entity, "cloud_type")
        local = draft.value(entity, "cloud_id")
        if isinstance(shape, str) and isinstance(local, str):
            place = Place(_text(draft, entity, "account"), _text(draft, entity, "region"))
            within = _text(draft, entity, "cloud_within")
            identity = Identity(shape, local, place, within, _text(draft, entity, "arn"))
            estate.know(entity, draft.kind(entity), identity, _sides(draft, entity))
    return estate


def _text(draft: WorldDraft, entity: str, field: str) -> str:
    found = draft.value(entity, field)
    return found if isinstance(found, str) else ""


def _sides(draft: WorldDraft, entity: str) -> Iterator[Side]:
    """Who told of it before: only a state gives an address, only an inventory observes a type."""
    if draft.value(entity, "address", "declared") is not None:
        yield "declared"
    if draft.value(entity, "cloud_type", "observed") is not None:
        yield "running"
