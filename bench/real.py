"""Write what a score with a real model showed into docs/real-models.md.

``python -m bench.real LEDGER SCORE NAME``: the ledger of the project in which the score ran, its
id, and the model in words. Each row has both arms beside each other; shares have a 95 %
interval over incidents, since repeats of one incident are not independent.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.figures import machine
from heldout.agent.footprint import Footprint, footprint
from heldout.run import Outcome, outcomes
from heldout.score.result import Score, read_score
from heldout.stats import cluster_rate
from heldout.store import Ledger
from heldout.store.queries import score

PAGE = Path(__file__).resolve().parents[1] / "docs" / "real-models.md"
MARKS = re.compile(r"(<!-- real:begin -->\n).*?(<!-- real:end -->)", re.DOTALL)
ARMS = ("before", "after")
Count = Callable[[Footprint], tuple[float, float]]
"""Part and whole of one investigation."""

SHARES: tuple[tuple[str, Count], ...] = (
    ("investigations with a change search", lambda f: (f.searches > 0, 1)),
    ("investigations that looked before the day of the alert", lambda f: (f.early > 0, 1)),
    ("change searches that did", lambda f: (f.early, f.searches)),
    ("calls made again word for word", lambda f: (f.repeated, f.calls)),
    ("cited evidence that had been shown", lambda f: (f.shown, f.cited)),
    ("ended on a limit or as a loop", lambda f: (f.limited, 1)),
)


def main() -> None:
    """Rewrite the part of the page between its marks, and print it."""
    if len(sys.argv) != 4:
        sys.exit(f"usage: python -m bench.real LEDGER SCORE NAME\n\n{__doc__}")
    ledger_path, wanted, name = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    with Ledger.open(ledger_path, read_only=True) as ledger:
        found = read_score(score(ledger, wanted).result)
        every = [one for run in found.runs for one in outcomes(ledger, run)]
        played = [one for one in every if one.arm in ARMS]
        text = "\n".join([*table(found, played), "", note(found, played, name), ""])
    old = PAGE.read_text(encoding="utf-8")
    if not MARKS.search(old):
        sys.exit(f"error: {PAGE.name} has no marks to write between")
    PAGE.write_text(MARKS.sub(lambda m: m.group(1) + text + m.group(2), old), encoding="utf-8")
    print(text)


def table(found: Score, played: Iterable[Outcome]) -> list[str]:
    """Markdown rows: outcomes first, then how the model worked."""
    rows = ["| what | before | after | |", "|---|---|---|---|"]
    for name, pairs in (
        ("held-out traps solved", found.traps),
        ("controls solved", found.controls),
    ):
        if pairs is not None:
            flips = (
                f"{pairs.count('fixed')} fixed, {pairs.count('broken')} broken, p = {pairs.p:.2g}"
            )
            rows.append(
                f"| {name} | {pairs.before.solved_count} of {pairs.before.incidents} | "
                f"{pairs.after.solved_count} of {pairs.after.incidents} | {flips} |"
            )
    prints = footprints(played)
    rows += [
        f"| {name} | {' | '.join(share(prints[arm], count) for arm in ARMS)} | |"
        for name, count in SHARES
    ]
    for name, number in (("tool calls", "calls"), ("change searches", "searches")):
        means = [mean(prints[arm], number) for arm in ARMS]
        rows.append(f"| {name}, each investigation | {means[0]:.1f} | {means[1]:.1f} | |")
    return rows


def footprints(played: Iterable[Outcome]) -> dict[str, dict[str, list[Footprint]]]:
    """The counts of every valid investigation, by arm and incident."""
    found: dict[str, dict[str, list[Footprint]]] = {arm: defaultdict(list) for arm in ARMS}
    for one in played:
        if one.trace is not None and not one.reason:
            found[one.arm][one.incident].append(footprint(one.trace))
    return found


def share(prints: Mapping[str, Sequence[Footprint]], count: Count) -> str:
    """A share over incidents that have anything to count, with its interval."""
    rates = []
    for one in prints.values():
        parts = [count(each) for each in one]
        whole = sum(part[1] for part in parts)
        if whole:
            rates.append(sum(part[0] for part in parts) / whole)
    if not rates:
        return "nothing to count"
    value, low, high, _ = cluster_rate(rates)
    return f"{100 * value:.0f} % ({100 * low:.0f} to {100 * high:.0f}, n = {len(rates)})"


def mean(prints: Mapping[str, Sequence[Footprint]], number: str) -> float:
    """The mean of a count over investigations."""
    counts = [getattr(each, number) for one in prints.values() for each in one]
    return sum(counts) / max(1, len(counts))


def note(found: Score, played: Sequence[Outcome], name: str) -> str:
    """Where the figures come from, and what they may be called."""
    invalid = sum(bool(one.reason) for one in played)
    seconds = [one.trace.seconds for one in played if one.trace is not None]
    each = sum(seconds) / max(1, len(seconds))
    return (
        f"*{datetime.now(UTC):%Y-%m-%d}, {name}, {machine()}, `heldout score` and "
        f"`python -m bench.real`; {found.repeats} repeat(s), look {found.looks.number} of "
        f"{found.looks.budget}, {len(played)} investigations of {each:.0f} s each, "
        f"{invalid} invalid. {found.evidence.sentence()}*"
    )


if __name__ == "__main__":
    main()
