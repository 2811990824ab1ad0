"""Calls to other services and to partners, with a time limit and a second attempt."""

import asyncio

import host
from shared import settings
from shared.errors import ApiError


async def service(origin: str, name: str, target: str, request: dict) -> dict:
    """Ask another service; its body, or ApiError 502 when it gives none."""
    last = ""
    for _ in range(settings.CALL_ATTEMPTS):
        try:
            async with asyncio.timeout(settings.CALL_TIMEOUT_SECONDS):
                answer = await host.call(
                    "service", service=name, target=target, arguments=[request], origin=origin
                )
        except (TimeoutError, host.HostError) as error:
            last = type(error).__name__
            continue
        if answer["status"] == 200:
            return answer["body"]
        raise ApiError(answer["status"], answer["body"].get("error", "upstream"))
    raise ApiError(502, "upstream", f"{name} gave no answer ({last})")


async def partner(name: str, payload: dict) -> dict:
    """Ask a partner outside."""
    return await host.call("partner", name=name, payload=payload)
