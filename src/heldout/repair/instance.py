"""One task: a template with a seed's names, rows and traffic, and what runs of it look like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from heldout.repair.codebase import MODULES, SERVICES
from heldout.repair.codebase import healthy as healthy_tree
from heldout.repair.defect import Repair, Template, Truth, changed
from heldout.repair.estate import EPOCH, Estate, fill
from heldout.repair.platform.database import Database
from heldout.repair.platform.migrations import apply, migrations, roll_back
from heldout.repair.platform.records import Window
from heldout.repair.platform.replay import Plant, Replay
from heldout.repair.sandbox.runner import Program, Sandbox
from heldout.repair.surface import repair_of, tree_of, truth_of, words
from heldout.repair.traffic import Profile, arrivals
from heldout.repair.tree import Tree

WINDOW_SECONDS = 60.0
BASE_MIGRATIONS = 5
RESTORED = ("campaigns", "creatives")
"""Tables that a nightly backup is kept of."""


@dataclass(frozen=True)
class Instance:
    """A template drawn with a seed; ``is_healthy`` is its twin without the defect."""

    template: Template
    seed: int
    is_healthy: bool = False
    estate: Estate = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "estate", Estate(self.seed))

    @property
    def twin(self) -> Instance:
        """The same without the defect."""
        return replace(self, is_healthy=True)

    @property
    def words(self) -> dict[str, str]:
        """The variant's words."""
        return words(self.seed)

    @property
    def truth(self) -> Truth:
        """What a report must say, in the variant's words."""
        return truth_of(self.template, self.words)

    def healthy_tree(self) -> Tree:
        """The code without the defect, in the variant's words."""
        return tree_of(healthy_tree(), self.words)

    def tree(self) -> Tree:
        """The code as it is when the alert fires."""
        if self.is_healthy:
            return self.healthy_tree()
        return tree_of(changed(healthy_tree(), self.template.defect), self.words)

    def plant(self) -> Plant:
        """The platform around it."""
        return Plant(
            SERVICES, partners={"carrier": self.template.partner}, stalls=self.template.stalls
        )

    def database(self, *, taken_back: str = "", restored: bool = False) -> Database:
        """The database when the alert fires, after a migration was taken back and rows restored.

        What ran before the alert ran under the defective schema. Restoring brings back rows of
        ``RESTORED`` that are gone and should not be.
        """
        made = self._built(self.tree())
        if self.template.damage:
            made.query(self.template.damage)
        if taken_back:
            applied = tuple(step.name for step in migrations(self.tree()))
            roll_back(made, applied, taken_back, self.tree())
        if restored:
            backup = self.twin._built(healthy_tree())
            if self.template.damage:
                backup.query(self.template.damage)
            made.restore(backup, RESTORED)
            backup.close()
        return made

    def _built(self, tree: Tree) -> Database:
        made = Database()
        steps = migrations(tree)
        apply(made, steps[:BASE_MIGRATIONS])
        fill(made, self.estate)
        apply(made, steps[BASE_MIGRATIONS:])
        return made

    def repaired(self, repair: Repair) -> Tree:
        """The defective code with a repair's edits made."""
        return changed(self.tree(), repair_of(repair, self.words).changes)


@dataclass(slots=True)
class State:
    """What code runs on: its database, its cache, its settings. A window changes it."""

    database: Database
    cache: dict[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


def play(
    sandbox: Sandbox,
    instance: Instance,
    tree: Tree,
    state: State,
    *,
    seed: int,
    profile: Profile | None = None,
    seconds: float = WINDOW_SECONDS,
) -> Window:
    """Play one window of an instance's traffic against a tree."""
    traffic = arrivals(instance.estate, profile or instance.template.profile, seconds, seed)
    program = Program(
        tree.files, MODULES, {**instance.template.environment, **state.environment}, EPOCH, seed
    )
    replay = Replay(sandbox, instance.plant(), state.database, state.cache)
    return replay.run(program, traffic, seconds)
