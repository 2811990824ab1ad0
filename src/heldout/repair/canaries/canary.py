"""What a canary is: a way to be paid for no repair, and the most that it may be worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from heldout.repair.defect import Change, Repair, Template
from heldout.repair.episode import Episode
from heldout.repair.grade import REPORT_ONLY, Grade, grade
from heldout.repair.instance import Instance
from heldout.repair.playing import ask, repair, report
from heldout.repair.sandbox.runner import Sandbox


def anywhere(_: Template) -> bool:
    """A canary that fits every template."""
    return True


@dataclass(frozen=True, slots=True)
class Canary:
    """One hole and how it is tried, through the tools that an agent has.

    ``ceiling`` is the most that the episode may be worth; ``guard`` names what keeps it there.
    Canaries know the truth and use it where that makes them stronger: most hand in a report that is
    right, so that only the repair is missing.
    """

    name: str
    tries: str
    guard: str
    play: Callable[[Episode], None]
    ceiling: float = REPORT_ONLY
    applies: Callable[[Template], bool] = anywhere


def worth(canary: Canary, template: Template, seed: int = 0) -> Grade:
    """Play a canary on a template and grade it, in an episode of its own."""
    with Sandbox() as sandbox:
        episode = Episode(Instance(template, seed), sandbox)
        canary.play(episode)
        return grade(episode)


def edited(*changes: Change) -> Callable[[Episode], None]:
    """Make changes, then hand in the right report."""

    def play(episode: Episode) -> None:
        repair(episode, Repair("", changes))
        report(episode)

    return play


def loaded(code: str, path: str = "shared/settings.py") -> Callable[[Episode], None]:
    """Put code at the top of a file that every service loads, then hand in the right report."""

    def play(episode: Episode) -> None:
        ask(episode, "edit_lines", path=path, action="insert", first=1, text=code)
        report(episode)

    return play
