"""What the page about real models counts: valid investigations, and nothing where there is none."""

from __future__ import annotations

from bench.real import SHARES, footprints, share
from tests.test_compare import step, trace

from heldout.agent import Trace
from heldout.interface import Submission
from heldout.judge import Verdict
from heldout.run import Outcome

COUNTS = dict(SHARES)
EARLY = "change searches that did"


def played(incident: str, arm: str, found: Trace, reason: str = "") -> Outcome:
    """One investigation with its verdict."""
    return Outcome(incident, arm, 0, 0, Verdict("fail", "exact", "no"), found, reason)


def test_shares_are_over_incidents_and_valid_investigations():
    """An invalid one counts nowhere, repeats are one incident, and no search is no rate."""
    early = step("list_changes", since="2026-02-20T00:00:00Z")
    late = step("list_changes", since="2026-03-04T01:00:00Z")
    found = footprints(
        [
            played("i-1", "before", trace(steps=(late,))),
            played("i-1", "before", trace(steps=(early,))),
            played("i-2", "before", trace(steps=(late,))),
            played("i-3", "before", trace(steps=(early,)), reason="provider"),
            played("i-1", "after", trace(steps=(), submission=Submission())),
        ]
    )
    assert share(found["before"], COUNTS[EARLY]).startswith("25 % (")
    assert share(found["before"], COUNTS[EARLY]).endswith("n = 2)")
    assert share(found["after"], COUNTS[EARLY]) == "nothing to count"
    assert share(found["after"], COUNTS["investigations with a change search"]).startswith("0 % (")
