"""Who a message goes to."""

from shared.db import pool
from shared.errors import NotFound


async def load(user_id: int) -> dict:
    """A user with phone and consent, or NotFound."""
    async with pool("whatsapp_sync").connection() as connection:
        rows = await connection.query(
            "select id, email, phone, region, consent from users where id = ?", user_id
        )
    if not rows:
        raise NotFound(f"user {user_id}")
    return rows[0]
