"""A toy environment and a scripted model for tests of the agent loop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from heldout.agent import JournalEntry, Mode, Trace, investigate
from heldout.brain import Brain
from heldout.incident import Incident
from heldout.interface import Submission, ToolAnswer, ToolSpec
from heldout.llm import ModelReply, ModelRequest, ToolCall, Usage
from heldout.run.plan import Limits

INCIDENT = Incident("i-1", "toy", "# Latency high\nService: mirlo", Path("/nowhere"), "d")
BRAIN = Brain({"method.md": "Look before you answer.\n"}, ("method.md",))
SKILL = "---\nname: fleet\ndescription: compare siblings\n---\nCompare the failing with a healthy one.\n"
SKILLED = Brain(
    {**BRAIN.files, "skills/fleet/SKILL.md": SKILL},
    ("method.md",),
    on_demand=("skills/fleet/SKILL.md",),
)
LIMITS = Limits()


@dataclass
class ToySession:
    """Answers ``look`` with what it was asked and keeps what is submitted."""

    broken: Exception | None = None
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    made: Submission | None = None
    closed: bool = False

    def call(self, tool: str, args: Mapping[str, Any]) -> ToolAnswer:
        """One call."""
        self.calls.append((tool, dict(args)))
        if self.broken is not None:
            raise self.broken
        if tool == "submit_diagnosis":
            if "mechanism" not in args:
                return ToolAnswer('{"error":{"type":"missing_argument"}}', is_error=True)
            self.made = Submission(
                root_cause_entity=args.get("root_cause_entity"), mechanism=str(args["mechanism"])
            )
            return ToolAnswer('{"accepted":true}', final=True)
        return ToolAnswer(json.dumps({"rows": [args], "n": len(self.calls)}), shown_ids=("e-1",))

    def finish(self) -> Submission | None:
        """What was submitted."""
        return self.made

    def close(self) -> None:
        """Remember it."""
        self.closed = True


@dataclass
class Toy:
    """The environment; ``sessions`` are those opened so far."""

    broken: Exception | None = None
    refuses_to_open: Exception | None = None
    name: str = "toy"
    sessions: list[ToySession] = field(default_factory=list)

    def tool_specs(self) -> tuple[ToolSpec, ...]:
        """Two tools."""
        schema = {"type": "object", "properties": {"q": {"type": "string"}}}
        return (
            ToolSpec("look", "Look.", schema),
            ToolSpec("submit_diagnosis", "Answer.", {"type": "object"}),
        )

    def open(self, task_ref: str, seed: int) -> ToySession:
        """A fresh session."""
        if self.refuses_to_open is not None:
            raise self.refuses_to_open
        self.sessions.append(ToySession(self.broken))
        return self.sessions[-1]


Line = ModelReply | Exception | Callable[[ModelRequest], ModelReply]


@dataclass
class Scripted:
    """A model that says its lines in turn and repeats the last; keeps copies of what it was asked."""

    lines: Sequence[Line]
    asked: list[ModelRequest] = field(default_factory=list)

    async def complete(self, request: ModelRequest) -> ModelReply:
        """The next line."""
        messages = [dict(message) for message in request.messages]
        self.asked.append(replace(request, messages=messages, tools=list(request.tools)))
        line = self.lines[min(len(self.asked), len(self.lines)) - 1]
        if isinstance(line, Exception):
            raise line
        return line if isinstance(line, ModelReply) else line(request)


def says(
    text: str = "", *calls: tuple[str, str], usd: float | None = 0.01, **kwargs: Any
) -> ModelReply:
    """A reply with text and calls (name, argument text)."""
    kwargs.setdefault("usage", Usage(100, 10, 40, 4))
    return ModelReply(
        text=text,
        tool_calls=tuple(ToolCall(f"call_{i}", name, args) for i, (name, args) in enumerate(calls)),
        finish_reason=kwargs.pop("finish_reason", "tool_calls" if calls else "stop"),
        served_model=kwargs.pop("served_model", "toy-1"),
        usd=usd,
        seconds=kwargs.pop("seconds", 1.0),
        **kwargs,
    )


def look(q: str = "x", **kwargs: Any) -> ModelReply:
    """A reply that calls ``look``."""
    return says("", ("look", json.dumps({"q": q})), **kwargs)


def submit(mechanism: str = "pool", **kwargs: Any) -> ModelReply:
    """A reply that submits."""
    return says("", ("submit_diagnosis", json.dumps({"mechanism": mechanism})), **kwargs)


def step(tool: str, /, thought: str = "", **arguments: Any) -> str:
    """A step as the JSON modes ask for it."""
    return json.dumps({"thought": thought, "tool": tool, "arguments": arguments})


def play_in(
    mode: Mode,
    *lines: Line,
    toy: Toy | None = None,
    limits: Limits = LIMITS,
    resume: Sequence[JournalEntry] = (),
    journal: list[JournalEntry] | None = None,
) -> tuple[Trace, Scripted]:
    """One investigation by a scripted model in one mode."""
    model = Scripted(lines)
    trace = asyncio.run(
        investigate(
            INCIDENT, BRAIN, model, toy or Toy(), model="openai/gpt-5@low", limits=limits, seed=5,
            on_step=None if journal is None else journal.append, resume_steps=resume, mode=mode,
        )
    )  # fmt: skip
    return trace, model


def play(
    *lines: Any,
    toy: Toy | None = None,
    brain: Brain = BRAIN,
    limits: Limits = LIMITS,
    resume: Sequence[JournalEntry] = (),
    journal: list[JournalEntry] | None = None,
    seed: int = 5,
) -> tuple[Trace, Scripted]:
    """One investigation by a scripted model."""
    model = Scripted(lines)
    trace = asyncio.run(
        investigate(
            INCIDENT, brain, model, toy or Toy(), model="openai/gpt-5@low", limits=limits, seed=seed,
            on_step=None if journal is None else journal.append, resume_steps=resume,
        )
    )  # fmt: skip
    return trace, model
