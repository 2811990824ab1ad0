"""Money: what a campaign has spent, and no more than its budget."""

from shared.db import pool
from shared.errors import NotFound


async def spend(campaign_id: int, cents: int) -> dict:
    """Add to what a campaign has spent; what is left afterwards."""
    connections = pool("ad_ranking")
    connection = await connections.acquire()
    try:
        changed = await connection.execute(
            "update campaigns set spent_cents = min(budget_cents, spent_cents + ?) where id = ?",
            cents,
            campaign_id,
        )
        if not changed:
            raise NotFound(f"campaign {campaign_id}")
        rows = await connection.query(
            "select budget_cents - spent_cents as left_cents from campaigns where id = ?",
            campaign_id,
        )
    finally:
        connections.release(connection)
    return {"campaign_id": campaign_id, "left_cents": rows[0]["left_cents"]}
