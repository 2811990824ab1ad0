"""Native tool calls: several in one reply, each answered under its id."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from heldout.agent.modes.dialogue import LONGEST_REPLY, Formats, Opening, Taken
from heldout.agent.prompt import CUT_OFF, MALFORMED, NUDGE, system_prompt
from heldout.agent.shortening import cut
from heldout.agent.textcalls import with_text_call
from heldout.agent.thread import Thread
from heldout.agent.toolbox import read_arguments
from heldout.llm.messages import ModelReply, ModelRequest, ToolCall

LONGEST_MALFORMED = 500
"""Characters that arguments which are no JSON keep in the conversation."""


@dataclass(frozen=True, slots=True)
class ToolsMode:
    """For models that call tools."""

    formats: Formats = field(default_factory=Formats)
    name: str = "tools"

    def open(self, opening: Opening) -> NativeDialogue:
        """Begin one investigation."""
        return NativeDialogue(opening)


class NativeDialogue:
    """Appended to and never rebuilt, so that the provider's cache serves it."""

    patience = 2

    def __init__(self, opening: Opening) -> None:
        self.counts: Counter[str] = Counter()
        self._toolbox = opening.toolbox
        self._seed = opening.seed
        self._tools = opening.toolbox.wire()
        self._thread = Thread(
            [
                {"role": "system", "content": opening.toolbox.words(system_prompt(opening.brain))},
                {"role": "user", "content": opening.alert},
            ]
        )

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The whole conversation."""
        return self._thread.record

    def request(self, *, last: bool) -> ModelRequest:
        """The conversation so far with the tools."""
        tools = self._tools
        if last:
            submit = self._toolbox.submit_name()
            tools = [tool for tool in tools if tool["function"]["name"] == submit]
        return ModelRequest(self._thread.sent, tools, seed=self._seed)

    def take(self, reply: ModelReply) -> Taken:
        """The reply's calls; one that it wrote into its text counts as well."""
        reply = with_text_call(reply, self._toolbox.names)
        told = self._toolbox.words(NUDGE)
        if not reply.tool_calls:
            if reply.finish_reason == "length":
                self.counts["cut_off"] += 1
                told = CUT_OFF
            reply = replace(reply, text=cut(reply.text, LONGEST_REPLY))
        sendable = tuple(_sendable(call) for call in reply.tool_calls)
        self._thread.add(replace(reply, tool_calls=sendable).message())
        return Taken(reply.tool_calls, told)

    def answered(self, call: ToolCall, answer: str) -> None:
        """A message of the tool."""
        self._thread.add_answer({"role": "tool", "tool_call_id": call.id, "content": answer})

    def say(self, text: str) -> None:
        """A message of the user."""
        self._thread.add({"role": "user", "content": text})

    def make_room(self) -> str:
        """Older answers become stubs."""
        dropped = self._thread.make_room()
        return f"{dropped} older answers were taken out" if dropped else ""


def _sendable(call: ToolCall) -> ToolCall:
    """The call as it goes back to the model.

    Servers read the arguments of earlier calls and refuse a conversation in which one is no JSON.
    """
    if not call.arguments.strip():
        return replace(call, arguments="{}")
    if read_arguments(call.arguments) is not None:
        return call
    return replace(call, arguments=json.dumps({MALFORMED: cut(call.arguments, LONGEST_MALFORMED)}))
