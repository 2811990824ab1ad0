"""What was sent, kept for support and for counting."""

from shared import clock
from shared.db import pool


async def record(user_id: int, campaign_id: int, state: str) -> int:
    """Keep a message's state; its id."""
    connections = pool("whatsapp_sync")
    connection = await connections.acquire()
    try:
        await connection.execute(
            "insert into messages (user_id, campaign_id, state, at) values (?, ?, ?, ?)",
            user_id,
            campaign_id,
            state,
            clock.now(),
        )
        rows = await connection.query("select max(id) as id from messages")
    finally:
        connections.release(connection)
    return rows[0]["id"]


async def sent_since(campaign_id: int, since: int) -> int:
    """How many messages of a campaign were sent since then."""
    async with pool("whatsapp_sync").connection() as connection:
        rows = await connection.query(
            "select count(*) as sent from messages"
            " where campaign_id = ? and state = 'sent' and at >= ?",
            campaign_id,
            since,
        )
    return rows[0]["sent"]
