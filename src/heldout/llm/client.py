"""One client per model: the openai SDK's raw post, our own retries, limiter, prices and errors.

The SDK's typed ``create`` walks every message of every request (6.9 ms CPU per call at 20 steps,
measured); a ready body through ``client.post`` and the raw response decoded here take 1.1 ms.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import openai

from heldout.errors import (
    ConfigError,
    ProviderError,
    ProviderProtocol,
    ProviderRefused,
    ProviderUnavailable,
)
from heldout.llm.endpoints import OPENAI_URL, Endpoint, endpoint_for
from heldout.llm.failures import Failure, failure_of
from heldout.llm.limiter import Limiter, Role, limiter_for
from heldout.llm.messages import ModelReply, ModelRequest
from heldout.llm.names import ModelName
from heldout.llm.prices import Prices, cost, prices_of
from heldout.llm.transports import (
    Bounds,
    InProcessTransport,
    ResponseTooLarge,
    SocketTransport,
)
from heldout.llm.wires import AnswerFailed, Wire, WireName, wire_named
from heldout.llm.wires.reading import loaded

_STREAMED: dict[str, Any] = {"stream": True, "stream_cls": openai.AsyncStream}
"""How the SDK hands out a raw response whose body is not read yet."""

_FAILURES = (
    openai.OpenAIError,
    httpx2.HTTPError,
    httpx2.StreamError,
    ProviderError,
    AnswerFailed,
    OSError,
)
"""Everything that a provider or the way to it can do wrong."""


class ModelClient:
    """Calls one model. Make it with :func:`open_client`; use it from any event loop.

    Every loop gets an SDK client of its own, since connections belong to the loop that opened them.
    """

    def __init__(
        self,
        model: ModelName,
        endpoint: Endpoint,
        wire: Wire,
        *,
        concurrency: int,
        bounds: Bounds,
        role: Role,
        prices: Prices | None = None,
    ) -> None:
        self.model = model
        self.base_url = endpoint.base_url
        self.limiter: Limiter = limiter_for(model.provider, model.name, endpoint.base_url, role)
        self._endpoint = endpoint
        self._wire = wire
        self._prices = prices
        self._concurrency = concurrency
        self._bounds = bounds
        self._clients: dict[asyncio.AbstractEventLoop, openai.AsyncOpenAI] = {}
        self._where = f"{model} at {endpoint.base_url}"
        self._jitter = random.Random()
        self._open = True
        self.headers: Mapping[str, str] = {}
        """Headers of the newest response, where providers tell about their limits."""
        self.limiter.register(concurrency)

    def __repr__(self) -> str:
        wire = self._wire.name
        return f"ModelClient({str(self.model)!r}, base_url={self.base_url!r}, wire={wire!r})"

    async def __aenter__(self) -> ModelClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def complete(self, request: ModelRequest) -> ModelReply:
        """One reply; failures of the provider are a :class:`~heldout.errors.ProviderError`."""
        wire = self._wire
        try:
            return await self._persist(wire, request)
        except ProviderRefused as error:
            relaxed = wire.relaxed(error.what)
            if relaxed is None:
                raise
        self._wire = relaxed
        return await self._persist(relaxed, request)

    async def _persist(self, wire: Wire, request: ModelRequest) -> ModelReply:
        """Ask until there is a reply, the failure is for good, or the bounds are reached."""
        body = wire.encode(self.model, request)
        bounds = self._bounds
        first: float | None = None
        malformed = 0
        for attempt in range(1, bounds.attempts + 1):
            async with self.limiter.slot() as granted:
                began = time.monotonic()
                first = began if first is None else first
                outcome = await self._attempt(wire, body)
                seconds = time.monotonic() - began
                if isinstance(outcome, ModelReply):
                    self.limiter.succeed()
                    return replace(
                        outcome,
                        usd=cost(self.model, outcome.usage, self._prices),
                        seconds=seconds,
                        attempts=attempt,
                    )
                if outcome.throttled:
                    self.limiter.throttle(granted, outcome.retry_after)
            malformed += isinstance(outcome.error, ProviderProtocol)
            last = attempt == bounds.attempts or malformed >= bounds.protocol_attempts
            if last or not outcome.retry:
                raise _told(outcome, attempt)
            delay = self._delay(attempt, outcome)
            if time.monotonic() + delay - first > bounds.retry_seconds:
                raise _told(outcome, attempt, delay)
            await asyncio.sleep(delay)
        raise AssertionError("the last attempt returns or raises")

    async def models(self) -> tuple[Mapping[str, Any], ...]:
        """What the endpoint says it serves, one entry for each model; asked once, not retried."""
        try:
            async with asyncio.timeout(self._bounds.total):
                raw = await self._received(
                    await self._sdk().get("/models", cast_to=httpx2.Response, **_STREAMED)
                )
            listed = loaded(raw, self._where, "the list of models").get("data")
            entries = listed if isinstance(listed, list) else []
            return tuple(entry for entry in entries if isinstance(entry, dict))
        except _FAILURES as error:
            failure = failure_of(error, self._endpoint, self._where)
        raise failure.error

    async def aclose(self) -> None:
        """Close this loop's connections and forget those of loops that are gone."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()
        for loop in [loop for loop in self._clients if loop.is_closed()]:
            del self._clients[loop]
        if self._open and not self._clients:
            self._open = False
            self.limiter.unregister(self._concurrency)

    async def _attempt(self, wire: Wire, body: bytes) -> ModelReply | Failure:
        try:
            async with asyncio.timeout(self._bounds.total):
                raw = await self._post(wire.path, body)
            return wire.decode(raw, where=self._where, sent_bytes=len(body))
        except _FAILURES as error:
            if isinstance(error, openai.APIStatusError):
                self.headers = error.response.headers
            return failure_of(error, self._endpoint, self._where)

    async def _post(self, path: str, body: bytes) -> bytes:
        return await self._received(
            await self._sdk().post(path, content=body, cast_to=httpx2.Response, **_STREAMED)
        )

    async def _received(self, response: httpx2.Response) -> bytes:
        self.headers = response.headers
        received = bytearray()
        try:
            async for chunk in response.aiter_bytes():
                received += chunk
                if len(received) > self._bounds.max_bytes:
                    raise ResponseTooLarge(f"more than {self._bounds.max_bytes} bytes")
        finally:
            await response.aclose()
        return bytes(received)

    def _delay(self, attempt: int, failure: Failure) -> float:
        backoff = min(
            self._bounds.first_delay * 2.0 ** (attempt - 1), self._bounds.longest_delay
        ) * self._jitter.uniform(0.5, 1.0)
        return max(backoff, failure.retry_after or 0.0)

    def _sdk(self) -> openai.AsyncOpenAI:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            if not self._open:
                self._open = True
                self.limiter.register(self._concurrency)
            client = self._clients[loop] = _sdk_client(
                self.model, self._endpoint, self._bounds, self.limiter.ceiling
            )
        return client


def open_client(
    model: str | ModelName,
    *,
    base_url: str = "",
    concurrency: int = 8,
    bounds: Bounds | None = None,
    wire: WireName = "chat",
    role: Role = "agent",
    prices: Path | None = None,
) -> ModelClient:
    """A client for ``provider/name@effort``.

    ``wire`` is how the endpoint is asked, ``role`` whom the client works for: each role has slots
    of its own, so that one cannot starve another (see :mod:`heldout.llm.limiter`). ``prices`` is a
    file of a project's own prices, which need not exist. No connection is made before the first
    call.

    Raises :class:`UsageError` for a name that is none and :class:`ConfigError` where key or base
    URL are missing or a simulated model is asked over another wire than ``chat``.
    """
    name = model if isinstance(model, ModelName) else ModelName.parse(model)
    if name.is_simulated and wire != "chat":
        raise ConfigError(
            f"'{name}' runs in this process and is asked over the wire 'chat' only",
            mend="Set models.wire (or the wire of its role) to 'chat' for sim/ models",
        )
    return ModelClient(
        name,
        endpoint_for(name, base_url),
        wire_named(wire),
        concurrency=concurrency,
        bounds=bounds or Bounds(),
        role=role,
        prices=prices_of(prices),
    )


def _sdk_client(
    model: ModelName, endpoint: Endpoint, bounds: Bounds, connections: int
) -> openai.AsyncOpenAI:
    transport: httpx2.AsyncBaseTransport = (
        InProcessTransport()
        if model.is_simulated
        else SocketTransport(endpoint, bounds, connections)
    )
    timeout = httpx2.Timeout(bounds.read, connect=bounds.connect, pool=None)
    # OpenAI's own headers from the environment (organisation, project) go to OpenAI only.
    foreign = endpoint.base_url != OPENAI_URL
    omitted = {"OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()}
    return openai.AsyncOpenAI(
        api_key=endpoint.key,
        base_url=endpoint.base_url,
        max_retries=0,
        timeout=timeout,
        default_headers=omitted if foreign else None,  # type: ignore[arg-type]
        http_client=httpx2.AsyncClient(
            transport=transport,
            timeout=timeout,
            follow_redirects=False,
            headers={"Accept-Encoding": "identity"},
        ),
    )


def _told(failure: Failure, attempts: int, delay: float | None = None) -> Exception:
    """The failure's error, saying how often it was tried and why no longer."""
    error = failure.error
    if attempts == 1 and delay is None:
        return error
    tried = f" (tried {attempts} times)" if attempts > 1 else ""
    if delay is not None and isinstance(error, ProviderUnavailable):
        times = "once" if attempts == 1 else f"{attempts} times"
        tried = f" (tried {times}; the next try, in {delay:.0f} s, would come too late)"
    return type(error)(error.what + tried, where=error.where, mend=error.mend)
