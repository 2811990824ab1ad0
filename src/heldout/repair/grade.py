"""What an episode was worth: a gate, and parts that count only behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from heldout.repair.defect import Truth
from heldout.repair.episode import Episode
from heldout.repair.probes import Probes, failed, probe
from heldout.repair.report import IncidentReport, agreement
from heldout.repair.sandbox.runner import SandboxError

WEIGHTS = {"fix": 0.40, "no_regression": 0.15, "report": 0.25, "sla": 0.10, "focus": 0.10}
REPORT_ONLY = 0.25
"""Ceiling without a repair: what an investigation that changes nothing can earn."""

HINT_CEILINGS = (1.0, 0.8, 0.8, 0.5)
MAX_FOCUSED_LINES = 30


@dataclass(frozen=True, slots=True)
class Grade:
    """``score`` from 0 to 1, None when the environment failed; ``parts`` each from 0 to 1."""

    score: float | None
    repaired: bool
    parts: dict[str, float]
    reasons: tuple[str, ...]
    unscored: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "score": None if self.score is None else round(self.score, 4),
            "repaired": self.repaired,
            "parts": {name: round(value, 4) for name, value in self.parts.items()},
            "reasons": list(self.reasons),
            "unscored": self.unscored,
        }


def grade(episode: Episode) -> Grade:
    """Probe the code as the episode left it, and weigh."""
    if episode.unscored:
        return Grade(None, False, {}, (), episode.unscored)
    state = episode.state()
    try:
        found = probe(episode.sandbox, episode.instance, episode.workspace.tree, state)
    except SandboxError as broken:
        return Grade(None, False, {}, (), broken.what)
    finally:
        state.database.close()
    return weigh(episode, found)


def weigh(episode: Episode, probes: Probes) -> Grade:
    """The grade of an episode whose code was probed."""
    truth = episode.instance.truth
    at_fault, elsewhere = failed(probes.at_fault), failed(probes.elsewhere)
    untouched = episode.workspace.tree.digest == episode.workspace.base.digest
    untouched = untouched and not episode.taken_back
    repaired = not at_fault and (episode.instance.is_healthy or not untouched)
    parts = {
        "fix": 1.0 if repaired else 0.0,
        "no_regression": _share(len(elsewhere), len(probes.elsewhere)),
        "report": _report(episode, truth),
        "sla": _sla(episode),
        "focus": _focus(episode, truth),
    }
    reasons = tuple(f"{one.service or 'platform'}, {one.name}: {one.seen[:200]}"
                    for one in (*at_fault, *elsewhere))  # fmt: skip
    if repaired:
        score = sum(WEIGHTS[name] * value for name, value in parts.items())
    else:
        score = REPORT_ONLY * parts["report"] if episode.report else 0.0
    return Grade(score, repaired, parts, reasons)


def _share(bad: int, of: int) -> float:
    return 1.0 - bad / of if of else 1.0


def _report(episode: Episode, truth: Truth) -> float:
    said = episode.report
    if said is None:
        return 0.0
    right = [
        0.15 * (said.service == truth.service),
        0.20 * (said.file == truth.file),
        0.10 * (said.symbol.split(".")[-1] == truth.symbol),
        0.20 * (said.mechanism == truth.mechanism),
        0.10 * (said.introduced_by == episode.history.guilty),
        0.15 * agreement(set(truth.affected), set(said.affected)),
        0.10 * _evidence(episode, said),
    ]
    return min(sum(right), HINT_CEILINGS[min(episode.hints, 3)])


def _evidence(episode: Episode, said: IncidentReport) -> float:
    """Three ids of what was shown are enough; many more than that are worth nothing."""
    named = len(set(said.evidence) & episode.shown)
    return min(1.0, named / 3) if len(said.evidence) <= 12 else 0.0


def _sla(episode: Episode) -> float:
    left = 1.0 - episode.minute / episode.sla_minutes
    return max(0.0, min(1.0, 0.4 + left))


def _focus(episode: Episode, truth: Truth) -> float:
    base, tree = episode.workspace.base, episode.workspace.tree
    changed = [path for path in tree if base.files.get(path) != tree.files[path]]
    lines = sum(
        line[:1] in "+-" and line[:3] not in ("+++", "---")
        for line in episode.workspace.diff().splitlines()
        if line
    )
    focused = 1.0 if lines <= MAX_FOCUSED_LINES else MAX_FOCUSED_LINES / lines
    beside = [path for path in changed if path in truth.symptoms]
    return 0.0 if beside else focused
