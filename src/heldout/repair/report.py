"""The incident report that ends an episode: fields that can be checked, and evidence shown."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from heldout.repair.defect import MECHANISMS

Short = Annotated[str, Field(max_length=200)]


class IncidentReport(BaseModel):
    """What was wrong, where, since which commit, whom it reached and what was done."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    service: Short = Field(description="service at fault, or 'shared'")
    file: Short = Field(description="path of the file at fault")
    symbol: Short = Field(description="function, class or column at fault")
    mechanism: str = Field(
        description="one of the known mechanisms", json_schema_extra={"enum": list(MECHANISMS)}
    )
    introduced_by: Short = Field(default="", description="id of the commit that brought it in")
    affected: list[Short] = Field(
        default_factory=list, max_length=10, description="services whose users were affected"
    )
    symptoms: list[Short] = Field(
        default_factory=list, max_length=10, description="files that only show it, not changed"
    )
    evidence: list[Short] = Field(
        default_factory=list, max_length=20, description="ids that you were shown"
    )
    summary: str = Field(default="", max_length=2000, description="what was done, in words")


def agreement(wanted: set[str], given: set[str]) -> float:
    """F1 of two sets, 1 when both are empty: naming everything loses as naming nothing does."""
    if not wanted and not given:
        return 1.0
    both = len(wanted & given)
    return 2 * both / (len(wanted) + len(given)) if both else 0.0
