"""One investigation: an asyncio loop over the model's tool calls, with limits and a journal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from heldout.agent.journal import JournalEntry, OnStep
from heldout.agent.loops import LAST_TRIES
from heldout.agent.modes import Dialogue, Mode, Opening, ToolsMode
from heldout.agent.prompt import LAST_CHANCE
from heldout.agent.sandbox import GuardedSession
from heldout.agent.talk import Model, Talk
from heldout.agent.toolbox import STOPPING_MALFORMED, Toolbox
from heldout.agent.trace import StopReason, Trace
from heldout.agent.workers import in_worker
from heldout.brain import Brain
from heldout.errors import ConfigError
from heldout.incident import Incident
from heldout.interface import Interface, Submission, acting
from heldout.llm.messages import ContextExceeded, ModelReply, ToolCall, without_kept


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
    mode: Mode | None = None,
) -> Trace:
    """Let ``model`` with ``brain`` work on one incident, asked as ``mode`` says (tool calls).

    Whatever the model does ends in a :class:`Trace`, to be judged. What it is not to blame for is
    raised and makes the investigation invalid: a :class:`ProviderError`, a
    :class:`SandboxFailure` or :class:`WorldError`, a :class:`StoreError` for a journal that belongs
    to another conversation. ``on_step`` gets each new reply before its tool calls run.

    Calls into the environment run in a few threads, one at a time for each session.
    """
    session = await in_worker(lambda: GuardedSession(interface, str(incident.world), seed))
    try:
        specs = interface.tool_specs()
        toolbox = Toolbox(
            session, specs, brain, limits.max_steps, model, interface.name, acting(interface)
        )
        mode = mode or ToolsMode()
        opening = Opening(brain.prompt(model, interface.name), incident.alert, toolbox, seed)
        dialogue = mode.open(opening)
        talk = Talk(client, mode, dialogue, resume_steps, on_step)
        talk.fix(model, seed, mode.name, toolbox.wire())
        return await _Investigation(talk, dialogue, toolbox, limits, mode.name).run()
    finally:
        session.close()


class _Investigation:
    """The loop itself."""

    def __init__(
        self, talk: Talk, dialogue: Dialogue, toolbox: Toolbox, limits: Limits, mode: str
    ) -> None:
        self._talk = talk
        self._dialogue = dialogue
        self._toolbox = toolbox
        self._limits = limits
        self._mode = mode
        self._silent = 0
        """Replies without a call in a row."""
        self._last_text = ""

    async def run(self) -> Trace:
        while True:
            reached = self._limit()
            if reached is not None:
                return await self._last_chance(reached)
            try:
                reply = await self._ask()
            except ContextExceeded as error:
                return self._ended("max_tokens", str(error))
            taken = self._dialogue.take(reply)
            if reply.refusal and not taken.calls:
                return self._ended("refused", reply.refusal)
            if not taken.calls:
                self._silent += 1
                self._dialogue.counts["silent"] += 1
                if self._silent >= self._dialogue.patience:
                    return self._ended("no_submission", self._last_text)
                self._dialogue.say(taken.told)
                continue
            self._silent = 0
            await self._run_calls(taken.calls, cut_off=reply.finish_reason == "length")
            if self._toolbox.final:
                return self._ended("submitted")
            if self._toolbox.malformed >= STOPPING_MALFORMED:
                return self._ended("malformed", f"{self._toolbox.malformed} in a row")
            if self._toolbox.loops.stopping:
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
                mend="Take max_usd away, or set the price in prices.toml",
            )
        return "max_usd" if talk.usd >= limits.max_usd else None

    async def _ask(self, *, last: bool = False) -> ModelReply:
        room_made = self._talk.room_made
        reply = await self._talk.ask(self._elapsed(), last=last)
        if self._talk.room_made != room_made:
            self._toolbox.loops.forget_answers()
        self._last_text = reply.text or self._last_text
        return reply

    async def _run_calls(self, calls: Sequence[ToolCall], *, cut_off: bool, only: str = "") -> None:
        for call in calls:
            if self._toolbox.final or (only and call.name != only):
                continue
            run = partial(self._toolbox.run, call, cut_off=cut_off, beyond_limit=bool(only))
            self._dialogue.answered(call, await in_worker(run))

    async def _last_chance(self, reached: StopReason) -> Trace:
        """Nothing but the submitting tool, and once more where it refused what was submitted.

        A small model misspells an argument; its answer would be lost over that.
        """
        submit = self._toolbox.submit_name()
        for _ in range(LAST_TRIES):
            self._dialogue.say(self._toolbox.words(LAST_CHANCE))
            try:
                reply = await self._ask(last=True)
            except ContextExceeded as error:
                return self._ended(reached, str(error))
            taken = self._dialogue.take(reply)
            cut_off = reply.finish_reason == "length"
            await self._run_calls(taken.calls, cut_off=cut_off, only=submit)
            if self._toolbox.final or submit not in {call.name for call in taken.calls}:
                break
        return self._ended(reached)

    def _ended(self, reason: StopReason, detail: str = "") -> Trace:
        talk, toolbox = self._talk, self._toolbox
        submission = toolbox.submission() if toolbox.final else Submission(complete=False)
        if reason != "submitted":
            submission = replace(submission, complete=False)
        if talk.room_made:
            detail = f"{detail} ({talk.room_made})".strip()
            self._dialogue.counts.update(room_made=1, room_made_at=talk.room_made_at)
        if talk.estimated:
            detail = f"{detail} (token counts are estimates: no usage was sent)".strip()
        counts = self._dialogue.counts + toolbox.loops.counts
        return Trace(
            messages=tuple(dict(without_kept(one)) for one in self._dialogue.messages),
            steps=tuple(toolbox.steps),
            submission=submission,
            stop_reason=reason,
            calls=talk.calls,
            input_tokens=talk.input_tokens,
            cached_tokens=talk.cached_tokens,
            output_tokens=talk.output_tokens,
            reasoning_tokens=talk.reasoning_tokens,
            usd=talk.usd,
            seconds=talk.seconds + toolbox.seconds,
            served_model=", ".join(talk.served),
            detail=detail[:2000],
            mode=self._mode,
            counts=dict(sorted(counts.items())),
        )
