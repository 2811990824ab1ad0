"""Models: names, requests and replies, the client with its limiter, prices."""

from heldout.llm.messages import ModelReply, ModelRequest, ToolCall, Usage
from heldout.llm.names import ModelName

__all__ = ["ModelName", "ModelReply", "ModelRequest", "ToolCall", "Usage"]
