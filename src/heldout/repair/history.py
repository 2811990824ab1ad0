"""Simulated history of the code: who changed which lines when, up to the alert and no further.

There is no commit that repairs anything, and messages say what an author meant, not what came of
it.
"""

from __future__ import annotations

import difflib
import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass

from heldout.repair.estate import EPOCH
from heldout.repair.instance import Instance
from heldout.repair.tree import Tree

DAY = 86_400
OLD_COMMITS = 14
RECENT_DECOYS = 7

_MESSAGES = (
    "Tidy imports", "Say more in the log line", "Name the constant", "Shorten a query",
    "Answer faster where nothing is to do", "Refuse a request that makes no sense",
    "Keep less in memory", "Read the limit from one place", "Simplify the loop",
    "Return early", "Split a long function", "Use the shared helper", "Clarify an error text",
    "Prepare for the next placement", "Count what is refused", "Follow the new API",
)  # fmt: skip
_GUILTY = (
    "Simplify a path that is used a lot", "Clean up after review", "Follow the new API",
    "Make the common case shorter", "Prepare for the next release",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit: ``at`` in seconds since the epoch, ``files`` it touched, its author's handle."""

    id: str
    at: int
    author: str
    message: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class History:
    """Commits, newest first, and for each line of each file which commit it is from."""

    commits: tuple[Commit, ...]
    lines: dict[str, tuple[str, ...]]
    guilty: str

    def commit(self, name: str) -> Commit | None:
        """A commit by its id."""
        return next((one for one in self.commits if one.id == name), None)


def history(instance: Instance) -> History:
    """The history of an instance; that of a healthy twin has as many commits and no guilty one."""
    draw = random.Random(f"history\0{instance.template.name}\0{instance.seed}")
    tree, good = instance.tree(), instance.healthy_tree()
    paths = [path for path in good if path.endswith(".py") and good.files[path]]
    authors = [f"u{draw.randrange(10, 99)}" for _ in range(5)]
    old = [
        Commit(_id(instance, f"old{number}"), EPOCH - draw.randrange(60, 400) * DAY,
               draw.choice(authors), draw.choice(_MESSAGES), (draw.choice(paths),))
        for number in range(OLD_COMMITS)
    ]  # fmt: skip
    touched = tuple(dict.fromkeys(one.path for one in instance.template.defect))
    others = [path for path in paths if path not in touched]
    recent = [
        Commit(_id(instance, f"recent{number}"), EPOCH - draw.randrange(1, 9 * 24) * 3600,
               draw.choice(authors), draw.choice(_MESSAGES), (draw.choice(others),))
        for number in range(RECENT_DECOYS - 1)
    ]  # fmt: skip
    onset = Commit(
        _id(instance, "onset"), EPOCH - draw.randrange(10, 40) * 60, draw.choice(authors),
        draw.choice(_MESSAGES), (draw.choice(others),),
    )  # fmt: skip
    guilty = Commit(
        _id(instance, "guilty"), EPOCH - draw.randrange(20, 8 * 24) * 3600, draw.choice(authors),
        draw.choice(_GUILTY), touched,
    )  # fmt: skip
    commits = tuple(sorted([*old, *recent, onset, guilty], key=lambda one: -one.at))
    lines = _blame(draw, tree, good, commits, guilty)
    return History(commits, lines, "" if instance.is_healthy else guilty.id)


def _id(instance: Instance, what: str) -> str:
    text = f"{instance.template.name}\0{instance.seed}\0{what}"
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def _blame(
    draw: random.Random, tree: Tree, good: Tree, commits: Sequence[Commit], guilty: Commit
) -> dict[str, tuple[str, ...]]:
    recent = [one for one in commits if one.at > EPOCH - 60 * DAY and one is not guilty]
    old = [one for one in commits if one.at <= EPOCH - 60 * DAY]
    found: dict[str, tuple[str, ...]] = {}
    for path, text in tree.files.items():
        lines = text.splitlines()
        named = [draw.choice(old).id] * len(lines)
        for commit in recent:
            if path in commit.files and lines:
                at = draw.randrange(len(lines))
                named[at : at + draw.randrange(1, 4)] = [commit.id] * len(named[at : at + 3])
                named = named[: len(lines)] + named[:1] * (len(lines) - len(named))
        if path in guilty.files:
            for at in _changed_lines(good.files.get(path, ""), text) or range(min(3, len(lines))):
                named[at] = guilty.id
        found[path] = tuple(named)
    return found


def _changed_lines(before: str, after: str) -> list[int]:
    """Lines of ``after`` that are not in ``before``, and the neighbours of what was taken out."""
    matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    last = len(after.splitlines()) - 1
    found: set[int] = set()
    for tag, _, _, begin, end in matcher.get_opcodes():
        if tag in ("replace", "insert"):
            found.update(range(begin, end))
        elif tag == "delete":
            found.add(min(begin, last))
    return sorted(found)
