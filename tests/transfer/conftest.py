"""A project in which two models are tuned, with ten traps and four controls without worlds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from tests.score.conftest import BEFORE, HINT, Actor, Desk, make_case

from heldout.brain import APPEND, Brain, write_brain
from heldout.overlays import folder
from heldout.score import Given, ScoreRequest, ScoreResult, run_score
from heldout.settings import RunSettings, ScoreSettings, Settings
from heldout.split import Case, HeldoutAccess, Split
from heldout.store import Ledger
from heldout.transfer import Asked, Table, transfer

ONE, TWO = "openai/one@low", "llama/two"
SECOND = "Compare with a healthy sibling."
BOTH = BEFORE.with_file(f"{folder(ONE)}method.md", f"{APPEND}\n\n- {HINT}\n").with_file(
    f"{folder(TWO)}method.md", f"{APPEND}\n\n- {SECOND}\n"
)


class Reader(Actor):
    """Knows which incidents a model solves with which line in its prompt."""

    def __init__(self, solves: Mapping[str, int], **more: Any) -> None:
        """``solves``: for a line (or none) how many traps, from the first, are solved with it."""
        super().__init__(answer=lambda *_: False, **more)
        self.solves = solves

    async def complete(self, request: Any) -> Any:
        """Answer as an actor does that goes by the prompt."""
        text = " ".join(str(message.get("content")) for message in request.messages)
        many = max((n for line, n in self.solves.items() if line in text), default=0)
        # One actor for each request: several are under way at once.
        actor = Actor(
            answer=lambda incident, *_: incident.startswith("calm") or int(incident[-2:]) < many,
            served=self.served,
            fail=self.fail,
            asked=self.asked,
            usd=self.usd,
        )
        return await actor.complete(request)


@dataclass
class Place:
    """The project, its incidents, and the models by name."""

    settings: Settings
    cases: tuple[Case, ...]
    models: dict[str, Actor] = field(default_factory=dict)
    opened: list[str] = field(default_factory=list)

    @property
    def given(self) -> Given:
        """The incidents, the desk and the models."""
        return Given(
            cases=self.cases,
            interface=Desk(),
            client_factory=lambda plan: self.models[plan.model],
        )

    def opener(self, settings: Settings, request: ScoreRequest, *, on_progress: Any) -> ScoreResult:
        """The score's process, in this one."""
        self.opened.append(request.model)
        with Ledger.open(settings.ledger) as ledger:
            scoring = run_score(settings, ledger, HeldoutAccess(), request, given=self.given)
            done = asyncio.run(scoring)
        return ScoreResult(done.score, done.outcome, "", "", 0, 0, done.traps.p)

    def play(self, *models: str, resume: str = "", **more: Any) -> Table:
        """Play one table."""
        asked = Asked(models=models or (ONE, TWO), **more)
        return transfer(self.settings, asked, resume=resume, given=self.given, opener=self.opener)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Place]:
    """Makes the project; ``half`` says which process this is."""

    def make(half: str = "test", brain: Brain = BOTH) -> Place:
        monkeypatch.setattr("heldout.split._role", "score" if half == "test" else None)
        write_brain(brain, tmp_path / "brain")
        cases = [make_case(tmp_path, f"trap-{n:02}", "trap") for n in range(10)]
        cases += [make_case(tmp_path, f"calm-{n:02}", "onset_control") for n in range(4)]
        sided = tuple(replace(case, side=half) for case in cases)
        names = tuple(case.incident.id for case in cases)
        monkeypatch.setattr(
            "heldout.transfer.job.read_split", lambda folder: Split("small", (), names)
        )
        settings = Settings(
            root=tmp_path,
            set="small",
            run=RunSettings(concurrency=6),
            score=ScoreSettings(repeats=1, looks=2),
        )
        (settings.datasets / "small").mkdir(parents=True)
        # With its own line each model solves more, with the other's one more or none.
        models = {
            ONE: Reader({"Read the alert": 2, HINT: 9, SECOND: 3}),
            TWO: Reader({"Read the alert": 4, SECOND: 10, HINT: 6}, served="two"),
        }
        return Place(settings, sided, models)

    return make
