"""The canary: the same train incidents with the same frozen brain, again and again.

What moves between two of its runs is not the brain: it is the provider's doing, or the harness's.
"""

from heldout.drift.canary import CanaryOptions, run_canary
from heldout.drift.comparing import Canary, compare
from heldout.drift.history import canaries, canary_note, canary_rows, canary_text
from heldout.drift.series import Series, next_sitting

__all__ = [
    "Canary",
    "CanaryOptions",
    "Series",
    "canaries",
    "canary_note",
    "canary_rows",
    "canary_text",
    "compare",
    "next_sitting",
    "run_canary",
]
