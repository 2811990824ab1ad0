"""A job that could find nothing new: what counts as new, and what does not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from heldout.behaviour import ProbeOptions
from heldout.brain import load_brain, write_brain
from heldout.canaries import Watch
from heldout.store import Ledger
from heldout.store.queries import jobs, proposals
from heldout.tune import Standstill, TuneOptions, remember_standstill, standstill, tune

MODEL = "sim/anchored@low"
OPTIONS = TuneOptions(probes=ProbeOptions(rename=0))


@pytest.fixture
def ask(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Standstill | None]:
    """Asks whether there is news; the specs are those of the project's cases."""
    (project.root / "datasets" / "prod_hard").mkdir(parents=True)

    def specs(directory: Any, side: str) -> list[SimpleNamespace]:
        assert side == "train"
        return [
            SimpleNamespace(
                id=case.incident.id,
                world_digest=case.incident.digest,
                truth_digest=case.truth_digest,
            )
            for case in project.cases
        ]

    monkeypatch.setattr("heldout.tune.news.read_specs", specs)

    def asked(ledger: Ledger, **changed: Any) -> Standstill | None:
        given = {
            "model": MODEL, "proposer": "sim/proposer", "options": OPTIONS,
            "interface": parts.interface(),
        }  # fmt: skip
        return standstill(project.settings, ledger, **{**given, **changed})

    return asked


def play(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch, ledger: Ledger, **more: Any
) -> Any:
    """One whole job."""
    needs = more.pop("needs", project.needs)
    monkeypatch.setattr("heldout.tune.player.play", parts.runs(needs).play)
    monkeypatch.setattr(
        "heldout.tune.job._client", lambda *_: (more.get("client") or parts.proposer(), None)
    )
    return asyncio.run(
        tune(
            project.settings,
            ledger,
            model=MODEL,
            proposer="sim/proposer",
            cases=project.cases,
            gate=parts.gate(),
            interface=parts.interface(),
            options=more.get("options", OPTIONS),
            watch=Watch(),
        )
    )


def test_a_waiting_proposal_and_nothing_else_changed(
    project: Any, parts: Any, ask: Any, monkeypatch: pytest.MonkeyPatch
):
    """The job that left it is named; the sentence says what waits and that nothing was spent."""
    with Ledger.open(project.settings.ledger) as ledger:
        assert ask(ledger) is None
        done = play(project, parts, monkeypatch, ledger)
        assert done.proposal
        found = ask(ledger)
        assert found is not None
        assert (found.job, found.proposal) == (done.job, done.proposal)
        assert f"{done.proposal} waits for a decision. Nothing was spent." in found.sentence()
        remember_standstill(ledger, found, MODEL, "prod_hard")
        row = jobs(ledger, kind="check")[0]
        assert (row.status, row.detail["like"]) == ("nothing_new", done.job)
        assert jobs(ledger, kind="tune")[0].job == done.job


def test_what_is_new(project: Any, parts: Any, ask: Any, monkeypatch: pytest.MonkeyPatch):
    """Other incidents, proposer, strategy, model, tools, checkers or brain may lead elsewhere."""
    with Ledger.open(project.settings.ledger) as ledger:
        play(project, parts, monkeypatch, ledger)
        assert ask(ledger) is not None
        assert ask(ledger, proposer="sim/other") is None
        assert ask(ledger, model="sim/scattered@low") is None
        assert ask(ledger, options=replace(OPTIONS, strategy="blind")) is None
        assert ask(ledger, options=replace(OPTIONS, repeats=5)) is None
        assert ask(ledger, options=replace(OPTIONS, target="base")) is None
        whole, project.cases = project.cases, project.cases[:-1]
        assert ask(ledger) is None
        project.cases = whole
        project.settings.checkers.mkdir()
        (project.settings.checkers / "another.py").write_text("")
        assert ask(ledger) is None
        (project.settings.checkers / "another.py").unlink()
        brain = load_brain(project.settings.brain)
        write_brain(
            brain.with_file("method.md", brain.files["method.md"] + "- More.\n"),
            project.settings.brain,
        )
        assert ask(ledger) is None


def test_what_is_not_new(project: Any, parts: Any, ask: Any, monkeypatch: pytest.MonkeyPatch):
    """Caps, concurrency and another model's overlay change nothing that a job could find."""
    with Ledger.open(project.settings.ledger) as ledger:
        play(project, parts, monkeypatch, ledger)
        calm = replace(OPTIONS, max_usd=3.0, max_tokens=9, concurrency=1)
        assert ask(ledger, options=calm) is not None
        brain = load_brain(project.settings.brain)
        other = brain.with_file("overlays/models/other-model/method.md", "- Not for this one.\n")
        write_brain(other, project.settings.brain)
        assert load_brain(project.settings.brain).hash != brain.hash
        assert ask(ledger) is not None


def test_a_reviewers_word_is_news(
    project: Any, parts: Any, ask: Any, monkeypatch: pytest.MonkeyPatch
):
    """A proposal turned down lets a further job try; one accepted elsewhere does not."""
    with Ledger.open(project.settings.ledger) as ledger:
        play(project, parts, monkeypatch, ledger)
        row = proposals(ledger)[0]
        word = {"proposal": row.proposal, "diff_hash": row.diff_hash, "name": "somebody"}
        ledger.append("decisions", [{**word, "action": "accept"}])
        found = ask(ledger)
        assert found is not None
        assert "not in the brain in use" in found.why
        ledger.append(
            "releases", [{"brain_hash": row.before_hash, "action": "revert", "name": "somebody"}]
        )
        assert ask(ledger) is None
        ledger.append("decisions", [{**word, "action": "reject"}])
        assert ask(ledger) is None


def test_failures_that_were_not_tried_are_left_for_the_next_job(
    project: Any, parts: Any, ask: Any, monkeypatch: pytest.MonkeyPatch
):
    """A cap leaves something to do; a job that tried every failure, or found none, does not."""
    with Ledger.open(project.settings.ledger) as ledger:
        capped = play(
            project, parts, monkeypatch, ledger, options=replace(OPTIONS, max_tokens=20_000)
        )
        assert (capped.status, capped.proposal) == ("budget", "")
        assert ask(ledger) is None
        silent = parts.proposer(edits=lambda _: [])
        done = play(project, parts, monkeypatch, ledger, client=silent)
        assert done.status == "nothing_new"
        assert ask(ledger).job == done.job
    fresh = project.settings.ledger
    fresh.unlink()
    with Ledger.open(fresh) as ledger:
        done = play(project, parts, monkeypatch, ledger, needs=dict.fromkeys(project.needs, ""))
        assert done.status == "saturated"
        assert "no failure on train" in ask(ledger).why
