"""Where events are kept."""

from shared.db import pool

COLUMNS = ("id", "user_hash", "campaign_id", "kind", "at", "value_cents")


async def write(events: list[dict]) -> int:
    """Keep events; how many were new."""
    if not events:
        return 0
    connections = pool("capi_pipeline")
    connection = await connections.acquire()
    written = 0
    try:
        for one in events:
            written += await connection.execute(
                f"insert or ignore into events ({', '.join(COLUMNS)}) values (?, ?, ?, ?, ?, ?)",
                *(one[name] for name in COLUMNS),
            )
    finally:
        connections.release(connection)
    return written
