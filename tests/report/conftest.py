"""A report fed by hand: 25 traps, 8 controls, a job with accepted and rejected edits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from heldout.agent.trace import Step, Trace
from heldout.compare import compare_runs, final_outcomes
from heldout.floors import Floor
from heldout.interface import Submission
from heldout.judge.verdict import Verdict
from heldout.report import (
    EditView,
    EffectView,
    HalfRow,
    OpView,
    ProposalView,
    ReportData,
    Stage,
    TrainPoint,
    Tuning,
)
from heldout.score import EvidenceClass, Looks, Score
from heldout.score.result import Breakdown
from heldout.score.views import Material, controls_of, decide, incident_results, sides_of
from heldout.stats import minimum_detectable_gain
from heldout.store.queries import DecisionRow


@dataclass(frozen=True)
class Outcome:
    """One investigation."""

    incident: str
    arm: str
    repeat: int
    attempt: int
    verdict: Verdict
    trace: Trace | None
    reason: str = ""


@dataclass(frozen=True)
class Case:
    """As much of a case as the views need."""

    incident: Any
    is_trap: bool
    family: str = "pool"
    traps: tuple[str, ...] = ("latent",)
    origin: str = "simulated"


@dataclass(frozen=True)
class Incident:
    """An id."""

    id: str


def _trace(served: str, early: bool) -> Trace:
    since = "2026-02-20T00:00:00Z" if early else "2026-03-04T00:00:00Z"
    step = Step(0, "list_changes", {"since": since, "until": "x"}, "{}", False, ("c-1",))
    return Trace(
        messages=({"role": "user", "content": "Fired at 2026-03-04T12:00:00Z"},),
        steps=(step,),
        submission=Submission(root_cause_entity="e-1", evidence_ids=("c-1",)),
        stop_reason="submitted",
        calls=4,
        input_tokens=5200 + 400 * early,
        cached_tokens=0,
        output_tokens=300,
        usd=0.012 + 0.001 * early,
        seconds=3.2,
        served_model=served,
    )


Passes = Callable[[str, str, int], bool | None]


def _passes(incident: str, arm: str, repeat: int) -> bool | None:
    number = int(incident[-2:])
    if incident.startswith("calm"):
        return number != 3 or arm != "after" or repeat > 0
    if arm == "after":
        return number not in (7, 21) and (number != 9 or repeat == 0)
    if arm == "noop":
        return number < 9 or (number == 11 and repeat < 2)
    if number == 5 and repeat == 2:
        return None
    return number < 9 or (number < 14 and repeat == 1)


@dataclass
class Maker:
    """Builds scores and reports; every part can be exchanged."""

    passes: Passes = _passes
    model: str = "sim/anchored@low"
    traps: int = 25
    controls: int = 8
    extra: dict[str, Any] = field(default_factory=dict)

    def material(self) -> Material:
        """Outcomes of three arms and three repeats."""
        names = [f"inc-{n:02}" for n in range(self.traps)]
        calm = [f"calm-{n:02}" for n in range(self.controls)]
        outcomes = []
        for name in names + calm:
            for arm in ("before", "after", "noop"):
                for repeat in range(3):
                    passed = self.passes(name, arm, repeat)
                    result: Any = {True: "pass", False: "fail", None: "invalid"}[passed]
                    trace = None if passed is None else _trace("anchored", arm == "after")
                    verdict = Verdict(result, "", "exact")
                    reason = "provider" if passed is None else ""
                    outcomes.append(Outcome(name, arm, repeat, 0, verdict, trace, reason))
        cases: Any = [Case(Incident(n), True) for n in names] + [
            Case(Incident(n), False) for n in calm
        ]
        arms: Any = final_outcomes(outcomes)
        return Material(cases=cases, outcomes=arms, repeats=3)

    def score(self, **changes: Any) -> Score:
        """One finished score."""
        material = self.material()
        traps_ids, calm_ids = material.ids(trap=True), material.ids(trap=False)
        traps = material.compare(traps_ids)
        controls = material.compare(calm_ids) if calm_ids else None
        harm = controls_of(controls, 0.1)
        sides = sides_of(material)
        simulated = self.model.startswith("sim/")
        looks = Looks(2, 5, tuple(traps_ids[20:]), dict.fromkeys(traps_ids, 1))
        decision = decide(traps, harm, sides, looks=2, min_coverage=0.9, simulated=simulated)
        fresh = compare_runs(
            material.outcomes["before"], material.outcomes["after"], traps_ids[20:], 3
        )
        score = Score(
            score="0a1b2c3d4e5f",
            job="tune-1",
            model=self.model,
            set="prod_hard",
            before_hash="b" * 64,
            after_hash="a" * 64,
            runs=("r1", "r2"),
            evidence=EvidenceClass(
                self.model, "mechanism test" if simulated else "real model", 31, 2, 0
            ),
            endpoint={
                "primary": "share of trap incidents of the test half that are solved",
                "test": "exact two-sided McNemar",
                "reducer": "majority of valid repeats",
                "repeats": 3,
                "excluded": {},
                "pins": {"judge": "j" * 64},
                "settings": "5" * 64,
            },
            endpoint_hash="e" * 64,
            looks=looks,
            detectable=minimum_detectable_gain(len(traps_ids)),
            outcome=decision.word,
            why=decision.why,
            traps=traps,
            p_adjusted=decision.p_adjusted,
            controls=controls,
            harm=harm,
            fresh=fresh,
            arms={"noop": material.compare(traps_ids, "noop")},
            sides=sides,
            breakdown=(
                Breakdown("fault", "connection_pool", True, 9, 9, 4, 8, 4, 0),
                Breakdown("fault", "quota", False, 16, 16, 5, 15, 10, 0),
                Breakdown("trap", "latent", True, 25, 25, 9, 23, 14, 0),
                Breakdown("fault seen", "fault seen in train", True, 9, 9, 4, 8, 4, 0),
                Breakdown("fault seen", "fault not seen in train", False, 16, 16, 5, 15, 10, 0),
            ),
            floors=(
                Floor("constant answer", 0, 25, 2, 8),
                Floor("newest change", 1, 25, 3, 8),
                Floor("words of the alert (BM25)", 3, 25, 1, 8),
            ),
            incidents=incident_results(material, (traps, controls), looks.fresh),
            repeats=3,
            seconds=41.3,
            cpu_seconds=38.0,
            usd=3.61,
        )
        return replace(score, **changes)

    def tuning(self, **changes: Any) -> Tuning:
        """One finished job."""
        good = EditView(
            id="1f2e3d4c5b6a",
            round=1,
            fate="accepted",
            by="",
            reason="it fixed targeted failures: 9 fixed and 0 broken of 12 pairs on 6 incidents",
            cluster="stops at the mechanism",
            rationale="It finds the misconfigured value and never asks when it became so.",
            expected="",
            feared="Blaming an old change where the one at onset is to blame.",
            ops=(
                OpView(
                    "method.md",
                    "insert_after",
                    "- Find the mechanism.",
                    ("- Ask when the value became what it is, and which change made it so.",),
                ),
            ),
            looks=1,
            target=EffectView(12, 9, 0, 6, 5, 0),
            regression=EffectView(12, 0, 0, 6, 0, 0),
        )
        bad = replace(
            good,
            id="aaaabbbbcccc",
            fate="rejected",
            by="gate",
            reason="the checker refused it: identifier",
            findings=("identifier: 'harbor-pool' name no incident's parts",),
            target=None,
            regression=None,
        )
        harmful = replace(
            good,
            id="ddddeeeeffff",
            round=2,
            fate="rejected",
            by="screen",
            reason="it broke passing incidents: 0 fixed and 5 broken of 12 pairs on 6 incidents",
            cluster="believes the decoy",
        )
        tuning = Tuning(
            job="tune-1",
            model=self.model,
            status="saturated",
            reason="every train incident is solved",
            rounds=3,
            course=(TrainPoint(0, 9, 16), TrainPoint(1, 13, 16), TrainPoint(2, 16, 16)),
            accepted=(good, replace(good, id="777788889999", round=3, cluster="searches one day")),
            rejected=(bad, harmful),
            rejected_by={"gate": 1, "screen": 1},
            stages=(
                Stage("train", 96, 520_000, 1.1, 300.0),
                Stage("screening", 150, 800_000, 1.9, 470.0),
                Stage("confirmation", 64, 360_000, 0.8, 210.0),
                Stage("score", 297, 1_700_000, 3.6, 950.0),
                Stage("proposer", 0, 90_000, None, 0.0),
            ),
            started=1_772_600_000_000_000,
            ended=1_772_600_062_000_000,
        )
        return replace(tuning, **changes)

    def report(self, **changes: Any) -> ReportData:
        """The whole report."""
        score = self.score()
        other = Maker(
            passes=lambda name, arm, repeat: int(name[-2:]) < (6 if arm == "after" else 5),
            model="sim/scattered@low",
        ).score(score="ffff00001111")
        diff = (
            "--- a/method.md\n+++ b/method.md\n@@ -1,4 +1,6 @@\n # Method\n - Find the mechanism.\n"
            "+- Ask when the value became what it is, and which change made it so.\n"
            "+- Search changes from well before the day of the incident.\n-- Stop there.\n"
        )
        decision = DecisionRow("p-1", "d" * 64, "accept", [], "policy:auto", "demo", 1)
        data = ReportData(
            title=f"What the tuned brain is worth to {self.model}",
            project="demo",
            model=self.model,
            set="prod_hard",
            evidence=score.evidence.sentence(),
            verdict=score.verdict(),
            word=score.outcome,
            made_at=1_772_600_100_000_000,
            halves=(
                HalfRow("train", "traps", 12, 5, 12, 7, 0, None, "tuned on; no evidence of a gain"),
                HalfRow(
                    "train", "controls", 4, 4, 4, 0, 0, None, "tuned on; no evidence of a gain"
                ),
                HalfRow("held out", "traps", 25, 9, 22, 14, 1, 0.00098, "primary endpoint"),
                HalfRow("held out", "controls", 8, 8, 8, 0, 0, 1.0, "must not be harmed"),
            ),
            score=score,
            others=(other,),
            tuning=self.tuning(),
            proposal=ProposalView("p-1", diff, "d" * 64, 2, decision, 42, 51),
            review="Accepted by policy (auto), not by a person. demo",
            hashes=(("endpoint", "e" * 64), ("brain before", "b" * 64), ("brain after", "a" * 64)),
        )
        return replace(data, **changes)


@pytest.fixture
def maker() -> type[Maker]:
    """Builds scores and reports."""
    return Maker
