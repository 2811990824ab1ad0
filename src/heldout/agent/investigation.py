"""One investigation: an asyncio loop over the model's tool calls, with limits and a journal."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import orjson

from heldout.agent.journal import JournalEntry, OnStep
from heldout.agent.prompt import LAST_CHANCE, NUDGE, system_prompt
from heldout.agent.sandbox import GuardedSession
from heldout.agent.textcalls import with_text_call
from heldout.agent.toolbox import STOPPING_MALFORMED, Toolbox
from heldout.agent.trace import StopReason, Trace
from heldout.agent.workers import in_worker
from heldout.brain import Brain
from heldout.errors import ConfigError, StoreError
from heldout.incident import Incident
from heldout.interface import Interface, Submission
from heldout.llm.messages import ContextExceeded, ModelReply, ModelRequest


class Limits(Protocol):
    """Caps of one investigation. Steps are tool calls, seconds are of work (model and tools)."""

    @property
    def max_steps(self) -> int:
        """Tool calls."""
        ...

    @property
    def max_tokens(self) -> int:
        """Input and output tokens of all requests together."""
        ...

    @property
    def max_seconds(self) -> float:
        """Seconds of model and tools; waiting for the limiter or a retry does not count."""
        ...

    @property
    def max_usd(self) -> float | None:
        """USD; needs a model with a known price."""
        ...


class Model(Protocol):
    """What the loop needs of a :class:`heldout.llm.ModelClient`."""

    async def complete(self, request: ModelRequest) -> ModelReply:
        """One reply, or a :class:`~heldout.errors.ProviderError`."""
        ...


async def investigate(
    incident: Incident,
    brain: Brain,
    client: Model,
    interface: Interface,
    *,
    model: str,
    limits: Limits,
    seed: int,
    on_step: OnStep | None = None,
    resume_steps: Sequence[JournalEntry] = (),
) -> Trace:
    """Let ``model`` with ``brain`` work on one incident.

    Whatever the model does ends in a :class:`Trace`, to be judged. What it is not to blame for is
    raised and makes the investigation invalid: a :class:`ProviderError`, a
    :class:`SandboxFailure` or :class:`WorldError`, a :class:`StoreError` for a journal that belongs
    to another conversation. ``on_step`` gets each new reply before its tool calls run.

    Calls into the environment run in a few threads, one at a time for each session.
    """
    session = await in_worker(lambda: GuardedSession(interface, str(incident.world), seed))
    try:
        specs = interface.tool_specs()
        toolbox = Toolbox(session, specs, brain, limits.max_steps, model, interface.name)
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": system_prompt(brain.prompt(model, interface.name))},
            {"role": "user", "content": incident.alert},
        ]
        talk = _Talk(client, messages, seed, resume_steps, on_step)
        talk.fix(model, toolbox.wire())
        return await _Investigation(talk, toolbox, limits).run()
    finally:
        session.close()


class _Talk:
    """The conversation with the model: appended to, never rebuilt; replayed where recorded."""

    def __init__(
        self,
        client: Model,
        messages: list[dict[str, Any]],
        seed: int,
        recorded: Sequence[JournalEntry],
        on_step: OnStep | None,
    ) -> None:
        self.messages = messages
        self.calls = 0
        self.input_tokens = 0
        self.cached_tokens = 0
        self.output_tokens = 0
        self.usd: float | None = 0.0
        self.seconds = 0.0
        self.served: list[str] = []
        self.estimated = False
        self._client = client
        self._seed = seed
        self._recorded = recorded
        self._on_step = on_step
        self._hash = hashlib.sha256()
        self._hashed = 0

    def fix(self, model: str, tools: list[dict[str, Any]]) -> None:
        """Hash what stays the same over the whole conversation."""
        self.tools = tools
        self._hash.update(orjson.dumps([model, self._seed, tools]))

    def recorded_elapsed(self) -> float | None:
        """When the next request was made, if the journal has it."""
        if self.calls < len(self._recorded):
            return self._recorded[self.calls].elapsed
        return None

    async def ask(self, tools: list[dict[str, Any]], elapsed: float) -> ModelReply:
        """One reply, from the journal or from the model, with its costs booked."""
        asked = self._asked()
        if self.calls < len(self._recorded):
            entry = self._recorded[self.calls]
            if entry.index != self.calls or entry.asked != asked:
                raise StoreError(
                    f"the journal's entry {entry.index} belongs to another conversation",
                    mend="World, brain, tools or harness changed: delete the journal and run anew",
                )
            reply = entry.reply
        else:
            request = ModelRequest(self.messages, tools, seed=self._seed)
            reply = await self._client.complete(request)
            if self._on_step is not None:
                self._on_step(JournalEntry(self.calls, asked, elapsed, reply))
        self._book(reply)
        return reply

    def _asked(self) -> str:
        for message in self.messages[self._hashed :]:
            self._hash.update(repr(message).encode("utf-8", "backslashreplace"))
        self._hashed = len(self.messages)
        return self._hash.hexdigest()[:32]

    def _book(self, reply: ModelReply) -> None:
        self.calls += 1
        self.input_tokens += reply.usage.input_tokens
        self.cached_tokens += reply.usage.cached_tokens
        self.output_tokens += reply.usage.output_tokens
        self.usd = None if self.usd is None or reply.usd is None else self.usd + reply.usd
        self.seconds += reply.seconds
        self.estimated = self.estimated or reply.usage.estimated
        if reply.served_model and reply.served_model not in self.served:
            self.served.append(reply.served_model)


class _Investigation:
    """The loop itself."""

    def __init__(self, talk: _Talk, toolbox: Toolbox, limits: Limits) -> None:
        self._talk = talk
        self._toolbox = toolbox
        self._limits = limits
        self._nudged = False
        self._last_text = ""

    async def run(self) -> Trace:
        while True:
            reached = self._limit()
            if reached is not None:
                return await self._last_chance(reached)
            try:
                reply = await self._reply(self._talk.tools)
            except ContextExceeded as error:
                return self._ended("max_tokens", str(error))
            if reply.refusal and not reply.tool_calls:
                return self._ended("refused", reply.refusal)
            if not reply.tool_calls:
                if self._nudged:
                    return self._ended("no_submission", self._last_text)
                self._nudged = True
                self._talk.messages.append({"role": "user", "content": NUDGE})
                continue
            self._nudged = False
            await self._run_calls(reply)
            if self._toolbox.final:
                return self._ended("submitted")
            if self._toolbox.malformed >= STOPPING_MALFORMED:
                return self._ended("malformed", f"{self._toolbox.malformed} in a row")
            if self._toolbox.looping:
                return await self._last_chance("loop")

    def _elapsed(self) -> float:
        recorded = self._talk.recorded_elapsed()
        worked = self._talk.seconds + self._toolbox.seconds
        return worked if recorded is None else recorded

    def _limit(self) -> StopReason | None:
        limits, talk = self._limits, self._talk
        if len(self._toolbox.steps) >= limits.max_steps:
            return "max_steps"
        if talk.input_tokens + talk.output_tokens >= limits.max_tokens:
            return "max_tokens"
        if self._elapsed() >= limits.max_seconds:
            return "max_seconds"
        if limits.max_usd is None:
            return None
        if talk.usd is None:
            raise ConfigError(
                "limits.max_usd cannot be held: the cost of this model's replies is unknown",
                mend="Take max_usd away, or name a model of the price table",
            )
        return "max_usd" if talk.usd >= limits.max_usd else None

    async def _reply(self, tools: list[dict[str, Any]]) -> ModelReply:
        reply = await self._talk.ask(tools, self._elapsed())
        self._last_text = reply.text or self._last_text
        reply = with_text_call(reply, self._toolbox.names)
        self._talk.messages.append(reply.message())
        return reply

    async def _run_calls(self, reply: ModelReply, *, only: str = "") -> None:
        cut_off = reply.finish_reason == "length"
        for call in reply.tool_calls:
            if self._toolbox.final or (only and call.name != only):
                continue
            run = partial(self._toolbox.run, call, cut_off=cut_off, beyond_limit=bool(only))
            told = await in_worker(run)
            self._talk.messages.append({"role": "tool", "tool_call_id": call.id, "content": told})

    async def _last_chance(self, reached: StopReason) -> Trace:
        """One more request with nothing but the submitting tool."""
        submit = self._toolbox.submit_name()
        tools = [tool for tool in self._talk.tools if tool["function"]["name"] == submit]
        self._talk.messages.append({"role": "user", "content": LAST_CHANCE})
        try:
            reply = await self._reply(tools)
        except ContextExceeded as error:
            return self._ended(reached, str(error))
        await self._run_calls(reply, only=submit)
        return self._ended(reached)

    def _ended(self, reason: StopReason, detail: str = "") -> Trace:
        talk, toolbox = self._talk, self._toolbox
        submission = toolbox.submission() if toolbox.final else Submission(complete=False)
        if reason != "submitted":
            submission = replace(submission, complete=False)
        if talk.estimated:
            detail = f"{detail} (token counts are estimates: no usage was sent)".strip()
        return Trace(
            messages=tuple(talk.messages),
            steps=tuple(toolbox.steps),
            submission=submission,
            stop_reason=reason,
            calls=talk.calls,
            input_tokens=talk.input_tokens,
            cached_tokens=talk.cached_tokens,
            output_tokens=talk.output_tokens,
            usd=talk.usd,
            seconds=talk.seconds + toolbox.seconds,
            served_model=", ".join(talk.served),
            detail=detail[:2000],
        )
