"""What a plan says before money is spent, where its figures come from, and that it spends none."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import JsonServer

from heldout import split
from heldout.errors import LooksExhausted, UsageError
from heldout.pipeline import Job, Scoring
from heldout.pipeline.planning import (
    plan_scoring,
    plan_tuning,
    render_plan,
    scoring,
    scoring_plan,
    tuning,
)
from heldout.score.size import Size, size_of_half
from heldout.settings import Settings
from heldout.split import HeldoutAccess, read_split
from heldout.store import Ledger

SIM, REAL, UNKNOWN = "sim/anchored@low", "openai/gpt-5-mini@low", "vllm/mine"


class Server(JsonServer):
    """A model's endpoint that counts what it is asked."""

    asked = 0

    def answer(self, body: dict[str, Any]) -> tuple[int, Any]:
        """Refuse, and count."""
        self.asked += 1
        return 500, {}


def heldout(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    command = [sys.executable, "-m", "heldout.cli.main", *words, "--project", str(project)]
    env = {**os.environ, "OPENAI_API_KEY": "sk-test"}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The held-out half as it would be counted, without a process for each test."""
    for module in (scoring, tuning):
        monkeypatch.setattr(module, "size_of_half", lambda *_, **__: Size(9, 3))


def played(ledger: Ledger, model: str, count: int, **changes: Any) -> None:
    """Investigations of an earlier run of a model: 4 calls, 1,000 tokens in, 100 out each."""
    ledger.append("runs", [{
        "run": f"r-{model}", "purpose": "train", "model": model, "manifest_json": {},
        "cases_json": [], "started": 1, **changes,
    }])  # fmt: skip
    ledger.append("investigations", [
        {"run": f"r-{model}", "incident": "a", "arm": "a", "repeat": n, "attempt": 0, "seed": 1,
         "reason": "", "calls": 4, "steps": 3, "input_tokens": 1000, "cached_tokens": 400,
         "output_tokens": 100, "usd": None, "seconds": 1.0, "started": 1, "ended": 2}
        for n in range(count)
    ])  # fmt: skip
    ledger.flush()


def test_a_plan_asks_no_model_and_leaves_nothing(settings: Settings):
    """Both plans print calls, tokens, USD and the smallest gain; no request, no ledger, no look."""
    before = sorted(path for path in settings.root.rglob("*"))
    with Server() as server:
        words = ("--plan", "--model", REAL, "--base-url", server.url)
        tune, score = (heldout(settings.root, verb, *words) for verb in ("tune", "score"))
        assert server.asked == 0
        with pytest.raises(OSError, match="500"):
            urllib.request.urlopen(server.url, data=b"{}")
        assert server.asked == 1  # The count would have told.
    for done in (tune, score):
        assert done.returncode == 0, done.stderr
        for said in (
            "calls",
            "tokens",
            "USD",
            "9 incidents: at least 6 fixed",
            "NO CAP",
            "assumed",
        ):
            assert said in done.stdout, said
        for incident in read_split(settings.set_dir()).test:
            assert incident not in done.stdout
    assert sorted(path for path in settings.root.rglob("*")) == before


def test_the_held_out_half_is_counted_in_a_process_of_its_own(settings: Settings):
    """Its traps and controls become known, and this process may still open none of them."""
    assert size_of_half(settings) == Size(9, 3)
    one = read_split(settings.set_dir()).test[0]
    assert size_of_half(settings, exclude=(one,)).incidents == 11
    assert split._role not in split.TEST_SIDE_ROLES
    with pytest.raises(split.SplitViolation):
        HeldoutAccess()


@pytest.mark.usefixtures("counted")
def test_a_score_is_counted_exactly(settings: Settings):
    """Incidents x arms x repeats, and the look that it would be."""
    plan = plan_scoring(settings, None, model=SIM, arms=("noop", "placebo"))
    assert plan.investigations == plan.most == 12 * 4 * 3
    assert "look 1 of 5" in plan.subject
    assert plan.usd == 0


@pytest.mark.usefixtures("counted")
def test_earlier_investigations_of_the_same_model_are_the_measure(
    settings: Settings, ledger: Ledger
):
    """Ten of them make a mean, at today's price and cached as they were; other models' count not."""
    played(ledger, REAL, 10)
    plan = plan_scoring(settings, ledger, model=REAL)
    (stage,) = plan.stages
    assert (stage.calls, stage.tokens) == (108 * 4, 108 * 1100)
    assert stage.usd == pytest.approx(108 * (600 * 0.25 + 400 * 0.025 + 100 * 2.0) / 1e6)
    assert "mean of 10 earlier" in render_plan(plan)
    other = plan_scoring(settings, ledger, model="openai/gpt-5-mini@high")
    assert other.stages[0].unit.assumed
    assert "assumed 20 calls" in render_plan(other)


@pytest.mark.usefixtures("counted")
def test_an_assumed_investigation_ends_where_the_limit_is(settings: Settings):
    """With at most 8 tool calls the plan counts 8 of the assumed 20, and tokens in proportion."""
    few = replace(settings, limits=settings.limits.model_copy(update={"max_steps": 8}))
    here, usual = (plan_scoring(one, None, model=REAL).stages[0].unit for one in (few, settings))
    assert (here.calls, usual.calls) == (8, 20)
    assert here.tokens == pytest.approx(0.4 * usual.tokens)
    assert "assumed 8 calls, where its limit is, 60 k tokens" in here.basis


@pytest.mark.usefixtures("counted")
def test_a_few_earlier_ones_are_no_measure(settings: Settings, ledger: Ledger):
    """Nine are too few for a mean, and whole probes are not taken for investigations."""
    played(ledger, REAL, 9)
    played(ledger, SIM, 50, purpose="probe")
    assert plan_scoring(settings, ledger, model=REAL).stages[0].unit.assumed
    assert plan_scoring(settings, ledger, model=SIM).stages[0].unit.assumed


@pytest.mark.usefixtures("counted")
def test_an_unknown_price_is_said_and_never_nothing(settings: Settings):
    """USD is unknown without a price; the project's own price makes it known."""
    text = render_plan(plan_scoring(settings, None, model=UNKNOWN))
    assert next(one for one in text.splitlines() if one.startswith("together")).endswith("unknown")
    assert "no known price" in text
    assert plan_scoring(settings, None, model=UNKNOWN).usd is None
    settings.prices.write_text(
        'as_of = "2026-03-01"\n[vllm."mine"]\ninput = 1.0\noutput = 2.0\n', encoding="utf-8"
    )
    plan = plan_scoring(settings, None, model=UNKNOWN)
    assert plan.usd == pytest.approx(108 * (150_000 * 1.0 + 6_000 * 2.0) / 1e6)
    assert "as of 2026-03-01" in render_plan(plan)


@pytest.mark.usefixtures("counted")
def test_a_spent_budget_of_looks_refuses_a_plan_as_it_would_a_score(
    settings: Settings, ledger: Ledger
):
    """A plan of what cannot be done is no plan; the incidents that are left can be planned for."""
    one = read_split(settings.set_dir()).test[0]
    rows = [{"score": f"s{n}", "incident": one, "model": SIM} for n in range(5)]
    ledger.append("looks", rows)
    ledger.flush()
    with pytest.raises(LooksExhausted):
        plan_scoring(settings, ledger, model=SIM)
    assert plan_scoring(settings, ledger, model=SIM, skip_exhausted=True).investigations
    assert plan_scoring(settings, ledger, model=REAL).investigations


@pytest.mark.usefixtures("counted")
def test_a_first_job_says_what_it_assumes(settings: Settings):
    """Without an ended job the rounds are assumed and said; the first measurement is exact."""
    plan = plan_tuning(Job(project=str(settings.root), model=REAL, rounds=1), None)
    assert "assumed, as no job of this model, set and strategy has ended" in plan.basis[0]
    assert "1 rounds" in plan.basis[0]
    assert plan.stages[0].expected >= 12 * 3
    assert plan.most is not None
    assert plan.investigations <= plan.most
    screening = plan.stages[1]
    assert (
        screening.most == 3 * (360 + 720) + 720
    )  # Three candidates and a shorter text, one round.
    assert [one.name for one in plan.further] == [f"the held-out half, {REAL}"]


def ended(ledger: Ledger, job: str, *, screened: int) -> None:
    """A job that ended after two rounds, with one investigation for each incident at the start."""
    row = {"job": job, "kind": "tune", "model": SIM, "set": "demo"}
    begun = {"proposer": "sim/proposer", "options": {"repeats": 1, "strategy": "reflect"}}
    spent = {"calls": 12, "input_tokens": 1200, "output_tokens": 120, "usd": 0.0}
    ledger.append("jobs", [
        {**row, "status": "started", "detail_json": begun},
        {**row, "status": "saturated", "detail_json": {"rounds": 2, "train": [12, 12]}},
    ])  # fmt: skip
    ledger.append("edit_events", [
        {"edit": "", "job": job, "event": "asked", "detail_json": {"spent": spent}}
    ])  # fmt: skip
    for purpose, count in (("train", 12), ("screen", screened)):
        run = f"{job}-{purpose}"
        ledger.append("runs", [{"run": run, "job": job, "purpose": purpose, "model": SIM,
                                "manifest_json": {}, "cases_json": [], "started": 1}])  # fmt: skip
        ledger.append("investigations", [
            {"run": run, "incident": "a", "arm": "a", "repeat": n, "attempt": 0, "seed": 1,
             "reason": "", "calls": 4, "steps": 3, "input_tokens": 1000, "cached_tokens": 0,
             "output_tokens": 100, "usd": 0.0, "seconds": 1.0, "started": 1, "ended": 2}
            for n in range(count)
        ])  # fmt: skip
    ledger.flush()


@pytest.mark.usefixtures("counted")
def test_earlier_jobs_give_the_size_of_the_next(settings: Settings, ledger: Ledger):
    """Screening as in the mean of ended jobs, the baseline with today's repeats, rounds as allowed."""
    ended(ledger, "tune-1", screened=30)
    ended(ledger, "tune-2", screened=50)
    job = Job(project=str(settings.root), model=SIM)
    sizes = {one.name: one.expected for one in plan_tuning(job, ledger).stages}
    assert sizes["screening candidates"] == 40
    assert sizes["measuring train"] == 12 * 3
    assert sizes["reading failures, writing edits"] == 12
    fewer = plan_tuning(job.model_copy(update={"rounds": 1}), ledger)
    assert {one.name: one.expected for one in fewer.stages}["screening candidates"] == 20
    for changed in ({"model": REAL}, {"strategy": "blind"}):
        assert "assumed" in plan_tuning(job.model_copy(update=changed), ledger).basis[0]


@pytest.mark.usefixtures("counted")
def test_caps_stand_beside_what_is_expected(settings: Settings, ledger: Ledger):
    """A cap below the expected cost is shouted; the month's says what of it is spent."""
    job = Job(project=str(settings.root), model=REAL, max_usd=1.0)
    assert "EXPECTED TO REACH ITS CAP" in render_plan(plan_tuning(job, ledger))
    wide = job.model_copy(update={"max_usd": 10_000.0})
    text = render_plan(plan_tuning(wide, ledger))
    assert "EXPECTED" not in text
    assert "it stops at 10000 USD" in text
    month = settings.month.model_copy(update={"max_usd": 50.0})
    played(ledger, REAL, 10)
    text = render_plan(plan_scoring(replace(settings, month=month), ledger, model=SIM))
    assert "the month ends at 50 USD, of which 0.00 is spent" in text


@pytest.mark.usefixtures("counted")
def test_judging_models_are_planned_for(settings: Settings):
    """Each verdict of a judging model is a call with a price of its own."""
    judge = settings.judge.model_copy(update={"by": "llm", "models": (REAL, UNKNOWN)})
    plan = plan_scoring(replace(settings, judge=judge), None, model=SIM)
    assert [one.name for one in plan.stages[1:]] == [f"judging by {REAL}", f"judging by {UNKNOWN}"]
    assert plan.stages[1].calls == 108
    assert plan.usd is None


def test_a_set_without_incidents_has_no_plan(settings: Settings):
    """As for the job itself: there is nothing to tune on."""
    split.write_split(split.Split("bare", (), ()), settings.datasets / "bare")
    with pytest.raises(UsageError, match="no incident to tune on"):
        plan_tuning(Job(project=str(settings.root), set="bare"), None)


def test_an_arm_that_does_not_exist_is_a_mistake(settings: Settings):
    """As for the score itself."""
    with pytest.raises(UsageError, match="no arm 'magic'"):
        scoring_plan(settings, Scoring(arms=("magic",)))
