"""The nightly clean-up: creatives that ended long ago are not kept."""

from shared import clock
from shared.db import pool
from shared.log import Logger

KEPT_DAYS = 30

log = Logger("whatsapp_sync")


async def clean() -> int:
    """Delete creatives that ended more than some days ago; how many."""
    async with pool("whatsapp_sync").connection() as connection:
        gone = await connection.execute(
            "delete from creatives where ended_at is not null and ended_at < ?",
            clock.now() - KEPT_DAYS * clock.DAY,
        )
    log.info("clean-up done", creatives=gone)
    return gone
