"""The requests of one investigation: asked of the model, or replayed from the journal."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import orjson

from heldout.agent.journal import JournalEntry, OnStep
from heldout.agent.modes import Dialogue, Mode
from heldout.errors import StoreError
from heldout.llm.messages import ContextExceeded, ModelReply, ModelRequest, RequestRefused


class Model(Protocol):
    """What the loop needs of a :class:`heldout.llm.ModelClient`."""

    async def complete(self, request: ModelRequest) -> ModelReply:
        """One reply, or a :class:`~heldout.errors.ProviderError`."""
        ...


class Talk:
    """Asks, books what it costs, and keeps a hash over everything that was sent."""

    def __init__(
        self,
        client: Model,
        mode: Mode,
        dialogue: Dialogue,
        recorded: Sequence[JournalEntry],
        on_step: OnStep | None,
    ) -> None:
        self.calls = 0
        self.input_tokens = 0
        self.cached_tokens = 0
        self.output_tokens = 0
        self.reasoning_tokens = 0
        self.usd: float | None = 0.0
        self.seconds = 0.0
        self.served: list[str] = []
        self.estimated = False
        self.room_made = ""
        """What was done to fit the model's window, and before which request, counted from 1."""
        self.room_made_at = 0
        self._client = client
        self._formats = mode.formats
        self._dialogue = dialogue
        self._recorded = recorded
        self._on_step = on_step
        self._hash = hashlib.sha256()
        self._hashed = 0
        self._list: Sequence[Mapping[str, Any]] = ()

    def fix(self, *parts: Any) -> None:
        """Hash what stays the same over the whole conversation."""
        self._hash.update(orjson.dumps(parts))

    def recorded_elapsed(self) -> float | None:
        """When the next request was made, if the journal has it."""
        if self.calls < len(self._recorded):
            return self._recorded[self.calls].elapsed
        return None

    async def ask(self, elapsed: float, *, last: bool) -> ModelReply:
        """One reply, from the journal or from the model, with its costs booked.

        A conversation that outgrew the model's window is shortened once, then
        :class:`ContextExceeded` is raised.
        """
        request = self._dialogue.request(last=last)
        asked = self._asked(request)
        if self.calls < len(self._recorded):
            entry = self._recorded[self.calls]
            if entry.room_made and not self.room_made and self._make_room():
                asked = self._asked(self._dialogue.request(last=last))
            if entry.index != self.calls or entry.asked != asked:
                raise StoreError(
                    f"the journal's entry {entry.index} belongs to another conversation",
                    mend="World, brain, tools or harness changed: delete the journal and run anew",
                )
            reply = entry.reply
        else:
            room_made = False
            try:
                reply = await self._complete(request)
            except ContextExceeded:
                room_made = not self.room_made and self._make_room()
                if not room_made:
                    raise
                request = self._dialogue.request(last=last)
                asked = self._asked(request)
                reply = await self._complete(request)
            if self._on_step is not None:
                self._on_step(JournalEntry(self.calls, asked, elapsed, reply, room_made))
        self._book(reply)
        return reply

    async def _complete(self, request: ModelRequest) -> ModelReply:
        """Ask; once more without the response schema where the endpoint refuses it.

        That it does is remembered for the run. What is sent besides stays the same.
        """
        if self._formats.no_schema and request.response_schema is not None:
            request = replace(request, response_schema=None)
        try:
            return await self._client.complete(request)
        except RequestRefused:
            if request.response_schema is None:
                raise
            reply = await self._client.complete(replace(request, response_schema=None))
            self._formats.no_schema = True
            return reply

    def _make_room(self) -> bool:
        done = self._dialogue.make_room()
        if done:
            self.room_made_at = self.calls + 1
            self.room_made = f"{done} before request {self.room_made_at} to fit the model's window"
        return bool(done)

    def _asked(self, request: ModelRequest) -> str:
        messages = request.messages
        if messages is not self._list:
            self._list, self._hashed = messages, 0
        for message in messages[self._hashed :]:
            self._hash.update(repr(message).encode("utf-8", "backslashreplace"))
        self._hashed = len(messages)
        return self._hash.hexdigest()[:32]

    def _book(self, reply: ModelReply) -> None:
        self.calls += 1
        self.input_tokens += reply.usage.input_tokens
        self.cached_tokens += reply.usage.cached_tokens
        self.output_tokens += reply.usage.output_tokens
        self.reasoning_tokens += reply.usage.reasoning_tokens
        self.usd = None if self.usd is None or reply.usd is None else self.usd + reply.usd
        self.seconds += reply.seconds
        self.estimated = self.estimated or reply.usage.estimated
        if reply.served_model and reply.served_model not in self.served:
            self.served.append(reply.served_model)
