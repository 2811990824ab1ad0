"""The plan of a transfer table: for each model one score with every brain as an arm."""

from __future__ import annotations

from heldout.brain import load_brain
from heldout.llm.names import ModelName
from heldout.pipeline.planning.judging import judge_models, judged
from heldout.pipeline.planning.pricing import cap_lines, price, price_line
from heldout.pipeline.planning.stage import Plan, Stage
from heldout.pipeline.planning.unit import investigation
from heldout.score.size import Size, size_of_half
from heldout.settings import Settings
from heldout.split import read_specs, read_split
from heldout.stats import minimum_detectable_gain
from heldout.store import Ledger, queries
from heldout.transfer import Asked, line_up
from heldout.transfer.text import row_name


def plan_transfer(settings: Settings, ledger: Ledger | None, asked: Asked) -> Plan:
    """What a table takes, model by model, and what a cell can show at p < 0.05 over all cells."""
    plain = settings
    settings = asked.settings(settings)
    lineup = line_up(load_brain(settings.brain), asked.models, asked.owners)
    size = _size(settings, asked.half)
    repeats = settings.score.repeats
    count = size.incidents * (1 + len(lineup.owners)) * repeats
    stages: list[Stage] = []
    for model in lineup.models:
        own = asked.settings(plain, model)
        name = f"{model}{_look(own, ledger, model, asked.half)}"
        unit = investigation(ledger, model, own.limits.max_steps)
        stages.append(Stage(name, count, count, unit, price(own, model)))
        stages += judged(own, ledger, model, count)
    cells = len(lineup.owners) * len(lineup.models)
    gain = minimum_detectable_gain(size.traps, alpha=float(f"{0.05 / cells:.2g}"))
    half = "held-out" if asked.half == "test" else "train"
    rows = ", ".join(row_name(owner) for owner in ("", *lineup.owners))
    return Plan(
        title="plan of a transfer table",
        subject=(
            f"set {settings.set}: {size.traps} {half} traps and {size.controls} controls · "
            f"{1 + len(lineup.owners)} brains ({rows}) x {repeats} repeats, for each model"
        ),
        stages=tuple(stages),
        basis=tuple(dict.fromkeys(one.unit.basis for one in stages)),
        prices=tuple(price_line(plain, one) for one in (*lineup.models, *judge_models(plain))),
        caps=tuple(cap_lines(plain, ledger, usd=asked.max_usd, tokens=None)),
        gain=f"one cell, over {cells} tuned cells: {gain.sentence()}",
        simulated=all(ModelName.parse(model).is_simulated for model in lineup.models),
        max_usd=asked.max_usd,
    )


def _size(settings: Settings, half: str) -> Size:
    if half == "test":
        return size_of_half(settings)
    specs = read_specs(settings.set_dir(), "train")
    traps = sum(spec.kind == "trap" for spec in specs)
    return Size(traps, len(specs) - traps)


def _look(settings: Settings, ledger: Ledger | None, model: str, half: str) -> str:
    """Which look at the most opened incident this would be."""
    if half != "test":
        return ""
    counted = queries.looks(ledger, model) if ledger else {}
    names = read_split(settings.set_dir()).test
    used = max((counted.get(name, 0) for name in names), default=0)
    return f", look {used + 1} of {settings.score.looks}"
