"""What a tool is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from heldout.interface import ToolSpec

if TYPE_CHECKING:
    from heldout.repair.episode import Episode


class ToolRefused(Exception):
    """A call that does not fit; costs a step and is answered, never raised to a caller."""

    def __init__(self, code: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.more = more


@dataclass(frozen=True, slots=True)
class Shown:
    """What a tool says: plain data, the ids in it, and the simulated minutes that it took."""

    data: Mapping[str, Any]
    ids: tuple[str, ...] = ()
    minutes: float = 1.0
    final: bool = False


class Arguments(BaseModel):
    """Arguments of a tool; others than those named are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Nothing(Arguments):
    """No arguments."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: its name, what a model is told of it, its arguments, what it does."""

    name: str
    description: str
    arguments: type[BaseModel]
    run: Callable[[Episode, Any], Shown]

    def spec(self) -> ToolSpec:
        """The tool as an agent's model wants it."""
        schema = self.arguments.model_json_schema()
        schema.pop("title", None)
        schema.pop("description", None)
        for one in schema.get("properties", {}).values():
            one.pop("title", None)
        return ToolSpec(self.name, self.description, schema)
