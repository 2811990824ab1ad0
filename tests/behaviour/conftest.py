"""A small real set, and a bench over it for a model on loopback or a simulated one."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from heldout import split as split_module
from heldout.behaviour import Bench, ProbeOptions
from heldout.behaviour.rendering import renamed_cases
from heldout.brain import Brain, load_brain
from heldout.build import SetPlan, cases, make_set
from heldout.graph import WorldInterface
from heldout.run import Budget, Caps
from heldout.settings import Settings, load_settings
from heldout.split import Case
from heldout.store import Ledger
from heldout.tune import Player, TuneOptions

ROOT = Path(__file__).resolve().parents[2]
PLAN = SetPlan(
    "tiny", seed=5, traps=10, onset_controls=2, no_change=0, spare=1.05, scale=0.2, log_lines=800,
    events=600,
)  # fmt: skip
T = TypeVar("T")


def take_role(role: str | None) -> str | None:
    """Give this process another role; returns the one it had."""
    before = split_module._role
    split_module._role = role
    return before


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose set has seven incidents a side; each train trap is rendered again too."""
    root = tmp_path_factory.mktemp("behaviour") / "project"
    (root / "datasets").mkdir(parents=True)
    for folder in ("brain", "checkers"):
        shutil.copytree(ROOT / folder, root / folder)
    (root / "heldout.toml").write_text('name = "tests"\nset = "tiny"\n', encoding="utf-8")
    settings = load_settings(root)
    before = take_role("build")
    try:
        make_set(settings, PLAN)
        train = cases(settings, "tiny", "train")
        renamed_cases(settings, [case for case in train if case.is_trap])
    finally:
        take_role(before)
    return root


@pytest.fixture
def settings(built: Path, tmp_path: Path) -> Settings:
    """The project with a brain and a ledger of its own; worlds and variants are shared."""
    root = tmp_path / "project"
    shutil.copytree(built, root, ignore=shutil.ignore_patterns(".heldout"))
    (root / ".heldout").mkdir()
    for name in ("worlds", "truths", "variants"):
        (root / ".heldout" / name).symlink_to(built / ".heldout" / name)
    return load_settings(root)


@pytest.fixture
def run_role() -> Iterator[None]:
    """This process may open train only, as one that tunes."""
    before = take_role("run")
    yield
    take_role(before)


@pytest.fixture
def train(settings: Settings, run_role: None) -> tuple[Case, ...]:
    """The train incidents."""
    return cases(settings, "tiny", "train")


@pytest.fixture
def brain(settings: Settings) -> Brain:
    """The project's brain."""
    return load_brain(settings.brain)


def plus(brain: Brain, *lines: str) -> Brain:
    """The brain with lines at the end of its method."""
    return brain.with_file("method.md", brain.files["method.md"] + "\n" + "\n".join(lines))


@dataclass
class Lab:
    """Opens a bench for one call: ledger, player and cases together."""

    settings: Settings
    cases: tuple[Case, ...]

    def run(
        self,
        work: Callable[[Bench], Awaitable[T]],
        *,
        model: str = "sim/anchored@low",
        base_url: str = "",
        **options: Any,
    ) -> T:
        """What ``work`` gives on a bench with these options."""
        with Ledger.open(self.settings.ledger) as ledger:
            tuning = replace(TuneOptions.of(self.settings), base_url=base_url)
            player = Player(
                settings=self.settings,
                ledger=ledger,
                interface=WorldInterface(),
                model=model,
                set="tiny",
                options=tuning,
                pins={},
                budget=Budget(Caps()),
            )
            bench = Bench(
                plays=player,
                settings=self.settings,
                model=model,
                interface=player.interface,
                cases=self.cases,
                options=ProbeOptions(**options),
                seed=tuning.derived_seed,
            )
            return asyncio.run(_awaited(work, bench))


async def _awaited(work: Callable[[Bench], Awaitable[T]], bench: Bench) -> T:
    return await work(bench)


@pytest.fixture
def lab(settings: Settings, train: tuple[Case, ...]) -> Lab:
    """A laboratory over the small set."""
    return Lab(settings, train)
