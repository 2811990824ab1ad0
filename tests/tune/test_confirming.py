"""What a job accepted is measured once more, on fresh repeats, before anybody is asked."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

from heldout.behaviour import ProbeOptions
from heldout.brain import load_brain
from heldout.canaries import Watch
from heldout.judge.verdict import Verdict
from heldout.tune import TuneOptions, remeasure, tune

OPTIONS = TuneOptions(job="tune-confirm", probes=ProbeOptions(rename=0, ablation=0))


def _tuned(project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch, runs: Any) -> Any:
    """A job with made-up investigations."""
    monkeypatch.setattr("heldout.tune.player.play", runs.play)

    async def sit(ledger: Any) -> Any:
        return await tune(
            project.settings, ledger, model="sim/anchored@low", proposer=parts.proposer(),
            cases=project.cases, gate=parts.gate(), interface=parts.interface(),
            options=OPTIONS, watch=Watch(),
        )  # fmt: skip

    with project.ledger() as ledger:
        return asyncio.run(sit(ledger))


def _confirming(parts: Any, needs: dict[str, str], worse: set[str]) -> Any:
    """Runs in which some incidents fail with the new brain, but only in the last measurement."""

    class Runs(parts.runs):  # type: ignore[misc, name-defined]
        def _one(self, plan: Any, incident: str, arm: str, repeat: int, brain: Any) -> Any:
            found = super()._one(plan, incident, arm, repeat, brain)
            if plan.purpose == "confirm" and arm == "after" and incident in worse:
                return replace(found, verdict=Verdict("fail", "wrong", "exact"))
            return found

    return Runs(needs)


def test_harm_is_ruled_out_on_as_many_repeats_as_it_takes(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four solved incidents played twice show little: they are played until 10 points are out."""
    runs = parts.runs(project.needs)
    done = _tuned(project, parts, monkeypatch, runs)
    assert done.proposal
    tests = done.evidence["tests"]
    assert {one["ruling"] for one in tests.values()} == {"accept"}
    assert tests["held"]["effect"]["pairs"] >= 33
    aimed = {incident for one in done.accepted for incident in one.targets}
    assert tests["target"]["effect"]["incidents"] == len(aimed)
    looks = [plan for plan in runs.plans if plan.purpose == "confirm"]
    assert len(looks) > 1
    assert len({plan.seed for plan in looks}) == len(looks), "a repeat was met twice"
    assert {len(one["before"]) for one in done.evidence["incidents"]} == {2}, "counts stay even"


def test_what_breaks_only_in_the_end_is_not_proposed(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fix is there, and two solved incidents break: the job says so and proposes nothing."""
    runs = _confirming(parts, project.needs, {"fine-0", "fine-1"})
    done = _tuned(project, parts, monkeypatch, runs)
    assert (done.status, done.proposal) == ("nothing_new", "")
    assert "it broke passing incidents" in done.reason
    assert done.evidence["tests"]["target"]["ruling"] == "accept"
    assert done.evidence["tests"]["held"]["ruling"] == "reject"


def test_a_fix_that_is_gone_is_not_asked_about_harm(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the targets fail again nothing more is bought."""
    runs = _confirming(parts, project.needs, set(project.needs) - {f"fine-{i}" for i in range(4)})
    done = _tuned(project, parts, monkeypatch, runs)
    assert (done.status, done.proposal) == ("nothing_new", "")
    assert list(done.evidence["tests"]) == ["target"]
    assert "no effect on the targeted failures" in done.reason


def test_an_amended_brain_is_asked_about_all_of_train(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No edit tells what it aims at: a fix anywhere counts, and so does a break anywhere."""
    runs = parts.runs(project.needs, breaks="Trust the newest change")
    module = import_module("heldout.tune.remeasure")
    monkeypatch.setattr(module, "read_watch", lambda _: Watch())
    monkeypatch.setattr("heldout.tune.player.play", runs.play)
    before = load_brain(project.settings.brain)

    def measured(line: str) -> dict[str, Any]:
        text = before.files["method.md"] + line + "\n"
        after = replace(before, files={**before.files, "method.md": text})

        async def sit(ledger: Any) -> dict[str, Any]:
            return await remeasure(
                project.settings, ledger, model="sim/anchored@low", before=before, after=after,
                cases=project.cases, gate=parts.gate(), interface=parts.interface(),
                options=OPTIONS,
            )  # fmt: skip

        with project.ledger() as ledger:
            return asyncio.run(sit(ledger))

    good = measured("- Search the 14 days before the alert.")
    assert good["confirmed"]
    assert good["tests"]["target"]["effect"]["incidents"] == len(project.cases)
    bad = measured("- Search the 14 days before the alert. Trust the newest change.")
    assert not bad["confirmed"]
    assert "broke" in bad["why"]
