"""Write the lists of docs/how-to/health.md, checks and states: ``python docs/build_health.py``."""

from __future__ import annotations

from pathlib import Path

from heldout.graph.health import described
from heldout.graph.status import RULES, Rule
from heldout.graph.status.finalizers import OBJECTS

PAGE = Path(__file__).parent / "how-to" / "health.md"
BEGIN = "<!-- checks: written by docs/build_health.py -->"
END = "<!-- end of checks -->"
STATES_BEGIN = "<!-- states: written by docs/build_health.py -->"
STATES_END = "<!-- end of states -->"


def listing() -> str:
    """A table row for each check."""
    rows = ["| check | finds | silent when |", "|---|---|---|"]
    rows += [
        f"| `{check.name}` | {sentence.rstrip('.')} | {check.silent_when} |"
        for check, sentence in described()
    ]
    return "\n".join(
        [f"{len(described())} checks, one file each in `src/heldout/graph/health/`.", "", *rows]
    )


def states() -> str:
    """A table row for each rule of status, in the order in which they are asked."""
    rows = ["| rule | of | follows |", "|---|---|---|"]
    rows += [f"| `{rule.name}` | {kinds_of(rule)} | {rule.source} |" for rule in RULES]
    return "\n".join(rows)


def kinds_of(rule: Rule) -> str:
    """The kinds that a rule speaks of, in words."""
    if not rule.kinds:
        return "everything"
    return "every object of a cluster" if rule.kinds == OBJECTS else ", ".join(rule.kinds)


def between(page: str, begin: str, fresh: str, end: str) -> str:
    """The page with a fresh text between two marks."""
    before, rest = page.split(begin)
    after = rest.split(end)[1]
    return f"{before}{begin}\n{fresh}\n{end}{after}"


def render(page: str) -> str:
    """The page with fresh lists between their marks."""
    page = between(page, BEGIN, listing(), END)
    return between(page, STATES_BEGIN, states(), STATES_END)


if __name__ == "__main__":
    PAGE.write_text(render(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
