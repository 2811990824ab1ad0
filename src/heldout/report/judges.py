"""What a report must say of who judged: models, their calibration, and further opinions."""

from __future__ import annotations

from collections.abc import Iterable

from heldout.compare import named_arm
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


def comparison_notes(ledger: Ledger, first: str, second: str) -> list[str]:
    """What must be said of the judges of two compared runs (``RUN`` or ``RUN:ARM``)."""
    rows = [named_arm(ledger, name)[0] for name in (first, second)]
    choices = [choice_of(Terms.from_plain(row.manifest.get("terms", {}))) for row in rows]
    hashes = {row.manifest["pins"].get("judge") for row in rows} - {None}
    notes = list(judge_notes(ledger, dict.fromkeys(row.run for row in rows)))
    one, other = choices[0].words(), choices[1].words()
    if one != other:
        notes.insert(0, f"JUDGED DIFFERENTLY: {one} and {other}; a difference may be the judges'")
    elif len(hashes) > 1:
        notes.insert(0, f"JUDGED DIFFERENTLY: two versions of judge {one}; run the older one anew")
    return notes
