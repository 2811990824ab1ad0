"""Typed errors of tool calls. They are answers to the model and never leave the session."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import orjson

RefusalType = Literal[
    "unknown_id", "unknown_argument", "missing_argument", "bad_argument", "unknown_tool",
    "unavailable", "timeout",
]  # fmt: skip


class Refusal(Exception):
    """A call that cannot be answered: its type, one sentence, and near names that would work."""

    def __init__(self, type_: RefusalType, message: str, near: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.type = type_
        self.message = message
        self.near = tuple(near)

    def text(self) -> str:
        """The error as JSON."""
        body: dict[str, Any] = {
            "error": {"type": self.type, "message": self.message, "near": list(self.near)}
        }
        return orjson.dumps(body).decode()
