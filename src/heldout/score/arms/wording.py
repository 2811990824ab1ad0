"""``format``: every word of the brain before, with other list marks and heading levels."""

from __future__ import annotations

import re

from heldout.brain import Brain
from heldout.run.arm import Arm
from heldout.score.arms.arm import Made, Supplies


class FormatOnly:
    """A change of the prompt that changes nothing that is said."""

    name = "format"
    what = "the brain before with other list marks and headings"

    def make(self, supplies: Supplies) -> Made:
        """Always possible."""
        return Made(Arm(self.name, format_only(supplies.brains.before)))


def format_only(before: Brain) -> Brain:
    """``before`` with other list marks and heading levels and the same words."""
    brain = before
    for name, text in before.all_files().items():
        if before.editable(name) and not name.startswith("overlays/"):
            front = re.match(r"\A---\n.*?\n---\n", text, re.DOTALL)
            head = front.group() if front else ""
            body = re.sub(r"(?m)^(\s*)- ", r"\1* ", text[len(head) :])
            body = re.sub(r"(?m)^(#{1,5}) ", r"\1# ", body)
            brain = brain.with_file(name, head + body)
    return brain
