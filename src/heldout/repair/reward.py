"""Rewards of single steps, for trainers: the grade, paid earlier where code already earned it.

Shaping is by a potential, as Ng, Harada and Russell (1999) have it, without discount and with
nothing left at the end: a step earns what the potential rose by, and the last one the grade less
what was paid before. The potential of a beginning is 0, so that the rewards of an episode sum to
its grade: no loop of actions earns anything, and which policy is better stays as the grades have
it. Time, refused calls and hints cost through the grade.

A potential is computed by running the hidden probes. Rewards are never shown to an agent.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from heldout.repair.episode import Episode
from heldout.repair.grade import Grade, grade
from heldout.repair.instance import State
from heldout.repair.probes import Probes, failed, probe
from heldout.repair.sandbox.runner import SandboxError
from heldout.repair.tree import Tree

LOCATED, MENDED, HARMED = 0.1, 0.4, 0.2
"""What having seen the file at fault is worth, every broken probe mended, every other broken."""

_BEGUN: dict[tuple[str, int, str], Probes] = {}
"""Probes of the code that a task begins with: every episode of it needs the same ones."""


@dataclass
class Rewards:
    """Watches one episode: ``Episode(..., watch=Rewards())``; ``steps`` are its rewards in order.

    A reward lies in [-1, 1]. Where the environment failed, ``unscored`` says why and every reward
    is None: never 0. An episode that is left before its end is paid by :meth:`settle`.
    """

    steps: list[float | None] = field(default_factory=list, init=False)
    grade: Grade | None = field(default=None, init=False)
    unscored: str = field(default="", init=False)
    _paid: float = field(default=0.0, init=False)
    _probed: dict[tuple[str, str, bool], Probes] = field(default_factory=dict, init=False)

    def __call__(self, episode: Episode) -> None:
        """Note what the step just made has earned."""
        if episode.ended:
            self.settle(episode)
            return
        after = self.potential(episode)
        self.steps.append(after - self._paid)
        self._paid = after
        self._unscore()

    def settle(self, episode: Episode) -> Grade:
        """Grade the episode, and pay the rest with its last step; once."""
        if self.grade is not None:
            return self.grade
        self.grade = grade(episode)
        self.unscored = self.unscored or self.grade.unscored
        rest = (self.grade.score or 0.0) - self._paid
        if len(self.steps) < len(episode.steps):
            self.steps.append(rest)
        elif self.steps:
            self.steps[-1] = (self.steps[-1] or 0.0) + rest
        self._unscore()
        return self.grade

    def potential(self, episode: Episode) -> float:
        """What an episode as it stands is worth beforehand, against its beginning."""
        instance, tree = episode.instance, episode.workspace.tree
        try:
            first = self._probe(episode, episode.workspace.base)
            now = self._probe(episode, tree, episode.taken_back, restored=episode.restored)
        except SandboxError as broken:
            self.unscored = broken.what
            return self._paid
        located = instance.truth.file in episode.viewed
        mended = _mended(first, now)
        harmed = _harmed(now) - _harmed(first)
        return LOCATED * located + MENDED * mended - HARMED * harmed

    def _probe(
        self, episode: Episode, tree: Tree, taken_back: str = "", *, restored: bool = False
    ) -> Probes:
        key = (tree.digest, taken_back, restored)
        is_begun = key == (episode.workspace.base.digest, "", False)
        begun = (episode.instance.template.name, episode.instance.seed, tree.digest)
        if is_begun and begun in _BEGUN:
            return _BEGUN[begun]
        if key not in self._probed:
            made = episode.instance.database(taken_back=taken_back, restored=restored)
            try:
                self._probed[key] = probe(episode.sandbox, episode.instance, tree, State(made))
            finally:
                made.close()
        if is_begun:
            _BEGUN[begun] = self._probed[key]
        return self._probed[key]

    def _unscore(self) -> None:
        if self.unscored:
            self.steps = [None] * len(self.steps)


def _mended(first: Probes, now: Probes) -> float:
    """The share of probes broken in the beginning that hold; what broke since counts against it."""
    broken = len(failed(first.at_fault))
    return max(0.0, 1.0 - len(failed(now.at_fault)) / broken) if broken else 0.0


def _harmed(found: Probes) -> float:
    return len(failed(found.elsewhere)) / len(found.elsewhere) if found.elsewhere else 0.0
