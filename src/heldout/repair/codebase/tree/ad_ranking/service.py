"""Endpoints of ad_ranking."""

from ad_ranking import budget, candidates, features
from ad_ranking import explain as explaining
from ad_ranking.scoring import best
from shared.api import endpoint, required
from shared.errors import Invalid
from shared.log import Logger

log = Logger("ad_ranking")

MAX_ADS = 10


@endpoint("ad_ranking")
async def rank(request: dict) -> dict:
    """The ads for a user at a placement."""
    user_id = required(request, "user_id", int)
    placement = required(request, "placement", str)
    limit = min(int(request.get("limit", 3)), MAX_ADS)
    if limit < 1:
        raise Invalid("limit must be at least 1")
    record = await features.load(user_id)
    found = await candidates.load(placement)
    ads = best(record, found, limit)
    if not ads:
        log.warn("no ads to show", placement=placement, candidates=len(found))
    return {"ads": ads, "candidates": len(found)}


@endpoint("ad_ranking")
async def explain(request: dict) -> dict:
    """Why somebody sees what they see."""
    return await explaining.reasons(
        required(request, "user_id", int), required(request, "segment", str)
    )


@endpoint("ad_ranking")
async def spend(request: dict) -> dict:
    """Book what a shown ad cost."""
    cents = required(request, "cents", int)
    if cents < 0:
        raise Invalid("cents must not be negative")
    return await budget.spend(required(request, "campaign_id", int), cents)
