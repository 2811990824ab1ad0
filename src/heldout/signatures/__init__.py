"""Typed model calls. The only room with DSPy, which it imports when a call is made."""

from heldout.signatures.calls import (
    compress,
    diagnose,
    propose,
    propose_blind,
    propose_lines,
    review_lines,
    revise,
)
from heldout.signatures.engine import Client
from heldout.signatures.records import (
    BEHAVIOURS,
    QUESTIONS,
    Answered,
    Diagnosis,
    LineReview,
    Spent,
    diagnosis_from_plain,
)
from heldout.signatures.reports import read_report

__all__ = [
    "BEHAVIOURS",
    "QUESTIONS",
    "Answered",
    "Client",
    "Diagnosis",
    "LineReview",
    "Spent",
    "compress",
    "diagnose",
    "diagnosis_from_plain",
    "propose",
    "propose_blind",
    "propose_lines",
    "read_report",
    "review_lines",
    "revise",
]
