"""The judge of repairs: the code as an agent left it is built again and probed, nothing is read.

A submission passes if the hidden probes at the defect pass and none elsewhere fails that the
healthy code passes. The report's parts and the grade are told beside it. Where the environment
fails itself there is no verdict.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import heldout.repair
from heldout.errors import WorldError
from heldout.interface import Submission
from heldout.judge.verdict import Verdict
from heldout.repair.grade import Grade, grade
from heldout.repair.outcome import again
from heldout.repair.sandbox.runner import Sandbox
from heldout.truth import Truth

NAME = "repair"


def judge_repair(submission: Submission, truth: Truth) -> Verdict:
    """Judge one repair. A sandbox that fails is a :class:`WorldError`, never a wrong answer."""
    if not submission.artifact:
        said = "The episode ended without a report, so nothing was handed in."
        return Verdict("fail", said, NAME, {"answered": False, "repaired": False})
    episode = again(submission.artifact, Sandbox())
    try:
        found = grade(episode)
    finally:
        episode.close()
    if found.score is None:
        raise WorldError(
            f"the sandbox failed while the repair was probed: {found.unscored[:200]}",
            mend="It counts as invalid; resume the run",
        )
    clean = found.parts["no_regression"] == 1.0
    criteria = {"answered": True, "repaired": found.repaired, "no_regression": clean}
    passed = found.repaired and clean
    return Verdict("pass" if passed else "fail", _told(found, submission, truth), NAME, criteria)


def _told(found: Grade, submission: Submission, truth: Truth) -> str:
    parts = ", ".join(f"{name} {value:.2f}" for name, value in found.parts.items())
    lines = [f"Grade {found.score:.2f} ({parts})."]
    lines += [f"A probe fails: {reason}." for reason in found.reasons[:4]]
    if not found.repaired:
        lines.append(f"The defect is at {truth.culprit_entity}, since {truth.culprit_change}.")
    if submission.root_cause_change not in truth.accepted_changes:
        lines.append(f"The report blames {submission.root_cause_change or 'no commit'}.")
    return " ".join(lines)


@cache
def repair_hash() -> str:
    """Hash over the code that judges repairs: part of a run's manifest."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    root = Path(heldout.repair.__path__[0])
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
