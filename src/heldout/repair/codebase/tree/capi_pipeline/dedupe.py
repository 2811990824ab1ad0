"""The same event twice counts once: senders repeat what they got no answer to."""

from shared import cache

LIFETIME_SECONDS = 600


async def fresh(events: list[dict]) -> list[dict]:
    """The events not seen lately, in order."""
    kept: list[dict] = []
    for one in events:
        key = f"event:{one['id']}"
        if await cache.get(key) is None:
            await cache.put(key, {"kind": one["kind"], "at": one["at"]}, LIFETIME_SECONDS)
            kept.append(one)
    return kept
