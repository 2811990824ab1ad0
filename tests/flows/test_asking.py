"""What flows are made of, without Prefect: the form's word, pages and facts, an early end, serving."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from tests.review.test_decision import BEFORE, propose

from heldout import pipeline
from heldout.brain import load_brain, write_brain
from heldout.errors import CapReached, ConfigError, UsageError
from heldout.pipeline import demo
from heldout.pipeline.showing import form_of, job_facts, page_key, signed, train_table
from heldout.split import Split, write_split
from heldout.store import Ledger
from heldout.store.queries import decisions, proposals

WORD = {"decision": "accept", "name": "kim", "reason": "method only"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a proposal that waits."""
    (tmp_path / "heldout.toml").write_text('name = "t"\nset = "tiny"\n')
    write_brain(BEFORE, tmp_path / "brain")
    write_split(Split("tiny", (), ("inc-bbbb",)), tmp_path / "datasets" / "tiny")
    with Ledger.open(tmp_path / ".heldout" / "ledger.duckdb") as ledger:
        propose(ledger)
    return tmp_path


def decided(project: Path) -> list[tuple[str, str | None]]:
    """Every decision and who gave it."""
    with Ledger.open(project / ".heldout" / "ledger.duckdb", read_only=True) as ledger:
        return [(row.action, row.name) for row in decisions(ledger)]


def test_the_form_has_no_answer_in_it(project: Path):
    """Each field must be filled in, and a decision must be one of three."""
    assert set(pipeline.Word.model_json_schema()["required"]) == set(WORD)
    for wrong in ({}, {**WORD, "decision": "yes"}, {**WORD, "name": ""}, {**WORD, "reason": ""}):
        with pytest.raises(ValidationError):
            pipeline.Word.model_validate(wrong)


def test_a_word_is_done_as_said(project: Path):
    """Accepting writes the brain that was shown; a second word on it is refused."""
    asked = pipeline.show_proposal(str(project), "p-12")
    assert (asked.proposal, asked.model) == ("p-1234", "sim/anchored@low")
    assert "Ask when the value became what it is." in asked.text
    assert not [line for line in asked.text.splitlines() if line.startswith("- :")]
    assert signed("- :x: a\n`- :x: b`\n- :odd: c") == "- ✗ a\n`- :x: b`\n- :odd: c"
    assert load_brain(project / "brain").hash == BEFORE.hash
    said = pipeline.do_as_said(str(project), asked, pipeline.Word(**WORD))
    assert said.startswith("Accepted p-1234 by kim: the brain is now ")
    assert "Ask when" in (project / "brain" / "method.md").read_text()
    assert decided(project) == [("accept", "kim")]
    with pytest.raises(UsageError, match="already decided"):
        pipeline.do_as_said(str(project), asked, pipeline.Word(**{**WORD, "decision": "reject"}))
    with pytest.raises(UsageError, match="already decided"):
        pipeline.show_proposal(str(project), "p-1234")


def test_a_no_writes_nothing_to_the_brain(project: Path):
    """Rejecting leaves a row with the reason, and the files as they were."""
    asked = pipeline.show_proposal(str(project), "p-1234")
    no = pipeline.Word(**{**WORD, "decision": "reject"})
    assert pipeline.do_as_said(str(project), asked, no) == "Rejected p-1234 by kim"
    assert load_brain(project / "brain").hash == BEFORE.hash
    assert decided(project) == [("reject", "kim")]


def test_a_word_counts_for_the_diff_that_was_shown_only(project: Path):
    """A form that showed another diff decides nothing."""
    asked = pipeline.show_proposal(str(project), "p-1234")
    other = pipeline.Asked(asked.proposal, asked.model, "0" * 64, asked.text)
    with pytest.raises(UsageError, match="not the one that you were shown"):
        pipeline.do_as_said(str(project), other, pipeline.Word(**WORD))
    assert decided(project) == []


def test_a_decision_may_come_with_the_run(project: Path):
    """For an automation; half of one is refused, none leaves it to the form."""
    assert pipeline.given_word("", "", "") is None
    word = pipeline.given_word("reject", "bot", "the budget is spent")
    assert word is not None
    assert word.decision == "reject"
    with pytest.raises(UsageError, match="a name and a reason"):
        pipeline.given_word("accept", "", "x")


def test_facts_for_notifications_hold_no_text_of_a_model(project: Path):
    """Ids, counts and the next command; the page shows the diff, the facts do not."""
    job = pipeline.Job(project=str(project))
    tuned = pipeline.Tuned(job="j-1", status="nothing_new", proposal="p-1234", sentence="a b")
    done = pipeline.JobResult(tuned=tuned, text="everything")
    facts = job_facts(job, done)
    assert (facts["waits"], facts["next"]) == (True, "heldout review p-1234")
    with Ledger.open(project / ".heldout" / "ledger.duckdb", read_only=True) as ledger:
        diff = proposals(ledger)[0].diff
    added = [line[1:] for line in diff.splitlines() if line.startswith("+") and len(line) > 8]
    assert not [line for line in added if line in json.dumps(facts)]
    assert form_of(job, done)["proposal"] == "p-1234"
    assert {row["measured"] for row in train_table(job, tuned)} >= {"job", "traps", "controls"}
    assert page_key("brain-diff", "openai/GPT_x.1@low") == "brain-diff-openai-gpt-x-1-low"


def test_a_job_with_nothing_new_runs_no_stage(project: Path, capsys: pytest.CaptureFixture[str]):
    """It says why, and what waits; --again and a resumed job do not even ask."""
    stages: list[str] = []

    def stage(name: str, result: Any) -> Any:
        def run(*_: Any) -> Any:
            stages.append(name)
            return result

        return run

    still = pipeline.Tuned(
        job="j-1", status="nothing_new", proposal="p-1234", sentence="Nothing new since job j-1."
    )
    parts = {
        "build": stage("build", None),
        "tune": stage("tune", still),
        "score": stage("score", ()),
        "report": stage("report", ("text", "path")),
    }
    done = pipeline.run_stages(pipeline.Job(), news=lambda job: still, **parts)
    assert stages == []
    assert done.text.splitlines() == [
        "Nothing new since job j-1.",
        "Proposal p-1234 waits: heldout review p-1234",
    ]
    assert done.word == "waits"
    calm = still.model_copy(update={"proposal": ""})
    done = pipeline.run_stages(pipeline.Job(), news=lambda job: calm, **parts)
    assert "heldout tune --again" in done.text
    pipeline.run_stages(pipeline.Job(), resume="j-1", news=lambda job: still, **parts)
    assert stages == ["build", "tune", "report"]


@pytest.mark.usefixtures("_role")
def test_a_month_that_is_used_up_is_told_before_anything_is_built(project: Path):
    """And a cap in USD on a model without a price is refused, the cap in tokens named."""
    toml = project / "heldout.toml"
    toml.write_text('set = "tiny"\n[month]\nmax_tokens = 10\n')
    job = pipeline.Job(project=str(project))
    assert pipeline.find_news(job) is None
    row = {"edit": "e", "job": "j", "event": "drafted",
           "detail_json": {"spent": {"calls": 1, "input_tokens": 9, "output_tokens": 9, "usd": 0.1}}}  # fmt: skip
    with Ledger.open(project / ".heldout" / "ledger.duckdb") as ledger:
        ledger.append("edit_events", [row])
    with pytest.raises(CapReached, match=r"cap of 10 tokens is reached.*raise the cap"):
        pipeline.find_news(job)
    toml.write_text('set = "tiny"\n[month]\nmax_usd = 10.0\n')
    with pytest.raises(ConfigError, match="Cap tokens instead"):
        pipeline.find_news(job.model_copy(update={"model": "openai/unheard-of@low"}))
    assert pipeline.find_news(job) is None


@pytest.fixture
def _role(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process plays the tuning job's role for one test."""
    monkeypatch.setattr("heldout.split._role", "tune")


class FakeFlow:
    """Stands for a flow that Prefect made."""

    def __init__(self) -> None:
        self.served: dict[str, Any] = {}

    def __call__(self, job: pipeline.Job) -> pipeline.JobResult:
        raise AssertionError("it was to be served")

    def serve(self, name: str, **more: Any) -> None:
        self.served = {"name": name, **more}


def test_serving_keeps_one_job_at_a_time(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """``serve CRON`` registers the flow by its model; without a server or a schedule it says so."""
    words = ["flows/tune.py", "serve", "0 5 * * 1", "--project", str(project), "--repeats", "2"]
    monkeypatch.setattr(sys, "argv", words)
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    with pytest.raises(SystemExit):
        demo.run_from_command_line(FakeFlow())
    assert "PREFECT_API_URL" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["flows/tune.py", "--review", "form"])
    with pytest.raises(SystemExit):
        demo.run_from_command_line(FakeFlow())
    assert "a form needs a Prefect server" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", words)
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    flow = FakeFlow()
    demo.run_from_command_line(flow)
    assert flow.served == {
        "name": "tune-sim-anchored-low",
        "cron": "0 5 * * 1",
        "parameters": {"job": {"project": str(project), "repeats": 2}},
        "limit": 1,
        "global_limit": 1,
    }
    monkeypatch.setattr(sys, "argv", ["flows/tune.py", "serve", "--project", str(project)])
    with pytest.raises(SystemExit):
        demo.run_from_command_line(FakeFlow())
    assert "needs a schedule" in capsys.readouterr().err
