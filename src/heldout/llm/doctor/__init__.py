"""Examine an endpoint in a handful of tiny requests: what it can do, and what to set."""

from __future__ import annotations

from heldout.llm.doctor.advice import Advice
from heldout.llm.doctor.examine import Examination, Examiner, OverWire, Planned
from heldout.llm.doctor.finding import Finding
from heldout.llm.doctor.text import closing, line, opening, plain

__all__ = [
    "Advice",
    "Examination",
    "Examiner",
    "Finding",
    "OverWire",
    "Planned",
    "closing",
    "line",
    "opening",
    "plain",
]
