"""Endpoints of capi_pipeline."""

from capi_pipeline import attribution, campaigns, dedupe, normalize, sink
from shared.api import endpoint, required
from shared.errors import ApiError, Invalid
from shared.log import Logger

log = Logger("capi_pipeline")

MAX_EVENTS = 50


@endpoint("capi_pipeline")
async def ingest(request: dict) -> dict:
    """Take events of an advertiser; how many were kept, repeated and refused."""
    raw = required(request, "events", list)
    if len(raw) > MAX_EVENTS:
        raise Invalid(f"at most {MAX_EVENTS} events")
    events: list[dict] = []
    refused = 0
    known = await campaigns.known()
    for one in raw:
        try:
            event = normalize.event(one)
        except (ApiError, KeyError, ValueError, TypeError):
            refused += 1
            continue
        if event["campaign_id"] in known:
            events.append(event)
        else:
            refused += 1
    fresh = await dedupe.fresh(events)
    kept = await sink.write(fresh)
    if refused:
        log.warn("events refused", refused=refused, received=len(raw))
    return {"kept": kept, "repeated": len(events) - len(fresh), "refused": refused}


@endpoint("capi_pipeline")
async def purchases(request: dict) -> dict:
    """Purchases that a campaign brought lately."""
    hours = float(request.get("hours", 24))
    return await attribution.purchases(required(request, "campaign_id", int), hours)
