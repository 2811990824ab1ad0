"""What an environment offers to an agent, whatever it simulates.

Harness, ledger, gate and statistics see only this; they don't know which environment runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool: its name, one paragraph for the model, and a JSON schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]

    def wire(self) -> dict[str, Any]:
        """The tool as Chat Completions wants it."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": dict(self.parameters),
            },
        }


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a call returned: ``text`` is JSON, <= 8 KiB; an error is never an empty result."""

    text: str
    is_error: bool = False
    shown_ids: tuple[str, ...] = ()
    final: bool = False


@dataclass(frozen=True, slots=True)
class Submission:
    """The agent's diagnosis. ``None`` in the two root-cause slots means 'none' was answered."""

    root_cause_entity: str | None = None
    root_cause_change: str | None = None
    mechanism: str = ""
    trigger: str = ""
    affected: tuple[str, ...] = ()
    evidence_ids: tuple[str, ...] = ()
    ruled_out: tuple[str, ...] = ()
    unavailable_sources: tuple[str, ...] = ()
    recommended_fix: str = ""
    alternatives: tuple[str, ...] = ()
    """Entities suspected next, likeliest first. The verdict never counts them."""
    artifact: str = ""
    """What an environment that can be changed hands to its judge; no agent writes it."""
    complete: bool = field(default=True)
    """False when the investigation ended on a limit and this is what there was."""

    def as_dict(self) -> dict[str, Any]:
        """Plain data for the ledger."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Submission:
        """Rebuild from :meth:`as_dict`, also after a way through JSON."""
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in plain.items()
        }
        return cls(**values)


class Session(Protocol):
    """One investigation's view of one environment."""

    def call(self, tool: str, args: Mapping[str, Any]) -> ToolAnswer:
        """Answer one call; wrong names and arguments come back as typed errors, never raised."""
        ...

    def finish(self) -> Submission | None:
        """The submission made so far, ``None`` when there was none."""
        ...

    def close(self) -> None:
        """Release what the session holds."""
        ...


class Interface(Protocol):
    """An environment: the tools it offers and how to open one of its tasks."""

    @property
    def name(self) -> str:
        """Short name, part of the run's manifest and of brain overlays."""
        ...

    def tool_specs(self) -> tuple[ToolSpec, ...]:
        """The tools, in stable order, identical before and after tuning."""
        ...

    def open(self, task_ref: str, seed: int) -> Session:
        """Open one task (for a world: the path of its directory)."""
        ...


def acting(interface: Interface) -> frozenset[str]:
    """The tools with which an environment is changed: its ``acts``, none where it has none.

    After one of them an answer that was given before may be another.
    """
    return frozenset(getattr(interface, "acts", ()))
