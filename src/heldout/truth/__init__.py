"""Specs and truths: what really happened, and the recipe that makes it happen again."""

from heldout.truth.specs import KINDS, Spec, read_spec, write_spec
from heldout.truth.truths import (
    NONE,
    Decoy,
    NearMiss,
    Truth,
    read_truth,
    truth_digest,
    write_truth,
)

__all__ = [
    "KINDS",
    "NONE",
    "Decoy",
    "NearMiss",
    "Spec",
    "Truth",
    "read_spec",
    "read_truth",
    "truth_digest",
    "write_spec",
    "write_truth",
]
