"""One investigation: the loop over a model's tool calls, its limits, its journal, its trace."""

from heldout.agent.investigation import Limits, investigate
from heldout.agent.journal import JournalEntry, OnStep
from heldout.agent.modes import Mode, NotebookOptions, mode_of
from heldout.agent.pinning import prompt_hash
from heldout.agent.sandbox import SandboxFailure
from heldout.agent.talk import Model
from heldout.agent.trace import Step, StopReason, Trace

__all__ = [
    "JournalEntry",
    "Limits",
    "Mode",
    "Model",
    "NotebookOptions",
    "OnStep",
    "SandboxFailure",
    "Step",
    "StopReason",
    "Trace",
    "investigate",
    "mode_of",
    "prompt_hash",
]
