"""The plan of a tuning job. Its first measurement is exact, the rest depends on what fails."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.llm.names import ModelName
from heldout.pipeline.job import Job, nothing_to_tune_on, settings_of
from heldout.pipeline.planning.earlier import Sizes, sizes
from heldout.pipeline.planning.judging import judge_models, judged
from heldout.pipeline.planning.pricing import cap_lines, price, price_line
from heldout.pipeline.planning.scoring import scoring_stages
from heldout.pipeline.planning.stage import Plan, Stage
from heldout.pipeline.planning.unit import ASSUMED_SHORT, investigation, probe, proposal_call
from heldout.score.size import size_of_half
from heldout.settings import Settings
from heldout.split import read_specs
from heldout.stats import clean_pairs, minimum_detectable_gain
from heldout.store import Ledger
from heldout.tune import TuneOptions
from heldout.tune.acceptance import FINAL_ALPHA, FINAL_MARGIN

ROUNDS = 4
"""Rounds that are assumed of a model's first job, fewer where ``max_rounds`` says so."""
A_CANDIDATE = {"evidence": 110, "looks": 46}
"""Investigations of one candidate by rule; measured, see docs/how-to/acceptance.md."""
DRAFTS = 1.5
"""Calls for one draft, revisions counted."""


@dataclass(frozen=True, slots=True)
class _Counts:
    """How much of each kind: expected, and at most."""

    train: int
    screen: int
    confirm: int
    probe: int
    calls: int


def plan_tuning(job: Job, ledger: Ledger | None) -> Plan:
    """What a job takes, from earlier jobs of its model on its set, else from assumptions."""
    settings = settings_of(job)
    options = TuneOptions.of(settings, target=job.target)
    model, proposer = settings.models.agent, settings.models.proposer
    train = read_specs(settings.set_dir(), "train")
    traps = sum(spec.kind == "trap" for spec in train)
    if not train:
        raise nothing_to_tune_on(settings)
    known = sizes(ledger, model, settings.set, options.strategy) if ledger else None
    expected = (
        _measured(known, options, len(train)) if known else _assumed(options, len(train), traps)
    )
    half = size_of_half(settings)
    stages = _stages(settings, ledger, expected, _bounds(options, len(train)))
    models = dict.fromkeys((model, proposer, *judge_models(settings), *job.transfer))
    scores = [
        stage
        for one in (model, *job.transfer)
        for stage in scoring_stages(settings, ledger, one, half, ("noop",))
    ]
    auto = job.review == "auto"
    units = dict.fromkeys(one.unit.basis for one in (*stages, *scores))
    return Plan(
        title=f"plan of a tuning job · {model} · proposer {proposer}",
        subject=(
            f"set {settings.set}: {traps} traps and {len(train) - traps} controls to tune on, "
            f"{half.traps} and {half.controls} held out · {options.repeats} repeats · at most "
            f"{options.max_rounds} rounds of {options.candidates} candidates · {options.strategy}"
        ),
        stages=(*stages, *scores) if auto else stages,
        further=() if auto else tuple(scores),
        basis=(_basis(known, options), *units),
        prices=tuple(price_line(settings, one) for one in models),
        caps=tuple(cap_lines(settings, ledger, usd=options.max_usd, tokens=options.max_tokens)),
        gain=minimum_detectable_gain(half.traps).sentence(),
        simulated=ModelName.parse(model).is_simulated,
        max_usd=options.max_usd,
    )


def _basis(known: Sizes | None, options: TuneOptions) -> str:
    if known is not None:
        jobs = f"{known.jobs} ended job{'' if known.jobs == 1 else 's'}"
        return (
            f"stages: means of {jobs} of this model, set and strategy, {known.rounds:.0f} rounds "
            "each"
        )
    each = A_CANDIDATE[options.acceptance]
    return (
        "stages: assumed, as no job of this model, set and strategy has ended: "
        f"{min(ROUNDS, options.max_rounds)} rounds, {each} investigations a candidate "
        "(docs/how-to/acceptance.md), every second round with an accepted edit, half of train "
        "unsolved"
    )


def _stages(
    settings: Settings, ledger: Ledger | None, expected: _Counts, most: _Counts
) -> tuple[Stage, ...]:
    model, proposer = settings.models.agent, settings.models.proposer
    paid = price(settings, model)
    unit = investigation(ledger, model, settings.limits.max_steps)
    asked = probe(ledger, model) or ASSUMED_SHORT
    rows = [
        Stage("measuring train", expected.train, most.train, unit, paid),
        Stage("screening candidates", expected.screen, most.screen, unit, paid),
        Stage("confirming on fresh repeats", expected.confirm, most.confirm, unit, paid),
        Stage("probing", expected.probe, most.probe, asked, paid),
    ]
    whole = expected.train + expected.screen + expected.confirm
    reading = Stage(
        "reading failures, writing edits", expected.calls, None,
        proposal_call(ledger, proposer), price(settings, proposer), "calls",
    )  # fmt: skip
    return (*rows, reading, *judged(settings, ledger, model, whole))


def _measured(known: Sizes, options: TuneOptions, incidents: int) -> _Counts:
    """As large as earlier jobs, where the rounds allow it; baselines with today's repeats."""
    share = min(1.0, options.max_rounds / known.rounds) if known.rounds else 1.0
    baseline = incidents * options.repeats
    return _Counts(
        train=max(baseline, round(known.train * baseline)),
        screen=round(share * known.screen),
        confirm=round(known.confirm),
        probe=round(share * known.probe),
        calls=round(share * known.proposer_calls),
    )


def _assumed(options: TuneOptions, incidents: int, traps: int) -> _Counts:
    rounds = min(ROUNDS, options.max_rounds)
    accepted = max(1, rounds // 2)
    # A candidate's investigations are half its own and half the present brain's, which the
    # candidates of a round share.
    each = A_CANDIDATE[options.acceptance] / 2
    if options.strategy == "gepa":
        screen = 2 * each + options.max_metric_calls
    else:
        screen = rounds * each * (options.candidates + 1)
    # Half of train passes at the baseline; pairs are bought until they could rule out harm.
    held = incidents // 2 * options.confirm_repeats
    more = max(0, clean_pairs(FINAL_MARGIN, FINAL_ALPHA) - held)
    readings = traps + rounds * traps / 2 if options.strategy != "blind" else 0
    return _Counts(
        train=incidents * options.repeats + accepted * incidents * options.repeats // 2,
        screen=round(screen),
        confirm=2 * (incidents * options.confirm_repeats + more),
        probe=_probes(options, incidents, accepted + 1, looks=1),
        calls=round(readings + DRAFTS * rounds * options.candidates),
    )


def _probes(options: TuneOptions, incidents: int, asked: int, *, looks: int) -> int:
    """Alert-only questions of ``asked`` brains, and what rename and ablation may take."""
    probes = options.probes
    alone = incidents * 2 * probes.repeats * looks * asked if probes.closed_book else 0
    return alone + (probes.investigations if probes.rename or probes.ablation else 0)


def _bounds(options: TuneOptions, incidents: int) -> _Counts:
    """What the settings let a job play at most; a cap ends it long before."""
    rounds = options.max_rounds
    if options.acceptance == "evidence":
        target, guard = options.max_screen, 2 * options.max_screen
    else:
        target = guard = options.looks * 2 * options.batch * options.screen_repeats
    drafts = 1 if options.strategy == "gepa" else rounds * options.candidates
    searched = options.max_metric_calls if options.strategy == "gepa" else 0
    # Each round may accept one edit and shorten the brain once; what a probe takes out is followed
    # by another confirmation.
    confirmations = 2 * rounds + 1
    return _Counts(
        train=(1 + rounds) * incidents * options.repeats,
        screen=searched + drafts * (target + guard) + rounds * guard,
        confirm=confirmations * (incidents * 2 * options.confirm_repeats + 3 * options.max_screen),
        probe=_probes(options, incidents, drafts + rounds, looks=options.probes.looks)
        + (confirmations - 1) * options.probes.investigations
        + confirmations * incidents * 2 * options.probes.repeats * options.probes.looks,
        calls=0,
    )
