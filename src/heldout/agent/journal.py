"""The journal of an investigation under way: what was paid for, so that it is not paid twice.

``investigate`` hands one :class:`JournalEntry` to ``on_step`` as soon as a reply of the model has
arrived, before its tool calls run. Given the entries again as ``resume_steps`` it takes the replies
from there, runs their tool calls on a fresh session (which rebuilds the session's state) and calls
the model only for what is missing.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import orjson

from heldout.errors import StoreError
from heldout.llm.messages import ModelReply


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One reply of the model.

    ``index`` counts requests from 0. ``asked`` is a hash over everything sent so far (messages,
    tools, model, seed): a replay whose conversation differs from the recorded one is refused.
    ``elapsed`` is how long the investigation had worked, in seconds, when it asked: a replay takes
    the same decisions about its time limit. ``room_made`` says that the conversation did not fit
    the model's window and was shortened before this was asked.
    """

    index: int
    asked: str
    elapsed: float
    reply: ModelReply
    room_made: bool = False

    def to_json(self) -> str:
        """One line of JSON."""
        try:
            return orjson.dumps(self).decode()
        except TypeError:
            # Half a surrogate pair, which models do write: only the slower encoder takes it.
            plain = {"index": self.index, "asked": self.asked, "elapsed": self.elapsed}
            return json.dumps({**plain, "reply": self.reply.plain()}, ensure_ascii=True)

    @classmethod
    def from_json(cls, text: str | bytes) -> JournalEntry:
        """Read one line; a truncated or foreign one is a :class:`StoreError`."""
        try:
            data = json.loads(text)
            index, asked, elapsed = data["index"], data["asked"], float(data["elapsed"])
            reply = data["reply"]
            if not isinstance(index, int) or not isinstance(asked, str):
                raise TypeError("index or asked")
            if not isinstance(reply, dict):
                raise TypeError("reply")
            room_made = data.get("room_made") is True
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise StoreError(
                f"a journal line cannot be read ({type(error).__name__})",
                mend="Drop the line and those after it; the rest is asked again",
            ) from error
        return cls(index, asked, elapsed, ModelReply.from_plain(reply), room_made)


OnStep = Callable[[JournalEntry], None]
"""Called synchronously in the event loop for every new (not replayed) reply."""
