"""Judging models in a plan: nothing where the strict judge decides alone."""

from __future__ import annotations

from heldout.pipeline.planning.pricing import price
from heldout.pipeline.planning.stage import Stage
from heldout.pipeline.planning.unit import judgement
from heldout.settings import Settings
from heldout.store import Ledger


def judge_models(settings: Settings) -> tuple[str, ...]:
    """The judging models, several being a panel; empty for the strict judge."""
    return settings.judge.models if settings.judge.by == "llm" else ()


def judged(settings: Settings, ledger: Ledger | None, model: str, count: int) -> tuple[Stage, ...]:
    """What judging ``count`` investigations takes, a stage for each judging model."""
    models = judge_models(settings)
    unit = judgement(ledger, model)
    share = 1 if unit.assumed else 1 / max(1, len(models))
    return tuple(
        Stage(f"judging by {one}", round(count * share), None, unit, price(settings, one), "calls")
        for one in models
    )
