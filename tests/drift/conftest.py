"""A small train half without worlds, and a provider that can change the model it serves."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from tests.score.conftest import BEFORE, Actor, Desk, make_case

from heldout.brain import write_brain
from heldout.drift import Canary, CanaryOptions, run_canary
from heldout.llm import ModelReply, ModelRequest
from heldout.llm.messages import Usage
from heldout.settings import CanarySettings, RunSettings, Settings
from heldout.split import Case
from heldout.store import Ledger

DAY = 86_400_000_000
START = 1_794_700_800_000_000


@dataclass
class Provider(Actor):
    """Answers as :class:`Actor`; ``words`` is how many output tokens a reply has."""

    words: int = 10
    seconds: float = 0.5

    async def complete(self, request: ModelRequest) -> ModelReply:
        """One reply."""
        reply = await super().complete(request)
        return replace(reply, usage=Usage(100, self.words), seconds=self.seconds)


def mixed(incident: str, hinted: bool, seed: int) -> bool:
    """Two of three incidents pass, always the same investigations."""
    return hashlib.sha256(f"{incident}{seed}".encode()).digest()[0] < 170


@dataclass
class Weeks:
    """Plays the canary week after week against whatever provider it is given."""

    settings: Settings
    cases: tuple[Case, ...]
    week: int = 0
    told: list[Canary] = field(default_factory=list)

    def play(self, provider: Actor | None = None, **more: Any) -> Canary:
        """One run, a week after the last."""
        self.week += 1
        settings = more.pop("settings", self.settings)
        options = CanaryOptions(
            restart=more.pop("restart", False),
            client_factory=lambda plan: provider or Provider(mixed),
            now=lambda: more.pop("at", START + 7 * DAY * self.week),
        )
        with Ledger.open(settings.ledger) as ledger:
            said = asyncio.run(
                run_canary(
                    settings,
                    ledger,
                    model="openai/actor@low",
                    cases=more.pop("cases", self.cases),
                    interface=Desk(),
                    options=options,
                )
            )
        self.told.append(said)
        return said


@pytest.fixture
def weeks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Weeks:
    """Fourteen train incidents, ten of them in the canary; no process is killed, so none syncs."""
    monkeypatch.setattr("os.fsync", lambda _: None)
    settings = Settings(
        root=tmp_path,
        set="small",
        run=RunSettings(concurrency=6),
        canary=CanarySettings(incidents=10, repeats=2),
    )
    write_brain(BEFORE, settings.brain)
    made = [make_case(tmp_path, f"trap-{n:02}", "trap") for n in range(10)]
    made += [make_case(tmp_path, f"calm-{n:02}", "onset_control") for n in range(4)]
    return Weeks(settings, tuple(replace(case, side="train") for case in made))


@pytest.fixture
def make_provider() -> type[Provider]:
    """The fake provider."""
    return Provider
