"""Which campaigns there are: events of others are not kept."""

from shared import cache
from shared.db import pool

LIFETIME_SECONDS = 30


async def known() -> set[int]:
    """The ids of all campaigns."""
    kept = await cache.get("campaigns:ids")
    if kept is None:
        async with pool("capi_pipeline").connection() as connection:
            rows = await connection.query("select id from campaigns order by id")
        kept = [row["id"] for row in rows]
        await cache.put("campaigns:ids", kept, LIFETIME_SECONDS)
    return set(kept)
