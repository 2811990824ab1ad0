"""What stands before the routes: pages of other origins, frames that are no message.

Both are plain ASGI, so that they hold for routes that a framework brings as for our own.
"""

from __future__ import annotations

import json
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY_VIOLATION = 1008


class SameOrigin:
    """Refuses what a browser sends from a page of another origin.

    A browser names the page's origin with every WebSocket and every POST, and keeps no page from
    opening a WebSocket to this machine. What is no browser sends none and is let through.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer 403."""
        if scope["type"] not in ("http", "websocket") or _same(Headers(scope=scope)):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        else:
            refused = {"what": "a page of another origin asks", "mend": "Ask from a program"}
            await JSONResponse({"error": refused}, status_code=403)(scope, receive, send)


class Frames:
    """Answers a WebSocket frame that is no JSON object, and keeps it from the framework.

    OpenEnv ends the session for a list, for bytes and for nesting beyond its parser, and tells the
    exception's text.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on messages; other frames are answered with an error that ends nothing."""
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return

        async def messages() -> Message:
            while True:
                got = await receive()
                if got["type"] != "websocket.receive" or _is_object(got):
                    return got
                await send({"type": "websocket.send", "text": NO_MESSAGE})

        await self._app(scope, messages, send)


NO_MESSAGE = json.dumps(
    {
        "type": "error",
        "data": {"message": "a frame is one JSON object, as text", "code": "INVALID_JSON"},
    }
)


def _same(headers: Headers) -> bool:
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc == headers.get("host")


def _is_object(got: Message) -> bool:
    try:
        return isinstance(json.loads(got.get("text") or ""), dict)
    except (ValueError, RecursionError):
        return False
