"""One verdict about one submission: by the strict judge, or by models."""

from heldout.judge.choice import (
    EXACT,
    JudgeChoice,
    judge_hash,
    open_judge,
    require_judge,
    under_test,
)
from heldout.judge.exact import judge_exact
from heldout.judge.panel import Panel
from heldout.judge.verdict import NoVerdict, Result, Verdict

__all__ = [
    "EXACT",
    "JudgeChoice",
    "NoVerdict",
    "Panel",
    "Result",
    "Verdict",
    "judge_exact",
    "judge_hash",
    "open_judge",
    "require_judge",
    "under_test",
]
