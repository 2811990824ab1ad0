"""Endpoints of whatsapp_sync."""

from shared import calls, clock
from shared.api import endpoint, required
from shared.db import pool
from shared.errors import ApiError, NotFound
from shared.log import Logger
from shared.privacy import public
from whatsapp_sync import delivery, messages, people, retention, templates

log = Logger("whatsapp_sync")


@endpoint("whatsapp_sync")
async def send(request: dict) -> dict:
    """Send a person the message of a campaign."""
    user = await people.load(required(request, "user_id", int))
    campaign = await _campaign(required(request, "campaign_id", int))
    template = await templates.load(campaign["template_id"])
    if template.needs_consent and not user["consent"]:
        raise ApiError(409, "no_consent", "this person did not agree to offers")
    ads = await calls.service(
        "whatsapp_sync",
        "ad_ranking",
        "ad_ranking.service:rank",
        {"user_id": user["id"], "placement": "message", "limit": 1},
    )
    text = template.filled(title=campaign["name"], ads=str(len(ads["ads"])))
    state = await delivery.deliver(user["phone"], text)
    number = await messages.record(user["id"], campaign["id"], state)
    return {"message_id": number, "state": state, "user": public(user)}


@endpoint("whatsapp_sync")
async def sent(request: dict) -> dict:
    """How many messages of a campaign were sent in the last hours."""
    campaign_id = required(request, "campaign_id", int)
    hours = float(request.get("hours", 1))
    return {"sent": await messages.sent_since(campaign_id, clock.hours_ago(hours))}


@endpoint("whatsapp_sync")
async def profile(request: dict) -> dict:
    """What support may see of a person."""
    return {"user": public(await people.load(required(request, "user_id", int)))}


@endpoint("whatsapp_sync")
async def clean(request: dict) -> dict:
    """The nightly clean-up."""
    return {"deleted": await retention.clean()}


async def _campaign(campaign_id: int) -> dict:
    async with pool("whatsapp_sync").connection() as connection:
        rows = await connection.query(
            "select id, name, template_id from campaigns where id = ?", campaign_id
        )
    if not rows:
        raise NotFound(f"campaign {campaign_id}")
    return rows[0]
