"""The tools of an episode: typed arguments, one sentence for the model, and what they do."""

from __future__ import annotations

from heldout.repair.tools.editing import EDITING
from heldout.repair.tools.observing import OBSERVING
from heldout.repair.tools.reading import READING
from heldout.repair.tools.submitting import SUBMITTING
from heldout.repair.tools.testing import TESTING
from heldout.repair.tools.tool import Tool

TOOLS: dict[str, Tool] = {
    tool.name: tool for tool in (*READING, *EDITING, *OBSERVING, *TESTING, *SUBMITTING)
}
"""Every tool by its name, in the order in which agents are told of them."""

__all__ = ["TOOLS", "Tool"]
