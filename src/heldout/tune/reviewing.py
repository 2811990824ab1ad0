"""A job's reviewer: the model that the settings name, for as long as the job sits."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from heldout.behaviour import WatchedClient
from heldout.canaries import Watch
from heldout.gate.reviewer import Reviewer
from heldout.settings import Settings


@asynccontextmanager
async def reviewing(settings: Settings, watch: Watch) -> AsyncIterator[Reviewer | None]:
    """The reviewer over a client of its own; ``None`` where the settings name no model."""
    named = settings.gate
    if not named.reviewer:
        yield None
        return
    from heldout.llm import open_client

    client = open_client(
        named.reviewer,
        base_url=named.reviewer_base_url,
        role="reviewer",
        prices=settings.prices,
    )
    try:
        yield Reviewer(WatchedClient(client, watch), named.reviewer, named.objections)
    finally:
        await client.aclose()
