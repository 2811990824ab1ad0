"""Playing a table: one interleaved job per model, on the held-out half or on train.

The held-out half is opened by the score's own process, once per model, with all of its rules: the
gate, the budget of looks, the endpoint, fresh results for every arm. Train is played here.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from pydantic import TypeAdapter

from heldout.behaviour import RunWatch
from heldout.brain import load_brain
from heldout.build import cases
from heldout.canaries import read_watch
from heldout.compare import final_outcomes
from heldout.errors import CapReached, LooksExhausted, UsageError
from heldout.graph import open_interface
from heldout.run import Arm, Caps, Limits, Plan, Terms, play
from heldout.score import Given, ScoreRequest, ScoreResult, read_score, start
from heldout.score.views import Material, evidence_class, incident_results, sides_of
from heldout.settings import Mode, Settings, Wire
from heldout.split import declare_process, read_split
from heldout.store import Ledger, now_us, queries, remember_brain
from heldout.store import brain as stored_brain
from heldout.store.queries import ScoreRow
from heldout.store.transfers import transfers
from heldout.transfer.counting import Played, cells_of, column_of_score
from heldout.transfer.lineup import AFTER, BEFORE, Lineup, line_up
from heldout.transfer.table import Column, Half, Table, read_table

PIN = "transfer"
"""The pin by which the runs and scores of a table are known."""


NOTHING = Given()


class Tell(Protocol):
    """Where progress goes: which table and model, and how far its job is."""

    def __call__(self, name: str, model: str, state: Any) -> None:
        """Take over the newest state."""
        ...


Start = Callable[..., ScoreResult]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a table is asked for.

    ``models`` are the columns, ``owners`` the models whose tuned brains are rows (default: the
    columns' own). ``repeats`` of 0 is the project's for scores. ``base_urls``, ``modes`` and
    ``wires`` are by model, and the project's where a model has none; but an endpoint of the
    project's is its agent's alone. ``max_usd`` is for the whole table.
    """

    models: tuple[str, ...]
    owners: tuple[str, ...] = ()
    half: Half = "test"
    set: str = ""
    repeats: int = 0
    base_urls: Mapping[str, str] = field(default_factory=dict)
    modes: Mapping[str, Mode] = field(default_factory=dict)
    wires: Mapping[str, Wire] = field(default_factory=dict)
    max_usd: float | None = None

    def settings(self, settings: Settings, model: str = "") -> Settings:
        """The project's settings with one model of the table in the agent's place."""
        repeats = self.repeats or settings.score.repeats
        usual = settings.models
        models: dict[str, str] = {}
        if model:
            url = usual.base_url if model == usual.agent else ""
            models = {
                "agent": model,
                "base_url": self.base_urls.get(model, url),
                "mode": self.modes.get(model, usual.mode),
                "wire": self.wires.get(model, usual.wire),
            }
        return replace(
            settings,
            set=self.set or settings.set,
            models=usual.model_copy(update=models),
            score=settings.score.model_copy(update={"repeats": repeats}),
        )


@dataclass(frozen=True, slots=True)
class _Job:
    """A table that is being played."""

    name: str
    settings: Settings
    asked: Asked
    lineup: Lineup
    began: int

    @property
    def compared(self) -> int:
        return len(self.lineup.owners) * len(self.lineup.models)


def transfer(
    settings: Settings,
    asked: Asked,
    *,
    resume: str = "",
    tell: Tell = lambda name, model, state: None,
    given: Given = NOTHING,
    opener: Start = start,
) -> Table:
    """Play a table and keep it in the ledger.

    ``resume`` goes on with one that was stopped; of ``asked`` only a new cap counts then. Raises
    UsageError, LooksExhausted before a model is called, CapReached between two models, and whatever
    stops a score or a run. ``given`` and ``opener`` are for tests.
    """
    job = _again(settings, asked, resume) if resume else _begin(settings, asked)
    if job.asked.half == "train":
        declare_process("run")
    columns: list[Column] = []
    for model in job.lineup.models:
        left = _left(job, columns)
        if job.asked.half == "train":
            columns.append(asyncio.run(_play_train(job, model, left, tell, given)))
        else:
            columns.append(_open_half(job, model, left, tell, opener))
    table = Table(
        transfer=job.name,
        half=job.asked.half,
        set=job.settings.set,
        brain=job.lineup.brain.hash,
        repeats=job.settings.score.repeats,
        owners=job.lineup.owners,
        columns=tuple(columns),
        at=now_us(),
    )
    with Ledger.open(settings.ledger) as ledger:
        ended = {"result_json": table.plain(), "ended": table.at}
        ledger.append("transfers", [_row(job) | ended])
        ledger.flush()
    return table


def stored(ledger: Ledger, name: str = "") -> Table:
    """A finished table by the beginning of its id, by default the newest."""
    rows = [row for row in transfers(ledger) if row.result is not None]
    found = [row for row in rows if row.transfer.startswith(name)]
    if not found or (name and len(found) > 1):
        raise UsageError(
            f"'{name}' names no finished table, or more than one"
            if name
            else "no table was played",
            mend=f"Known: {', '.join(row.transfer for row in rows[:5]) or 'none'}",
        )
    return read_table(found[0].result or {}, where=f"transfer {found[0].transfer}")


def _begin(settings: Settings, asked: Asked) -> _Job:
    settings = asked.settings(settings)
    lineup = line_up(load_brain(settings.brain), asked.models, asked.owners)
    strangers = {*asked.base_urls, *asked.modes, *asked.wires} - set(asked.models)
    if strangers:
        raise UsageError(
            f"{min(strangers)} is no column",
            mend="Say how to reach and ask the columns' models only",
        )
    job = _Job(f"t-{secrets.token_hex(4)}", settings, asked, lineup, now_us())
    with Ledger.open(settings.ledger) as ledger:
        if asked.half == "test":
            _require_looks(settings, ledger, asked.models)
        remember_brain(ledger, lineup.brain)
        for model in lineup.models:
            for brain in lineup.brains(model).values():
                remember_brain(ledger, brain)
        ledger.append("transfers", [_row(job)])
        ledger.flush()
    return job


def _again(settings: Settings, asked: Asked, name: str) -> _Job:
    with Ledger.open(settings.ledger) as ledger:
        rows = [row for row in transfers(ledger) if row.transfer.startswith(name)]
        if len(rows) != 1:
            raise UsageError(f"'{name}' names no table, or more than one", mend="Give its whole id")
        row = rows[0]
        if row.result is not None:
            raise UsageError("it is finished", where=row.transfer, mend="Play a new one")
        brain = stored_brain(ledger, row.brain_hash)
    held = TypeAdapter(Asked).validate_python(row.asked)
    held = replace(held, max_usd=asked.max_usd or held.max_usd)
    settings = held.settings(settings)
    return _Job(row.transfer, settings, held, line_up(brain, held.models, held.owners), row.started)


def _row(job: _Job) -> dict[str, Any]:
    asked = job.asked
    return {
        "transfer": job.name,
        "half": asked.half,
        "set": job.settings.set,
        "brain_hash": job.lineup.brain.hash,
        "started": job.began,
        "asked_json": {
            "models": list(asked.models),
            "owners": list(job.lineup.owners),
            "half": asked.half,
            "set": job.settings.set,
            "repeats": job.settings.score.repeats,
            "base_urls": dict(asked.base_urls),
            "modes": dict(asked.modes),
            "wires": dict(asked.wires),
            "max_usd": asked.max_usd,
        },
    }


def _require_looks(settings: Settings, ledger: Ledger, models: tuple[str, ...]) -> None:
    """Refuse before the first model when any of them has no look left."""
    names, budget = read_split(settings.set_dir()).test, settings.score.looks
    for model in models:
        counted = queries.looks(ledger, model)
        spent = sum(counted.get(name, 0) >= budget for name in names)
        if spent:
            raise LooksExhausted(
                f"{spent} of {len(names)} held-out incidents were opened {budget} times for "
                f"{model}, which is the budget",
                mend="Append new incidents with 'heldout build', raise score.looks (recorded; "
                "resets nothing), or play train with --train",
            )


def _left(job: _Job, columns: list[Column]) -> float | None:
    """What the next model may spend of the table's cap."""
    cap = job.asked.max_usd
    if cap is None:
        return None
    left = cap - sum(column.usd or 0.0 for column in columns)
    if left <= 0:
        raise CapReached(
            f"the cap of {cap:g} USD is reached after {len(columns)} of {len(job.lineup.models)} "
            "models",
            where=f"transfer {job.name}",
            mend=f"Go on with --resume {job.name} --max-usd and a larger cap",
        )
    return left


def _open_half(job: _Job, model: str, left: float | None, tell: Tell, opener: Start) -> Column:
    """One score of the held-out half with every row as an arm; a finished one is only read."""
    arms = job.lineup.arms(model)
    begun = _begun(job, model)
    if begun is None or begun.ended is None:
        brains = {arm: brain.hash for arm, brain in job.lineup.brains(model).items()}
        settings = job.asked.settings(job.settings, model)
        request = ScoreRequest(
            model=model,
            before=brains.pop(BEFORE),
            after=brains.pop(AFTER),
            brains=brains,
            arms=(),
            set=settings.set,
            base_url=settings.models.base_url,
            pins={PIN: job.name},
            floors=False,
            # The endpoint of a score that is gone on with stays as it was written.
            max_usd=left if begun is None else begun.endpoint["max_usd"],
            resume=begun.score if begun is not None else "",
        )
        opener(settings, request, on_progress=lambda state: tell(job.name, model, state))
        begun = _begun(job, model)
    assert begun is not None
    score = read_score(begun.result or {}, where=f"score {begun.score}")
    return column_of_score(score, arms, job.compared)


def _begun(job: _Job, model: str) -> ScoreRow | None:
    """This table's score for one model, finished or not."""
    with Ledger.open(job.settings.ledger) as ledger:
        for row in queries.scores(ledger, model=model):
            if (row.endpoint or {}).get("pins", {}).get(PIN) == job.name:
                return row
    return None


async def _play_train(
    job: _Job, model: str, left: float | None, tell: Tell, given: Given
) -> Column:
    """One run over train; what a stopped one has finished is not played again."""
    began = time.monotonic()
    plan = _train_plan(job, model, given)
    watch = await asyncio.to_thread(read_watch, job.settings) if given.cases is None else None
    with Ledger.open(job.settings.ledger) as ledger:
        looking = RunWatch(watch, ledger) if watch else None
        result = await play(
            plan,
            ledger,
            job.asked.settings(job.settings, model),
            interface=given.interface or open_interface(plan.terms.tools),
            client_factory=given.client_factory,
            on_progress=lambda state: tell(job.name, model, state),
            caps=Caps(max_usd=left),
            judge=given.judge,
        )
        if looking:
            looking.check(result.run)
    arms: dict[str, Any] = {arm.name: [] for arm in plan.arms}
    material = Material(
        cases=plan.cases,
        outcomes=arms | final_outcomes(list(result.outcomes)),
        repeats=plan.repeats,
    )
    played = Played(
        model=model,
        arms=job.lineup.arms(model),
        brains={arm.name: arm.brain.hash for arm in plan.arms},
        incidents=incident_results(material, (), ()),
        sides=sides_of(material),
        repeats=plan.repeats,
        evidence=evidence_class(model, plan.cases),
        compared=job.compared,
    )
    prices = [side.cost.total_usd for side in played.sides.values()]
    return Column(
        model=model,
        evidence=played.evidence.sentence(),
        simulated=played.simulated,
        cells=cells_of(played),
        runs=(result.run,),
        seconds=time.monotonic() - began,
        usd=None if None in prices else sum(price or 0.0 for price in prices),
    )


def _train_plan(job: _Job, model: str, given: Given) -> Plan:
    settings = job.asked.settings(job.settings, model)
    train = cases(settings, settings.set, "train") if given.cases is None else given.cases
    if not train:
        raise UsageError(
            f"the set '{settings.set}' has no train incident", mend="Name another with --set"
        )
    return Plan(
        purpose="train",
        set=settings.set,
        model=model,
        cases=tuple(train),
        arms=tuple(Arm(name, brain) for name, brain in job.lineup.brains(model).items()),
        repeats=settings.score.repeats,
        seed=settings.run.seed,
        limits=Limits(**settings.limits.model_dump()),
        concurrency=settings.run.concurrency,
        max_invalid=settings.run.max_invalid,
        base_url=settings.models.base_url,
        job=job.name,
        terms=replace(Terms.of(settings), reducer="majority"),
        pins={PIN: job.name},
    )
