"""Wires: how a request becomes bytes and a response's bytes become a reply.

One file each, behind :class:`Wire`; :func:`wire_named` gives one by the name that settings use.
"""

from __future__ import annotations

from typing import Literal, Protocol, get_args

from heldout.errors import ConfigError
from heldout.llm.messages import ModelReply, ModelRequest
from heldout.llm.names import ModelName, near
from heldout.llm.wires.chat import ChatWire
from heldout.llm.wires.reading import AnswerFailed
from heldout.llm.wires.responses import ResponsesWire

__all__ = ["WIRES", "AnswerFailed", "Wire", "WireName", "wire_named"]

WireName = Literal["chat", "responses"]
WIRES: tuple[WireName, ...] = get_args(WireName)


class Wire(Protocol):
    """One way to ask. Without state, so that one serves every client."""

    @property
    def name(self) -> str:
        """As settings write it."""
        ...

    @property
    def title(self) -> str:
        """As its inventor writes it."""
        ...

    @property
    def path(self) -> str:
        """Below the base URL."""
        ...

    def encode(self, model: ModelName, request: ModelRequest) -> bytes:
        """The request's body."""
        ...

    def decode(self, raw: bytes, *, where: str, sent_bytes: int) -> ModelReply:
        """The reply in a response's body, without price and times.

        What is not this wire's format is a :class:`~heldout.errors.ProviderProtocol`, an answer
        that the provider's filter withheld a :class:`~heldout.errors.ProviderFiltered`, an error
        told in the body of a success an :class:`AnswerFailed`.
        """
        ...

    def relaxed(self, refusal: str) -> Wire | None:
        """This wire without the optional part that ``refusal`` speaks of; ``None`` if none is."""
        ...


def wire_named(name: str) -> Wire:
    """The wire of this name; another name is a :class:`ConfigError`."""
    if name == "chat":
        return ChatWire()
    if name == "responses":
        return ResponsesWire()
    guess = near(name, WIRES)
    raise ConfigError(
        f"there is no wire '{name[:40]}'",
        mend=f"Did you mean '{guess}'?" if guess else f"Wires: {', '.join(WIRES)}",
    )
