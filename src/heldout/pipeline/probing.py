"""``heldout check --behaviour``: every probe of a brain or a patch, on the train half."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from heldout.errors import UsageError
from heldout.pipeline.progress import SILENT, Say, tell
from heldout.settings import Settings

if TYPE_CHECKING:
    from heldout.behaviour import BehaviourReport
    from heldout.brain import Brain

MEASURE = "measure"


@dataclass(frozen=True, slots=True)
class Probing:
    """What was asked for; empty means the default.

    ``target`` is a brain folder or a patch. A patch is held against ``base`` or the brain in use, a
    folder against ``base`` or against no brain at all.
    """

    target: Path | None = None
    base: Path | None = None
    model: str = ""
    set: str = ""
    base_url: str = ""


def check_behaviour(settings: Settings, asked: Probing, say: Say = SILENT) -> BehaviourReport:
    """Probe on train and look for canaries everywhere; what the probes found is the report."""
    return asyncio.run(_probe(settings, asked, say))


async def _probe(settings: Settings, asked: Probing, say: Say) -> BehaviourReport:
    from heldout.behaviour import Bench, ProbeOptions, RunWatch, probe, search, whole
    from heldout.behaviour.ablation import paired
    from heldout.build import cases
    from heldout.canaries import read_watch
    from heldout.environments import open_environment
    from heldout.run import Arm, Budget, Caps, open_month
    from heldout.split import declare_process
    from heldout.store import Ledger
    from heldout.tune import Player, TuneOptions

    declare_process("run")
    before, after = _brains(settings, asked)
    name, model = asked.set or settings.set, asked.model or settings.models.agent
    train = cases(settings, name, "train", workers=2)
    if not train:
        raise UsageError("the set has no train incident", where=name, mend="Name another --set")
    watch = await asyncio.to_thread(read_watch, settings)
    interface, options = open_environment(settings.agent.tools), TuneOptions.of(settings)
    if asked.base_url:
        options = replace(options, base_url=asked.base_url)
    with Ledger.open(settings.ledger) as ledger:
        player = Player(
            settings=settings,
            ledger=ledger,
            interface=interface,
            model=model,
            set=name,
            options=options,
            pins={"settings": settings.digest()},
            budget=Budget(Caps(), within=open_month(settings, ledger)),
            on_event=lambda event: tell(say, event),
            watch=RunWatch(watch, ledger),
        )
        bench = Bench(
            plays=player,
            settings=settings,
            model=model,
            interface=interface,
            cases=train,
            options=ProbeOptions.of(settings),
            seed=options.derived_seed,
            say=say.note,
        )
        played = await player.play(
            "probe",
            train,
            [Arm("before", before), Arm("after", after)],
            repeats=bench.options.repeats,
            seed=options.derived_seed(MEASURE, after.hash),
        )
        measured = paired(played.outcomes, "before", "after")
        report = await probe(bench, before, after, [whole(before, after)], measured)
        found = search(settings, watch, ledger, after)
    return replace(report, canaries=tuple(found))


def _brains(settings: Settings, asked: Probing) -> tuple[Brain, Brain]:
    from heldout.brain import Brain, load_brain
    from heldout.edit import read_patch

    path = asked.target or settings.brain
    if not path.exists():
        raise UsageError("no such file or folder", where=str(path), mend="Name a brain or a patch")
    if path.is_dir():
        base = load_brain(asked.base) if asked.base else Brain(files={}, load=())
        return base, load_brain(path)
    base = load_brain(asked.base or settings.brain)
    return base, read_patch(path, base)
