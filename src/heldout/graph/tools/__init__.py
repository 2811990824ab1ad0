"""The tools that an agent looks at a world with."""

from heldout.graph.tools.backend import WorldBackend
from heldout.graph.tools.catalogue import SUBMIT, tool_specs
from heldout.graph.tools.page import Page, Window
from heldout.graph.tools.refusals import Refusal

__all__ = ["SUBMIT", "Page", "Refusal", "Window", "WorldBackend", "tool_specs"]
