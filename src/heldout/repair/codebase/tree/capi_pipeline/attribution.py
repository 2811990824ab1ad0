"""Which campaigns the purchases of a window belong to."""

from shared import clock
from shared.db import pool

LOOKBACK_DAYS = 7


async def purchases(campaign_id: int, hours: float) -> dict:
    """Purchases of the last ``hours`` by people who clicked within the days before."""
    since, until = clock.hours_ago(hours), clock.now()
    async with pool("capi_pipeline").connection() as connection:
        rows = await connection.query(
            "select count(*) as purchases, coalesce(sum(e.value_cents), 0) as value_cents"
            " from events e where e.kind = 'purchase' and e.campaign_id = ?"
            " and e.at > ? and e.at <= ? and exists (select 1 from events c"
            " where c.kind = 'click' and c.user_hash = e.user_hash"
            " and c.campaign_id = e.campaign_id and c.at <= e.at and c.at > e.at - ?)",
            campaign_id,
            since,
            until,
            LOOKBACK_DAYS * clock.DAY,
        )
    return {"campaign_id": campaign_id, **rows[0]}
