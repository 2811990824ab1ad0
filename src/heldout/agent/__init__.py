"""One investigation: the loop over a model's tool calls, its limits, its journal, its trace."""

from heldout.agent.investigation import Limits, Model, investigate
from heldout.agent.journal import JournalEntry, OnStep
from heldout.agent.prompt import prompt_hash
from heldout.agent.sandbox import SandboxFailure
from heldout.agent.trace import Step, StopReason, Trace

__all__ = [
    "JournalEntry",
    "Limits",
    "Model",
    "OnStep",
    "SandboxFailure",
    "Step",
    "StopReason",
    "Trace",
    "investigate",
    "prompt_hash",
]
