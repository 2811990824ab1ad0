"""One investigation as the measures see it: its calls with what came back, read once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from heldout.agent.trace import Step, Trace
from heldout.compare import Footprint, footprint
from heldout.transcript import error_of, parsed, rows_of


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call with its parsed answer."""

    step: Step
    answer: Mapping[str, Any]

    @property
    def tool(self) -> str:
        """The tool's name as it was asked for."""
        return self.step.tool

    @property
    def subject(self) -> str:
        """The tool, with the first word of its command where it takes one: ``kubectl get``."""
        command = self.step.args.get("command")
        words = command.split() if isinstance(command, str) else []
        return f"{self.tool} {words[0][:40]}" if words else self.tool

    @property
    def error(self) -> str:
        """The type of the typed error, empty where the call was answered."""
        if not self.step.is_error:
            return ""
        return str(error_of(self.answer).get("type") or "error")

    @property
    def message(self) -> str:
        """The error's sentence."""
        return str(error_of(self.answer).get("message") or "")

    @property
    def near(self) -> list[str]:
        """The names that the error says would have worked."""
        near = error_of(self.answer).get("near")
        return [str(one) for one in near] if isinstance(near, list) else []

    @property
    def rows(self) -> list[Any] | None:
        """The rows that came back; ``None`` for an error and for an answer that has none."""
        if self.step.is_error or "rows" not in self.answer:
            return None
        return rows_of(self.answer)

    @property
    def empty(self) -> bool | None:
        """Whether nothing was found, as rows or as text; ``None`` where that can't be told."""
        if self.rows is not None:
            return not self.rows
        if self.step.is_error or "output" not in self.answer:
            return None
        return self.answer.get("total_estimate") == 0


@dataclass(frozen=True, slots=True)
class Known:
    """What the world of an incident holds; ``None`` where the world is not on disk."""

    entities: frozenset[str] | None = None
    changes: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Play:
    """One investigation. ``offered`` are the run's tools, empty where they are no longer known."""

    trace: Trace
    calls: tuple[Call, ...]
    foot: Footprint
    known: Known
    offered: tuple[str, ...] = ()

    @classmethod
    def of(cls, trace: Trace, known: Known, offered: tuple[str, ...] = ()) -> Play:
        """Read a trace."""
        calls = tuple(Call(step, parsed(step.answer)) for step in trace.steps)
        return cls(trace, calls, footprint(trace, known.entities), known, offered)

    def failed(self, *kinds: str) -> Iterator[Call]:
        """The calls that were refused with one of these error types."""
        return (call for call in self.calls if call.error in kinds)
