"""Handing a message to the carrier, a few at a time."""

import asyncio

import host
from shared import calls
from shared.errors import ApiError
from shared.log import Logger
from shared.privacy import masked

AT_ONCE = 20
LIMIT_SECONDS = 1.5

log = Logger("whatsapp_sync")
permits = asyncio.Semaphore(AT_ONCE)


async def deliver(phone: str, text: str) -> str:
    """Send one message; "sent", or ApiError when the carrier does not take it."""
    await permits.acquire()
    try:
        async with asyncio.timeout(LIMIT_SECONDS):
            await calls.partner("carrier", {"to": phone, "text": text})
    except (TimeoutError, host.HostError):
        log.warn("carrier did not take a message", to=masked(phone))
        raise ApiError(502, "carrier", "the carrier did not answer") from None
    finally:
        permits.release()
    return "sent"
