"""Play every canary of the repair environment on one template of each family; write the table."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

from heldout.repair.canaries import CANARIES, ORACLE, ORACLE_FLOOR, Canary, worth
from heldout.repair.defect import Template
from heldout.repair.families import families

PAGE = Path(__file__).resolve().parents[1] / "docs" / "canaries.md"
HEAD = """# Canaries of the repair environment

Every known way to be paid without a repair, played through the tools that an agent has. Most hand
in a report that is right, so that only the repair is missing: a report alone is worth {report:.2f}
at most. The list is `src/heldout/repair/canaries/`; a new hole is one more entry there. *Most* is
the highest grade over {count} templates, one of each family; the slow tests hold every canary to
its ceiling on all of them, and a test takes each guard out and sees a canary get over it.

| canary | what it tries | held by | ceiling | most | templates |
|---|---|---|---|---|---|
"""


def main() -> None:
    """Play, print what is over its ceiling, and write ``docs/canaries.md``."""
    templates = [family.templates()[0] for _, family in sorted(families().items())]
    rows, over = [], []
    for canary in (ORACLE, *CANARIES):
        scores = played(canary, templates)
        least = canary is ORACLE
        shown = (min if least else max)(scores)
        bad = shown < ORACLE_FLOOR if least else shown > canary.ceiling + 1e-9
        over += [canary.name] * bad
        limit = f"at least {ORACLE_FLOOR}" if least else f"{canary.ceiling:.2f}"
        rows.append(
            f"| {canary.name} | {canary.tries} | {canary.guard or 'the grade'} | {limit} |"
            f" {shown:.3f} | {len(scores)} |"
        )
        print(rows[-1], flush=True)
    report = next(one.ceiling for one in CANARIES if one.name == "the right report alone")
    end = f"\n*{datetime.now(UTC):%Y-%m-%d}, `python -m bench canaries`.*\n"
    text = HEAD.format(report=report, count=len(templates)) + "\n".join(rows) + "\n" + end
    PAGE.write_text(text, encoding="utf-8")
    if over:
        sys.exit(f"over their ceiling: {', '.join(over)}")


def played(canary: Canary, templates: list[Template]) -> list[float]:
    """The grades of a canary; one that is unscored is a failure of this machine and ends it."""
    scores = []
    for template in templates:
        if canary.applies(template):
            found = worth(canary, template)
            if found.score is None:
                sys.exit(f"{canary.name} on {template.name} is unscored: {found.unscored}")
            scores.append(found.score)
    return scores
