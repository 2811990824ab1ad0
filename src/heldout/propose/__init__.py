"""Failures into edits: redaction, digests, clusters, strategies, memory."""

from heldout.propose.clusters import Cluster, Failure, cluster, next_cluster
from heldout.propose.digest import digest
from heldout.propose.drafts import apply_draft, target_file
from heldout.propose.memory import Rejected, remembered
from heldout.propose.redact import Redactor, redactor_for
from heldout.propose.strategy import Request, Strategy, readable_files, strategy

__all__ = [
    "Cluster",
    "Failure",
    "Redactor",
    "Rejected",
    "Request",
    "Strategy",
    "apply_draft",
    "cluster",
    "digest",
    "next_cluster",
    "readable_files",
    "redactor_for",
    "remembered",
    "strategy",
    "target_file",
]
