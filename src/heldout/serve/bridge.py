"""MCP over stdio for clients that cannot speak HTTP: ``python -m heldout.serve.bridge URL``.

Messages are handed on unread, in both directions, until either side ends.
"""

from __future__ import annotations

import sys
from typing import Any

import anyio
from mcp.client.streamable_http import streamablehttp_client
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage


async def bridge(url: str) -> None:
    """Join this process's standard input and output to the server at ``url``."""
    async with (
        streamablehttp_client(url) as (from_server, to_server, _),
        stdio_server() as (from_client, to_client),
        anyio.create_task_group() as both,
    ):

        async def pump(source: Any, target: Any) -> None:
            async for message in source:
                if isinstance(message, SessionMessage):
                    await target.send(message)
            both.cancel_scope.cancel()

        both.start_soon(pump, from_client, to_server)
        both.start_soon(pump, from_server, to_client)


if __name__ == "__main__":
    anyio.run(bridge, sys.argv[1])
