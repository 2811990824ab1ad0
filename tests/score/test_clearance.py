"""The gate before a look: what it ran with is part of the score, and a refusal costs no look."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from heldout.brain import Brain
from heldout.errors import GateError, GateRejected, ProviderRefused, ProviderUnavailable
from heldout.gate.report import Finding, GateReport
from heldout.report import gather, render_text
from heldout.score import Clearance, ScoreRequest, read_score, run_score
from heldout.split import HeldoutAccess
from heldout.store import queries

PASSED = GateReport(True, (), 2, "7", "inv", "voc", "chk", 0.1, exceptions=1, excused=3)
FINDING = Finding("incident-value", "reject", "method.md", 3, 1, 9, "41 s")


@dataclass
class FakeGate:
    """Says what it is told to say, and remembers what it was asked."""

    says: GateReport | GateError
    asked: list[tuple[Brain, Brain]] = field(default_factory=list)

    def check(self, before: Brain, after: Brain) -> GateReport:
        """One answer."""
        self.asked.append((before, after))
        if isinstance(self.says, GateError):
            raise self.says
        return self.says


def score(bench: Any, actor: Any, gate: FakeGate, **more: Any) -> Any:
    """One score behind a gate."""
    request: ScoreRequest = bench.request(**more)
    given = replace(bench.given(actor), gate=gate)
    return asyncio.run(
        run_score(bench.settings, bench.ledger, HeldoutAccess(), request, given=given)
    )


def test_what_the_gate_ran_with_is_in_record_endpoint_and_report(bench: Any, make_actor: Any):
    """Versions, hashes, no finding and the exceptions in force, wherever a score is read."""
    gate = FakeGate(PASSED)
    done = score(bench, make_actor(lambda *_: True), gate)
    assert [(one.hash, two.hash) for one, two in gate.asked] == [
        (done.before_hash, done.after_hash)
    ]
    assert done.clearance == Clearance("7", "inv", "voc", "chk", done.after_hash, 0, 1, 3)
    row = queries.scores(bench.ledger)[0]
    assert read_score(row.result).clearance == done.clearance
    assert (row.gate_version, row.inventory_hash, row.vocabulary_hash, row.checkers_hash) == (
        "7", "inv", "voc", "chk",
    )  # fmt: skip
    assert (row.after_hash, row.findings, row.exceptions) == (done.after_hash, 0, 1)
    pins = row.endpoint["pins"]
    assert (pins["gate_inventory"], pins["gate_findings"], pins["gate_exceptions"]) == (
        "inv", "0", "1",
    )  # fmt: skip
    text = render_text(gather(bench.ledger, bench.settings, done.score))
    assert "gate: 0 findings against the brain after; 1 signed exception in force" in " ".join(
        text.split()
    )


@pytest.mark.parametrize(
    ("says", "error", "said"),
    [
        (replace(PASSED, passed=False, findings=(FINDING,)), GateRejected, "incident-value"),
        (GateError("the gate is down"), GateError, "down"),
    ],
)
def test_a_brain_that_does_not_pass_is_not_scored(
    bench: Any, make_actor: Any, says: Any, error: type[Exception], said: str
):
    """Neither a refusal nor a gate that cannot run costs a look or a model call."""
    actor = make_actor(lambda *_: True)
    with pytest.raises(error, match=said):
        score(bench, actor, FakeGate(says))
    assert actor.asked == []
    assert queries.scores(bench.ledger) == []
    assert not queries.looks(bench.ledger, "openai/actor@low")


def test_a_score_that_is_gone_on_with_keeps_its_clearance(bench: Any, make_actor: Any):
    """The gate is asked once a look; incidents that came meanwhile are another score's matter."""
    gate = FakeGate(PASSED)
    refused = make_actor(lambda *_: True, fail=lambda *_: ProviderRefused("401"))
    with pytest.raises(ProviderUnavailable):
        score(bench, refused, gate)
    begun = queries.scores(bench.ledger)[0]
    assert (begun.outcome, begun.inventory_hash) == (None, "inv")
    other = FakeGate(replace(PASSED, inventory_hash="other"))
    done = score(bench, make_actor(lambda *_: True), other, resume=begun.score)
    assert other.asked == []
    assert done.clearance.inventory_hash == "inv"


def test_an_environment_of_ones_own_has_no_clearance(bench: Any, make_actor: Any):
    """Without worlds that a gate could know nothing is claimed."""
    done = bench.score(make_actor(lambda *_: True))
    assert done.clearance is None
    assert queries.scores(bench.ledger)[0].findings is None
