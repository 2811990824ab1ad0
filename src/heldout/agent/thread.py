"""What is said in an investigation: all of it for the trace, and what of it is still sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from heldout.agent.prompt import DROPPED

Message = dict[str, Any]
KEPT_ANSWERS = 2
"""The newest answers stay whole when room is made; where there are no more, the newest one."""


@dataclass(slots=True)
class Thread:
    """A conversation that is appended to and never rebuilt, until it outgrows the model's window.

    ``record`` keeps every message as it was. ``sent`` is the same list until room is made; from
    then on older answers of tools are stubs in it.
    """

    record: list[Message]
    sent: list[Message] = field(init=False)
    _answers: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.sent = self.record

    def add(self, message: Message) -> None:
        """Append one message."""
        self.record.append(message)
        if self.sent is not self.record:
            self.sent.append(message)

    def add_answer(self, message: Message) -> None:
        """Append the answer of a tool."""
        self._answers.append(len(self.record))
        self.add(message)

    def say(self, text: str) -> None:
        """Words of the harness; joined to a message of the user's that still waits to be sent.

        Many chat templates refuse two messages of one role in a row.
        """
        last = self.record[-1]
        if last["role"] == "user":
            last["content"] = f"{last['content']}\n\n{text}"
        else:
            self.add({"role": "user", "content": text})

    def make_room(self) -> int:
        """Take older answers out of what is sent; returns how many, 0 where nothing is left."""
        keep = KEPT_ANSWERS if len(self._answers) > KEPT_ANSWERS else 1
        sent = list(self.sent)
        dropped = 0
        for at in self._answers[:-keep]:
            if len(str(sent[at]["content"])) > len(DROPPED):
                sent[at] = {**sent[at], "content": DROPPED}
                dropped += 1
        if dropped:
            self.sent = sent
        return dropped
