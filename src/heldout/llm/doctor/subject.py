"""The endpoint under examination, over one wire, and what asking it has cost so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from heldout.llm.client import ModelClient
from heldout.llm.messages import ModelReply, ModelRequest
from heldout.llm.names import ModelName
from heldout.llm.prices import Price

ANSWER_TOKENS = 2000
"""The most that an answer of a probe may take; a model that reasons needs more than its words."""

PLAIN_TOKENS = 400
"""The same for a model that does not reason: one that rambles is cut sooner."""

_ONE_WORD = 50
"""A model that takes more than this for one word reasons, whether it tells or not."""


@dataclass(slots=True)
class Spent:
    """Requests, tokens and USD; ``usd`` is ``None`` where a price or a usage is unknown."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0

    def book(self, reply: ModelReply) -> None:
        """Add one reply."""
        self.input_tokens += reply.usage.input_tokens
        self.output_tokens += reply.usage.output_tokens
        self.usd = None if self.usd is None or reply.usd is None else self.usd + reply.usd


@dataclass(slots=True)
class Subject:
    """Asked by the probes one after the other; each may read what those before it learned."""

    model: ModelName
    wire: str
    price: Price | None
    opener: Callable[[ModelName], ModelClient]
    spent: Spent = field(default_factory=Spent)
    listing: tuple[Mapping[str, Any], ...] = ()
    replies: list[ModelReply] = field(default_factory=list)
    headers: Mapping[str, str] = field(default_factory=dict)
    """Of the newest response."""
    effort_refused: str = ""
    """What the endpoint said to the effort in the model's name; asked without it from then on."""
    _clients: dict[ModelName, ModelClient] = field(default_factory=dict)

    def client(self, effort: str | None = None) -> ModelClient:
        """The client at an effort; by default the one of the model's name, unless refused."""
        if effort is None:
            effort = "" if self.effort_refused else self.model.effort
        name = replace(self.model, effort=effort)
        if name not in self._clients:
            self._clients[name] = self.opener(name)
        return self._clients[name]

    @property
    def throttled(self) -> int:
        """How many 429 answers were seen."""
        limiters = {id(one.limiter): one.limiter for one in self._clients.values()}
        return sum(limiter.throttled for limiter in limiters.values())

    @property
    def room(self) -> int:
        """Tokens that an answer may take, known better after the first one, of a word."""
        if not self.replies or self.replies[0].usage.estimated:
            return ANSWER_TOKENS
        plain = self.replies[0].usage.output_tokens <= _ONE_WORD
        return PLAIN_TOKENS if plain else ANSWER_TOKENS

    async def ask(
        self,
        asked: str | Sequence[Mapping[str, Any]],
        *,
        effort: str | None = None,
        max_output_tokens: int | None = None,
        **more: Any,
    ) -> ModelReply:
        """One request, booked; ``more`` are fields of :class:`~heldout.llm.ModelRequest`."""
        messages = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
        client = self.client(effort)
        self.spent.requests += 1
        try:
            reply = await client.complete(
                ModelRequest(messages, max_output_tokens=max_output_tokens or self.room, **more)
            )
        finally:
            self.headers = client.headers
        self.spent.book(reply)
        self.replies.append(reply)
        return reply

    async def close(self) -> None:
        """Close every client."""
        for client in self._clients.values():
            await client.aclose()
