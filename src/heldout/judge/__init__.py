"""One verdict about one submission."""

from heldout.judge.exact import judge_exact, judge_hash
from heldout.judge.verdict import Result, Verdict

__all__ = ["Result", "Verdict", "judge_exact", "judge_hash"]
