"""The HTTP side of a client: bounded responses over a socket, and simulated models without one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2
import orjson

from heldout.llm.endpoints import Endpoint
from heldout.llm.names import SIMULATED_MODELS

ERROR_BYTES = 64 * 1024
"""How much of an error's body is read; the rest is never waited for."""


class ResponseTooLarge(httpx2.DecodingError):  # type: ignore[misc]
    """A body beyond the cap. A :class:`httpx2.DecodingError`, so that it is not retried as one."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one call may take. Seconds, bytes, and how often it is tried.

    ``read`` is the longest silence, ``total`` the longest attempt (a body that drips for ever ends
    there), ``retry_seconds`` how long after the first attempt began another may still begin.
    """

    connect: float = 10.0
    read: float = 300.0
    total: float = 420.0
    attempts: int = 5
    protocol_attempts: int = 2
    """How often an answer that is not the wire format is asked for again, first try included."""
    retry_seconds: float = 600.0
    first_delay: float = 0.5
    longest_delay: float = 30.0
    max_bytes: int = 16 * 1024 * 1024


class _Capped(httpx2.AsyncByteStream):  # type: ignore[misc]
    """A response's body that ends with an error (or silently, for error bodies) at the cap."""

    def __init__(self, inner: httpx2.AsyncByteStream, cap: int, *, cut: bool) -> None:
        self._inner = inner
        self._cap = cap
        self._cut = cut

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._cap
        async for chunk in self._inner:
            left -= len(chunk)
            if left < 0:
                if self._cut:
                    yield chunk[:left]
                    return
                raise ResponseTooLarge(f"more than {self._cap} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


class SocketTransport(httpx2.AsyncBaseTransport):  # type: ignore[misc]
    """Real HTTP with capped bodies; the pool is as large as the limiter can ever let through."""

    def __init__(self, endpoint: Endpoint, bounds: Bounds, connections: int) -> None:
        self._max_bytes = bounds.max_bytes
        self._inner = httpx2.AsyncHTTPTransport(
            proxy=_proxy(endpoint),
            limits=httpx2.Limits(
                max_connections=None,
                max_keepalive_connections=connections,
                keepalive_expiry=60.0,
            ),
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        failed = response.status_code >= 300
        cap = ERROR_BYTES if failed else self._max_bytes
        response.stream = _Capped(response.stream, cap, cut=failed)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class InProcessTransport(httpx2.AsyncBaseTransport):  # type: ignore[misc]
    """Answers Chat Completions requests by calling the simulated models; no socket, no key."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.path.endswith("/models"):
            answer: dict[str, Any] = {"data": [{"id": name} for name in SIMULATED_MODELS]}
        else:
            body: dict[str, Any] = orjson.loads(await request.aread())
            answer = import_module("heldout.llm.simulated").handle(body)
        status = 400 if "error" in answer else 200
        return httpx2.Response(
            status,
            headers={"content-type": "application/json"},
            content=orjson.dumps(answer),
            request=request,
        )


def _proxy(endpoint: Endpoint) -> str | None:
    """The environment's proxy, as any HTTP client would use it; never for loopback."""
    parts = urlsplit(endpoint.base_url)
    if endpoint.is_loopback or proxy_bypass(parts.hostname or ""):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")
