"""One message to one address, with few tries and little time: a hook that is away costs a job
seconds and never its result. The address may be a secret, so no answer repeats it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx2

TRIES = 3
SECONDS = 5.0
"""Seconds of one try."""
TOTAL = 20.0
"""Seconds of all tries and the pauses between them."""
PAUSE = 0.5
"""Seconds before the second try; each later pause is twice the one before."""
_AGAIN = frozenset({408, 425, 429})


async def post(url: str, message: Mapping[str, Any]) -> str:
    """Send a message as JSON; returns why it was not delivered, empty where it was.

    Tried again: connections that fail, time-outs, 408, 425, 429 and 5xx. Redirects are not
    followed: an address that moved is to be corrected.
    """
    if not _is_address(url):
        return "it is not an http or https address"
    try:
        async with asyncio.timeout(TOTAL), httpx2.AsyncClient(timeout=SECONDS) as client:
            return await _tried(client, url, message)
    except TimeoutError:
        return f"no answer within {TOTAL:g} s"
    except Exception as error:  # noqa: BLE001 - the boundary: whatever a hook does, the job goes on
        return type(error).__name__


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


async def _tried(client: httpx2.AsyncClient, url: str, message: Mapping[str, Any]) -> str:
    failure = ""
    for number in range(TRIES):
        if number:
            await asyncio.sleep(PAUSE * 2 ** (number - 1))
        try:
            answer = await client.post(url, json=dict(message))
        except (httpx2.HTTPError, OSError) as error:
            failure = f"{type(error).__name__} after {number + 1} tries"
            continue
        if answer.is_success:
            return ""
        failure = f"it answered {answer.status_code} after {number + 1} tries"
        if answer.status_code < 500 and answer.status_code not in _AGAIN:
            return failure
    return failure
