"""Review: what was proposed, a person's word on it, and which brain is in service."""

from heldout.review.decision import (
    AUTO,
    Accepted,
    Proposed,
    Reviewer,
    accept,
    open_proposal,
    reject,
)
from heldout.review.page import Page, page
from heldout.review.rebasing import require
from heldout.review.release import Released, release, revert, score_of
from heldout.review.status import Beside, ModelStatus, Status, project_status

__all__ = [
    "AUTO",
    "Accepted",
    "Beside",
    "ModelStatus",
    "Page",
    "Proposed",
    "Released",
    "Reviewer",
    "Status",
    "accept",
    "open_proposal",
    "page",
    "project_status",
    "reject",
    "release",
    "require",
    "revert",
    "score_of",
]
