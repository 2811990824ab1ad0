"""A verdict: pass, fail, or invalid with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from heldout.errors import JudgeError
from heldout.signatures.records import Spent

Result = Literal["pass", "fail", "invalid"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """``reasoning`` is a text for people and the proposer; ``criteria`` says which ones held.

    ``spent`` is what the judging cost: nothing, unless models were asked.
    """

    result: Result
    reasoning: str
    judge: str
    criteria: Mapping[str, Any] = field(default_factory=dict)
    spent: Spent = field(default_factory=Spent)


class NoVerdict(JudgeError):
    """Models were asked and no verdict came of it; what asking cost is kept."""

    def __init__(self, what: str, spent: Spent, *, where: str = "", mend: str = "") -> None:
        super().__init__(what, where=where, mend=mend)
        self.spent = spent
