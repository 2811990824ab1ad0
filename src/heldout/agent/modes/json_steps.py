"""A chat of JSON steps: one schema-bound object in each reply, then the tool's answer.

``response_schema`` binds the reply where the endpoint can; where it refuses that, the same
conversation goes on without, and bare or fenced JSON is read.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from heldout.agent.modes.dialogue import LONGEST_REPLY, Formats, Opening, Taken
from heldout.agent.prompt import CUT_OFF, JSON_HARNESS, NO_STEP, SEVERAL, system_prompt
from heldout.agent.sheet import tool_sheet
from heldout.agent.shortening import cut
from heldout.agent.steps import StepText, read_steps, step_schema
from heldout.agent.thread import Thread
from heldout.agent.toolbox import Toolbox
from heldout.llm.messages import ModelReply, ModelRequest, ToolCall

MAX_REPLY_TOKENS = 4_096
"""A small model that loops inside a string would else write until its window is full."""
LEAST_REPLY_TOKENS = 1_024
"""The same once the window was full: some servers count a reply's limit as part of the request."""
PATIENCE = 3


@dataclass(frozen=True, slots=True)
class JsonMode:
    """For models without native tool calls."""

    formats: Formats = field(default_factory=Formats)
    name: str = "json"

    def open(self, opening: Opening) -> JsonDialogue:
        """Begin one investigation."""
        return JsonDialogue(opening, JSON_HARNESS)


class JsonDialogue:
    """Appended to and never rebuilt; roles alternate."""

    patience = PATIENCE

    def __init__(self, opening: Opening, harness: str) -> None:
        self.counts: Counter[str] = Counter()
        self._seed = opening.seed
        self._words = opening.toolbox.words
        self._schemas = _schemas(opening.toolbox)
        self._thread = Thread(
            [
                {"role": "system", "content": paper_prompt(opening, harness)},
                {"role": "user", "content": opening.alert},
            ]
        )
        self._reply_tokens = MAX_REPLY_TOKENS
        self._note = ""
        self._step: StepText | None = None

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The whole conversation."""
        return self._thread.record

    def request(self, *, last: bool) -> ModelRequest:
        """The conversation so far, to be answered with one step."""
        return ModelRequest(
            self._thread.sent,
            seed=self._seed,
            max_output_tokens=self._reply_tokens,
            response_schema=self._schemas[last],
        )

    def take(self, reply: ModelReply) -> Taken:
        """The reply's first step, written down as it came, or in short where it is long."""
        whole = reply.finish_reason != "length"
        steps = [
            *read_steps(reply.text, whole=whole),
            *(StepText(call.name, call.arguments) for call in reply.tool_calls),
        ]
        self._step = steps[0] if steps else None
        self._thread.add({"role": "assistant", "content": self._kept(reply)})
        if self._step is None:
            self.counts["cut_off"] += not whole
            return Taken((), self._words(NO_STEP) if whole else CUT_OFF)
        if len(steps) > 1:
            self.counts["several"] += 1
            self._note = SEVERAL.format(count=len(steps))
        # A call that the limit cut off is no JSON, and the toolbox says so.
        call = ToolCall(f"step_{len(self.messages)}", self._step.tool, self._step.arguments)
        return Taken((call,))

    def answered(self, call: ToolCall, answer: str) -> None:
        """A message of the user's, with a note behind it where there is one."""
        note, self._note = self._note, ""
        content = f"{answer}\n\n{note}" if note else answer
        self._thread.add_answer({"role": "user", "content": content})

    def say(self, text: str) -> None:
        """Words of the harness, behind an answer that was not sent yet."""
        self._thread.say(text)

    def make_room(self) -> str:
        """Older answers become stubs, and replies are held shorter."""
        self._reply_tokens = LEAST_REPLY_TOKENS
        dropped = self._thread.make_room()
        return (
            f"{dropped} older answers were taken out, replies held to {LEAST_REPLY_TOKENS} tokens"
        )

    def _kept(self, reply: ModelReply) -> str:
        text = reply.text or reply.refusal
        if self._step is not None and (not text or len(text) > LONGEST_REPLY):
            return self._step.canonical()
        return cut(text, LONGEST_REPLY)


def paper_prompt(opening: Opening, harness: str) -> str:
    """The system message: brain, harness, and the tools on paper."""
    said = opening.toolbox.words(system_prompt(opening.brain, harness))
    return f"{said}\n{tool_sheet(opening.toolbox.specs)}"


def _schemas(toolbox: Toolbox) -> tuple[Any, Any]:
    """The schema of a step, and of the last one."""
    names = tuple(spec.name for spec in toolbox.specs)
    return step_schema(names), step_schema((toolbox.submit_name(),))
