"""Further brains beside before and after: gated, interleaved, paired against before."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from pydantic import ValidationError

from heldout.brain import Brain
from heldout.errors import GateRejected
from heldout.gate.report import Finding, GateReport
from heldout.score import ScoreRequest, run_score
from heldout.split import HeldoutAccess
from heldout.store import queries, remember_brain

PASSED = GateReport(True, (), 2, "7", "inv", "voc", "chk", 0.1)
FINDING = Finding("incident-value", "reject", "method.md", 3, 1, 9, "41 s")


@dataclass
class Gate:
    """Refuses the brains that it is told to refuse, and remembers what it was asked."""

    refused: frozenset[str] = frozenset()
    asked: list[str] = field(default_factory=list)

    def check(self, before: Brain, after: Brain) -> GateReport:
        """One answer."""
        self.asked.append(after.hash)
        if after.hash in self.refused:
            return replace(PASSED, passed=False, findings=(FINDING,))
        return PASSED


def other(bench: Any, brains: tuple[Brain, Brain]) -> Brain:
    """A third brain, without the hint that the fake model follows, known to the ledger."""
    third = brains[0].with_file("method.md", "# Method\n\n- Read the alert twice.\n")
    remember_brain(bench.ledger, third)
    return third


def test_a_further_brain_is_an_arm_of_the_same_run(
    bench: Any, make_actor: Any, brains: tuple[Brain, Brain]
):
    """It is played interleaved with the same seeds, stands in the endpoint and is compared."""
    third = other(bench, brains)
    actor = make_actor(lambda incident, hinted, seed: hinted)
    done = bench.score(actor, arms=(), brains={"other": third.hash})
    assert list(done.arms) == ["other"]
    assert done.arms["other"].after.solved_count == 0
    assert done.traps.after.solved_count == 10
    assert done.endpoint["arms"]["other"] == third.hash
    assert len(set(done.endpoint["seeds"].values())) == 1
    assert len(done.runs) == 1
    assert all(set(one.passes) == {"before", "after", "other"} for one in done.incidents)


def test_the_gate_is_asked_about_every_brain(
    bench: Any, make_actor: Any, brains: tuple[Brain, Brain]
):
    """A further brain that the gate refuses stops the score before a look is counted."""
    third = other(bench, brains)
    request: ScoreRequest = bench.request(arms=(), brains={"other": third.hash})

    def play(gate: Gate) -> Any:
        given = replace(bench.given(make_actor(lambda *_: True)), gate=gate)
        scoring = run_score(bench.settings, bench.ledger, HeldoutAccess(), request, given=given)
        return asyncio.run(scoring)

    with pytest.raises(GateRejected):
        play(Gate(frozenset({third.hash})))
    assert queries.looks(bench.ledger, request.model) == {}
    passing = Gate()
    play(passing)
    assert passing.asked == [request.after, third.hash]


def test_a_further_brain_cannot_take_an_arms_name():
    """An arm's name means one brain."""
    with pytest.raises(ValidationError, match="name of another arm"):
        ScoreRequest(model="m", before="a", after="b", brains={"noop": "c"})
