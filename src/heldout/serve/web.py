"""A sitting over HTTP on the loopback device: MCP, and the endpoints that SREGym has."""

from __future__ import annotations

import asyncio
import socket

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from heldout.serve.protocol import mcp_server
from heldout.serve.sitting import Sitting, Write
from heldout.serve.sregym import routes

HOST = "127.0.0.1"
_LINGER = 2.0


class _Endpoint:
    """The MCP endpoint as an ASGI application of its own."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._manager.handle_request(scope, receive, send)


async def serve_http(sitting: Sitting, write: Write, stop: asyncio.Event) -> None:
    """Serve until ``stop`` is set; the record says first on which port."""
    told = sitting.assignment
    listening = socket.create_server((HOST, told.port))
    port = listening.getsockname()[1]
    names = [f"{HOST}:{port}", f"localhost:{port}"]
    manager = StreamableHTTPSessionManager(
        mcp_server(sitting),
        security_settings=TransportSecuritySettings(
            allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names]
        ),
    )
    app = Starlette(
        routes=[
            Route(f"{told.prefix}/mcp", endpoint=_Endpoint(manager)),
            *(routes(sitting) if told.sregym else ()),
        ]
    )
    server = uvicorn.Server(
        uvicorn.Config(
            app, log_level="error", lifespan="off", timeout_graceful_shutdown=int(_LINGER),
            access_log=False,
        )
    )  # fmt: skip
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    async with manager.run():
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.started and not serving.done():
            await asyncio.sleep(0.005)
        write({"kind": "ready", "port": port})
        await asyncio.wait(
            [serving, asyncio.create_task(stop.wait())], return_when=asyncio.FIRST_COMPLETED
        )
        server.should_exit = True
        await asyncio.wait([serving], timeout=_LINGER)
        server.force_exit = True
        await serving
