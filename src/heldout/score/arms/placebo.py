"""``placebo``: as many lines as the change, at the same places, of text about something else."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

from heldout.brain import APPEND, Brain
from heldout.run.arm import Arm
from heldout.score.arms.arm import Made, Supplies

_UNRELATED = (
    "Water the plants on the window sill once a week and turn the pots a little.",
    "A good loaf needs flour, water, salt, time and a hot oven.",
    "The tide tables hang beside the door of the boat house.",
    "Oil the hinges of the garden gate before the first frost.",
    "A chess club meets in the back room of the library.",
    "Fold the paper twice, then crease it along the longer side.",
    "The path over the hill is steeper but has the better view.",
    "Bring the violin in tune before the others arrive.",
)


class Placebo:
    """A brain that grew as much as the tuned one and learned nothing."""

    name = "placebo"
    what = "as many lines as the change, about something else"

    def make(self, supplies: Supplies) -> Made:
        """Always possible; of a brain without a change it is the brain before."""
        return Made(Arm(self.name, placebo(supplies.brains.before, supplies.brains.after)))


def placebo(before: Brain, after: Brain) -> Brain:
    """``before`` with as many lines added, at the same places, of unrelated text of like length."""
    brain = before
    old, new = before.all_files(), after.all_files()
    used = 0
    for name, text in new.items():
        lines = _start(name, text, old)
        target = text.splitlines()
        result: list[str] = []
        matcher = difflib.SequenceMatcher(a=lines, b=target, autojunk=False)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            result += lines[i1:i2]
            surplus = max(0, (j2 - j1) - (i2 - i1)) if tag in ("insert", "replace") else 0
            for line in target[j2 - surplus : j2]:
                result.append(line if line == APPEND else _filler(line, used))
                used += 1
        if result != old.get(name, "").splitlines():
            brain = brain.with_file(name, "\n".join(result) + "\n")
    return brain


def _start(name: str, text: str, old: Mapping[str, str]) -> list[str]:
    """What a file's placebo grows from: itself, or the base file that a new overlay replaces."""
    if name in old:
        return old[name].splitlines()
    base = "/".join(name.split("/")[3:])
    replaces = not text.startswith(APPEND)
    return old[base].splitlines() if replaces and base in old else []


def _filler(line: str, number: int) -> str:
    """An unrelated line with the mark of ``line`` and about its length."""
    mark = re.match(r"\s*(?:[-*]|\d+\.|#+)?\s*", line)
    lead = mark.group() if mark else ""
    wanted = len(line) - len(lead)
    if wanted <= 0:
        return line
    text = ""
    while len(text) < wanted:
        text = f"{text} {_UNRELATED[number % len(_UNRELATED)]}".strip()
        number += 1
    cut = text.rfind(" ", 0, wanted + 1)
    return lead + (text[:cut] if cut > 0 else text[:wanted])
