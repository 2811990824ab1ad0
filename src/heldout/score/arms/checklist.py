"""``checklist``: the brain before with a page that a person wrote. Tuning must beat an afternoon.

The gate is asked about it as about any brain. What a person wrote is played even where it carries
facts of incidents, but such a row is told apart: it is memory, not method.
"""

from __future__ import annotations

from heldout.errors import UsageError
from heldout.run.arm import Arm, with_page
from heldout.score.arms.arm import Made, Supplies, held_against

LONGEST = 100_000
"""Characters."""


class Checklist:
    """A person's page, loaded last."""

    name = "checklist"
    what = "the brain before with a person's own page"

    def make(self, supplies: Supplies) -> Made:
        """Needs the page."""
        text = supplies.request.checklist
        if not text.strip() or len(text) > LONGEST:
            raise UsageError(
                "no checklist was given" if not text.strip() else "the checklist is too long",
                where="arm 'checklist'",
                mend=f"Name a Markdown file of at most {LONGEST} characters with --checklist",
            )
        grown = with_page(supplies.brains.before, "checklist.md", text)
        facts, said = held_against(supplies, grown)
        lines = sum(1 for line in text.splitlines() if line.strip())
        return Made(Arm(self.name, grown), f"{lines} lines; {said}", facts)
