"""One request for each step: alert and a notebook of the steps so far, written anew each time.

Small models that repeat their last call for ever in a chat investigate with a notebook. The trace
keeps the steps as a conversation, and :func:`pages` writes from it again what was asked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from heldout.agent.modes.dialogue import Formats, Opening, Taken
from heldout.agent.modes.json_steps import LEAST_REPLY_TOKENS, JsonDialogue
from heldout.agent.prompt import (
    LAST_CHANCE,
    NOTEBOOK_EMPTY,
    NOTEBOOK_GONE,
    NOTEBOOK_HARNESS,
    NOTEBOOK_HEADING,
    NOTEBOOK_IDS,
    NOTEBOOK_LEFT,
    NOTEBOOK_STUB,
    NOTEBOOK_TWICE,
    SUBMIT,
    UNSHOWN,
)
from heldout.agent.shortening import cut, shortened, slim
from heldout.agent.shown import REFUSALS, Shown
from heldout.agent.steps import read_steps, step_schema
from heldout.agent.toolbox import typed_error
from heldout.agent.trace import Step, Trace
from heldout.interface import ToolAnswer
from heldout.llm.messages import ModelReply, ModelRequest, ToolCall

CHARACTERS_PER_TOKEN = 3
"""JSON with ids is denser than prose; tokens are estimated on the safe side."""


@dataclass(frozen=True, slots=True)
class NotebookOptions:
    """Bounds of a notebook, in tokens and characters."""

    tokens: int = 16_000
    short_answers: tuple[int, ...] = (1_600, 700)
    """Lengths to which answers are shortened, one after the other, before they are left out."""
    longest_thought: int = 200
    longest_arguments: int = 400
    other_ids: int = 40

    @property
    def characters(self) -> int:
        """The budget in characters."""
        return self.tokens * CHARACTERS_PER_TOKEN


@dataclass(frozen=True, slots=True)
class NotebookMode:
    """For models without native tool calls that lose themselves in a chat."""

    options: NotebookOptions = field(default_factory=NotebookOptions)
    formats: Formats = field(default_factory=Formats)
    name: str = "notebook"

    def open(self, opening: Opening) -> NotebookDialogue:
        """Begin one investigation."""
        return NotebookDialogue(opening, self.options)


@dataclass(frozen=True, slots=True)
class Entry:
    """One call in the notebook; made again, it stands once, where it was made first."""

    number: int
    step: Step
    thought: str


class Notebook:
    """The entries and how they are written within the budget.

    While they fit, a page only grows at its end, so that a server's prefix cache serves it.
    The newest answer stands whole. Where all of them do not fit, answers are shortened, the oldest
    first and no more than needed (rows from the end, long values); when that does not do, they are
    left out in the same order, then whole steps are. What says nothing in an answer (no cursor, no
    gaps) is never written: small models stop at it and ask again.
    """

    def __init__(self, options: NotebookOptions, submit: str = SUBMIT) -> None:
        self.options = options
        self._submit = submit
        self._entries: dict[tuple[str, str], Entry] = {}
        self._ids: dict[str, None] = {}
        self.again: dict[str, None] = {}
        """The tools of the calls that were made again since the last new one."""
        self._note = ""
        self._size = 0

    def add(self, step: Step, thought: str) -> None:
        """Write down a call and its answer."""
        key = (step.tool, json.dumps(step.args, sort_keys=True))
        former = self._entries.get(key)
        if former is None:
            thought = cut(thought, self.options.longest_thought)
            self._entries[key] = Entry(step.index + 1, step, thought)
            self.again.clear()
        elif former.step.is_error and not step.is_error:
            self._entries[key] = replace(former, step=step)
        elif step.tool != self._submit:
            # What it answered stands; a refusal to run it again, or another error, says less.
            self.again[step.tool] = None
            self.say(NOTEBOOK_TWICE.format(tool=step.tool, number=former.number))
        for one in step.shown_ids:
            self._ids.pop(one, None)
            self._ids[one] = None

    def say(self, text: str) -> None:
        """A word of the harness for the next page."""
        self._note = f"{self._note}\n\n{text}" if self._note else text

    def turn(self) -> None:
        """The page was answered: its words of the harness are gone."""
        self._note = ""

    def page(self, left: int, whole: int) -> str:
        """The notebook as text, at most as long as its budget."""
        note = self._note
        last = LAST_CHANCE.replace(SUBMIT, self._submit)
        calls = "" if last in note else NOTEBOOK_LEFT.format(left=left, whole=whole)
        tail = "\n\n".join(part for part in (calls, note) if part)
        room = self.options.characters - len(NOTEBOOK_HEADING) - len(tail) - 8
        ids_room = len(NOTEBOOK_IDS) + 12 * self.options.other_ids
        body = self._body(room - ids_room)
        others = self._others(body, ids_room)
        parts = [NOTEBOOK_HEADING, body or NOTEBOOK_EMPTY, others, tail]
        page = "\n\n".join(part for part in parts if part)
        self._size = len(page)
        return page

    def halve(self) -> int:
        """From here on it may take half of what it took last; returns how many tokens."""
        tokens = self._size // (2 * CHARACTERS_PER_TOKEN)
        self.options = replace(self.options, tokens=tokens)
        return tokens

    def _body(self, room: int) -> str:
        entries = list(self._entries.values())
        room -= len(NOTEBOOK_GONE) + 4
        texts = [self._written(entry, slim(entry.step.answer)) for entry in entries]
        total = sum(map(len, texts)) + 2 * len(texts)
        gone = 0
        levels: list[Callable[[Entry], str]] = [
            *(partial(self._short, limit=limit) for limit in self.options.short_answers),
            self._stub,
            _nothing,
        ]
        for level in levels:
            for at in range(len(entries) - 1):
                if total <= room:
                    break
                text = level(entries[at])
                total += len(text) - len(texts[at])
                texts[at] = text
                gone += not text
        if total > room and entries:
            newest = slim(entries[-1].step.answer)
            limit = max(0, room - total + len(newest))
            texts[-1] = self._written(entries[-1], shortened(newest, limit))
        if gone:
            texts.insert(0, NOTEBOOK_GONE.format(count=gone))
        return cut("\n\n".join(text for text in texts if text), max(0, room))

    def _written(self, entry: Entry, answer: str) -> str:
        given = cut(json.dumps(entry.step.args, ensure_ascii=False), self.options.longest_arguments)
        thought = f"\nthought: {entry.thought}" if entry.thought else ""
        return f"{entry.number}. {entry.step.tool} {given}{thought}\nanswer: {answer}"

    def _short(self, entry: Entry, limit: int) -> str:
        return self._written(entry, shortened(slim(entry.step.answer), limit))

    def _stub(self, entry: Entry) -> str:
        return self._written(entry, NOTEBOOK_STUB.format(size=len(entry.step.answer)))

    def _others(self, body: str, room: int) -> str:
        """The newest ids that the page itself no longer shows."""
        hidden = [one for one in reversed(self._ids) if one not in body]
        line = NOTEBOOK_IDS + ", ".join(hidden[: self.options.other_ids])
        return line[:room].rpartition(",")[0] if len(line) > room else line if hidden else ""


def _nothing(entry: Entry) -> str:
    return ""


class NotebookDialogue(JsonDialogue):
    """Asks with system prompt, alert and notebook; keeps the steps as a conversation."""

    def __init__(self, opening: Opening, options: NotebookOptions) -> None:
        super().__init__(opening, NOTEBOOK_HARNESS)
        self._alert = opening.alert
        self._toolbox = opening.toolbox
        self._shown = Shown(opening.alert)
        self._notebook = Notebook(options, self._toolbox.submit_name())
        self._toolbox.guard = self._objection

    def request(self, *, last: bool) -> ModelRequest:
        """Alert and notebook."""
        whole = self._toolbox.max_steps
        page = self._notebook.page(whole - len(self._toolbox.steps), whole)
        page = f"{self._alert}\n\n{page}"
        asked = [self.messages[0], {"role": "user", "content": page}]
        request = replace(super().request(last=last), messages=asked)
        again = self._notebook.again
        if again and not last:
            # Where the schema binds, the model cannot go round in the same calls.
            others = tuple(one.name for one in self._toolbox.specs if one.name not in again)
            request = replace(request, response_schema=step_schema(others))
        return request

    def take(self, reply: ModelReply) -> Taken:
        """The step of a reply."""
        self._notebook.turn()
        return super().take(reply)

    def answered(self, call: ToolCall, answer: str) -> None:
        """Into the notebook and the conversation."""
        step = self._toolbox.steps[-1]
        self._shown.add(step.answer, step.shown_ids, is_error=step.is_error)
        self._notebook.add(step, self._step.thought if self._step else "")
        if self._note:
            self._notebook.say(self._note)
        super().answered(call, answer)

    def say(self, text: str) -> None:
        """Words for the next page."""
        self._notebook.say(text)
        super().say(text)

    def make_room(self) -> str:
        """From here on the notebook may take half of what it took, and replies are held shorter."""
        self._reply_tokens = LEAST_REPLY_TOKENS
        return f"the notebook was halved, to {self._notebook.halve()} tokens"

    def _objection(self, tool: str, args: Mapping[str, Any]) -> ToolAnswer | None:
        """Refuse an answer with ids that no answer has shown, a few times."""
        if tool != self._toolbox.submit_name() or self.counts["unshown"] >= REFUSALS:
            return None
        unknown = self._shown.unknown(args)
        if not unknown:
            return None
        self.counts["unshown"] += 1
        return typed_error("never_shown", f"{unknown}: {UNSHOWN}", self._shown.near(unknown))


def pages(
    trace: Trace,
    max_steps: int,
    options: NotebookOptions | None = None,
    *,
    submit: str = SUBMIT,
) -> Iterator[str]:
    """What was asked with at each request of a notebook's trace, written again from its steps.

    ``options`` are those of the run, ``max_steps`` its limit, ``submit`` the tool that ends it.
    """
    notebook = Notebook(options or NotebookOptions(), submit)
    steps, made, asked = trace.steps, 0, 0
    thought: str | None = None
    for message in trace.messages[2:]:
        content = str(message["content"])
        if message["role"] == "assistant":
            asked += 1
            page = notebook.page(max_steps - made, max_steps)
            if asked == trace.counts.get("room_made_at"):
                notebook.halve()
                page = notebook.page(max_steps - made, max_steps)
            yield page
            notebook.turn()
            found = read_steps(content)
            thought = found[0].thought if found else None
            continue
        if thought is not None and made < len(steps) and content.startswith(steps[made].answer):
            notebook.add(steps[made], thought)
            content = content[len(steps[made].answer) :].lstrip("\n")
            made += 1
        if content:
            notebook.say(content)
