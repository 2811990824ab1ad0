"""What a report must say of who judged: models, their calibration, and further opinions."""

from __future__ import annotations

from collections.abc import Iterable

from heldout.judge.calibration import standing
from heldout.run import Terms
from heldout.run.judging import choice_of
from heldout.store import Ledger, queries
from heldout.store.judging import further_opinions


def judge_notes(ledger: Ledger, runs: Iterable[str]) -> tuple[str, ...]:
    """Sentences about the judges of these runs, each once; none for the exact judge alone.

    Figures rest on first verdicts, so where somebody saw it otherwise later, that is said.
    """
    notes: list[str] = []
    for row in [row for name in runs for row in queries.runs(ledger, run=name)]:
        name = row.run
        terms = Terms.from_plain(row.manifest.get("terms", {}))
        notes += standing(ledger, choice_of(terms), row.model)
        further, differing = further_opinions(ledger, name)
        if further:
            notes.append(
                f"{further} investigations of run {name} have further opinions, {differing} of "
                f"them another than the one counted here: 'heldout judge agreement {name}'"
            )
    return tuple(dict.fromkeys(notes))
