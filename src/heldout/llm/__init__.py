"""Models: names, requests and replies, the client with its limiter, prices.

``open_client`` imports the openai SDK (0.6 s of CPU), so it is loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.llm.messages import (
    ContextExceeded,
    ModelReply,
    ModelRequest,
    RequestRefused,
    ToolCall,
    Usage,
)
from heldout.llm.names import ModelName
from heldout.llm.prices import cost, price_of, prices_as_of

if TYPE_CHECKING:
    from heldout.llm.client import ModelClient, open_client
    from heldout.llm.transports import Bounds

__all__ = [
    "Bounds",
    "ContextExceeded",
    "ModelClient",
    "ModelName",
    "ModelReply",
    "ModelRequest",
    "RequestRefused",
    "ToolCall",
    "Usage",
    "cost",
    "open_client",
    "price_of",
    "prices_as_of",
    "without_kept",
]

_LAZY = {
    "Bounds": "transports",
    "ModelClient": "client",
    "open_client": "client",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(f"heldout.llm.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'heldout.llm' has no attribute '{name}'")
