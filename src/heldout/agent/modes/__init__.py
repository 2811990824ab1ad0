"""How a model is asked and how its replies are read: one file for each mode.

============  ==================================================================================
``tools``     native tool calls; several in one reply
``json``      a chat in which every reply is one JSON step, for models without tool calls
``notebook``  one request for each step, with a notebook that is written anew each time
============  ==================================================================================

The loop, its limits, its journal and its traces are the same in all of them.
"""

from __future__ import annotations

from heldout.agent.modes.dialogue import Dialogue, Mode, Opening, Taken
from heldout.agent.modes.json_steps import JsonMode
from heldout.agent.modes.native import ToolsMode
from heldout.agent.modes.notebook import NotebookMode, NotebookOptions
from heldout.errors import ConfigError

__all__ = [
    "Dialogue",
    "JsonMode",
    "Mode",
    "NotebookMode",
    "NotebookOptions",
    "Opening",
    "Taken",
    "ToolsMode",
    "mode_of",
]


def mode_of(name: str, notebook: NotebookOptions | None = None) -> Mode:
    """A mode by its name, for one run: it remembers what the run's endpoint does not take."""
    if name == "tools":
        return ToolsMode()
    if name == "json":
        return JsonMode()
    if name == "notebook":
        return NotebookMode(notebook or NotebookOptions())
    raise ConfigError(f"there is no mode '{name}'", mend="Take tools, json or notebook")
