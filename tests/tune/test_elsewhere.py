"""A change that helps here and harms what the brain solves in another environment is not proposed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from heldout.behaviour import ProbeOptions
from heldout.canaries import Watch
from heldout.incident import Incident
from heldout.settings import Settings
from heldout.split import Case
from heldout.store import Ledger
from heldout.store.queries import jobs, proposals
from heldout.tune import Elsewhere, TuneOptions, TuneResult, tune

OPTIONS = TuneOptions(job="tune-test", probes=ProbeOptions(rename=0))


def there(project: Any, count: int) -> tuple[Case, ...]:
    """Train incidents of another set, each passed at the baseline."""
    made = []
    for number in range(count):
        name = f"there-{number:02}"
        incident = Incident(name, "other", "# x", project.root / name, name)
        made.append(replace(project.cases[0], incident=incident))
        project.needs[name] = ""
    return tuple(made)


def job(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch, cases: tuple[Case, ...], *,
    harmful: bool,
) -> tuple[TuneResult, dict[str, Any], list[Any]]:  # fmt: skip
    """A job with another environment beside; its result, its evidence, and what was played."""

    class Runs(parts.runs):  # type: ignore[misc, name-defined]
        """Elsewhere a line on looking back breaks what passed, if it is to be harmful."""

        def _one(self, plan: Any, incident: str, arm: str, repeat: int, brain: Any) -> Any:
            found = super()._one(plan, incident, arm, repeat, brain)
            if incident.startswith("there") and harmful and arm == "after":
                return replace(found, verdict=replace(found.verdict, result="fail"))
            return found

    runs = Runs(project.needs)
    monkeypatch.setattr("heldout.tune.player.play", runs.play)
    other = Settings(root=project.root, set="other")

    async def play(ledger: Ledger) -> TuneResult:
        return await tune(
            project.settings, ledger, model="sim/anchored@low", proposer=parts.proposer(),
            cases=project.cases, gate=parts.gate(), interface=parts.interface(), options=OPTIONS,
            watch=Watch(),
            elsewhere=Elsewhere(other, parts.interface(), cases) if cases else None,
        )  # fmt: skip

    with project.ledger() as ledger:
        done = asyncio.run(play(ledger))
        found = proposals(ledger)
        evidence = found[0].evidence if found else jobs(ledger)[0].detail
    return done, dict(evidence), runs.plans


def test_what_harms_another_environment_is_not_proposed(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told which question fell; the incidents played there are the other set's own."""
    done, _, plans = job(project, parts, monkeypatch, there(project, 12), harmful=True)
    assert (done.status, done.proposal) == ("nothing_new", "")
    assert {plan.set for plan in plans if plan.cases[0].incident.set == "other"} == {"other"}


def test_what_harms_nothing_there_is_proposed_with_the_evidence(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: the same edits, and the third question stands in what a reviewer sees."""
    done, evidence, _ = job(project, parts, monkeypatch, there(project, 12), harmful=False)
    assert done.proposal
    assert evidence["tests"]["elsewhere"]["ruling"] == "accept"
    assert "passes nothing" not in evidence["why"]


def test_where_nothing_passed_before_a_reviewer_is_told(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A guard that had nothing to hold says so; the control is the one before, which says nothing."""
    cases = there(project, 12)
    project.needs.update({case.incident.id: "never" for case in cases})
    done, evidence, _ = job(project, parts, monkeypatch, cases, harmful=False)
    assert done.proposal
    assert "elsewhere" not in evidence["tests"]
    assert "passes nothing in set 'other'" in evidence["why"]


def test_without_another_environment_nobody_asks(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A harmful change passes then: the check is what refuses it."""
    done, evidence, _ = job(project, parts, monkeypatch, (), harmful=True)
    assert done.proposal
    assert "elsewhere" not in evidence["tests"]


def test_no_more_than_a_few_incidents_are_played_there(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixteen of forty, spread over the half, the same ones each time."""
    cases = there(project, 40)
    one, two = (Elsewhere(Settings(root=project.root), parts.interface(), given).chosen()
                for given in (cases, tuple(reversed(cases))))  # fmt: skip
    assert one == two
    assert len(one) == 16
    assert one[-1].incident.id > "there-29"
