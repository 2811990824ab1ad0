"""Typed model calls. The only room with DSPy, which it imports when a call is made."""

from heldout.signatures.calls import diagnose, propose, revise
from heldout.signatures.engine import Client
from heldout.signatures.records import (
    BEHAVIOURS,
    Answered,
    Diagnosis,
    Spent,
    diagnosis_from_plain,
)

__all__ = [
    "BEHAVIOURS",
    "Answered",
    "Client",
    "Diagnosis",
    "Spent",
    "diagnose",
    "diagnosis_from_plain",
    "propose",
    "revise",
]
