"""Failures into edits: redaction, digests, clusters, strategies, memory."""

from heldout.propose.clusters import (
    Cluster,
    Failure,
    cluster,
    companions,
    merged,
    next_cluster,
    unread,
)
from heldout.propose.digest import digest
from heldout.propose.drafts import apply_draft, placed, target_file
from heldout.propose.memory import Rejected, remembered
from heldout.propose.recall import Recalled, recall
from heldout.propose.redact import Redactor, redactor_for
from heldout.propose.searching import Found, Searching, SearchTerms, Trials
from heldout.propose.shorten import SHORTEN, grown, no_shortening, shorten
from heldout.propose.strategies import STRATEGIES, strategy
from heldout.propose.strategy import Request, Strategy, readable_files

__all__ = [
    "SHORTEN",
    "STRATEGIES",
    "Cluster",
    "Failure",
    "Found",
    "Recalled",
    "Redactor",
    "Rejected",
    "Request",
    "SearchTerms",
    "Searching",
    "Strategy",
    "Trials",
    "apply_draft",
    "cluster",
    "companions",
    "digest",
    "grown",
    "merged",
    "next_cluster",
    "no_shortening",
    "placed",
    "readable_files",
    "recall",
    "redactor_for",
    "remembered",
    "shorten",
    "strategy",
    "target_file",
    "unread",
]
