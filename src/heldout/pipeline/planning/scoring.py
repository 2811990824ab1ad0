"""The plan of a score: it opens the held-out half once, and how much that takes is exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from heldout.llm.names import ModelName
from heldout.pipeline.planning.judging import judge_models, judged
from heldout.pipeline.planning.pricing import cap_lines, price, price_line
from heldout.pipeline.planning.stage import Plan, Stage
from heldout.pipeline.planning.unit import investigation
from heldout.score.looks import choose, looks_of
from heldout.score.size import Size, size_of_half
from heldout.settings import Settings
from heldout.split import read_split
from heldout.stats import minimum_detectable_gain
from heldout.store import Ledger, queries


def plan_scoring(
    settings: Settings,
    ledger: Ledger | None,
    *,
    model: str = "",
    arms: Sequence[str] = ("noop",),
    set_name: str = "",
    skip_exhausted: bool = False,
    max_usd: float | None = None,
) -> Plan:
    """What a score of a model with these further arms takes. A spent budget of looks is
    :class:`LooksExhausted`, as it would be for the score itself.
    """
    settings = replace(settings, set=set_name or settings.set)
    model = model or settings.models.agent
    ids = sorted(read_split(settings.set_dir()).test)
    counted = queries.looks(ledger, model) if ledger else {}
    chosen, excluded = choose(ids, counted, settings.score.looks, skip_exhausted=skip_exhausted)
    looks = looks_of(chosen, counted, settings.score.looks)
    size = size_of_half(settings, exclude=tuple(excluded))
    simulated = ModelName.parse(model).is_simulated
    stages = scoring_stages(settings, ledger, model, size, arms)
    names = ", ".join(("before", "after", *arms))
    return Plan(
        title=f"plan of a score · {model}",
        subject=(
            f"set {settings.set}: {size.traps} traps and {size.controls} controls held out · look "
            f"{looks.number} of {looks.budget} · {2 + len(arms)} arms ({names}) x "
            f"{settings.score.repeats} repeats"
        ),
        stages=stages,
        basis=tuple(dict.fromkeys(one.unit.basis for one in stages)),
        prices=tuple(price_line(settings, one) for one in (model, *judge_models(settings))),
        caps=tuple(cap_lines(settings, ledger, usd=max_usd, tokens=None)),
        gain=minimum_detectable_gain(size.traps).sentence(),
        simulated=simulated,
        max_usd=max_usd,
    )


def scoring_stages(
    settings: Settings, ledger: Ledger | None, model: str, size: Size, arms: Sequence[str]
) -> tuple[Stage, ...]:
    """Playing the held-out half with every arm, and judging it where models judge."""
    count = size.incidents * (2 + len(arms)) * settings.score.repeats
    unit = investigation(ledger, model, settings.limits.max_steps)
    played = Stage(f"the held-out half, {model}", count, count, unit, price(settings, model))
    return (played, *judged(settings, ledger, model, count))
