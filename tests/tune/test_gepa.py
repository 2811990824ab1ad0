"""The strategy that searches: what it may play, what it leaves, and what its result is worth."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from typing import Any

import pytest
from tests.tune.test_job import GOOD, MODEL, NEAR, OPTIONS, go, line
from tests.tune.test_strategies import scripted

from heldout.canaries import Watch
from heldout.edit import apply_edits, edit_from_plain
from heldout.errors import ProviderUnavailable, UsageError
from heldout.store.queries import edit_events, gate_reports, jobs, proposals
from heldout.tune import tune

GEPA = replace(OPTIONS, strategy="gepa", max_metric_calls=200)
BOTH = f"{GOOD}\n{NEAR}"
LEAK = "- For example, restart it."


def searched(project: Any) -> list[dict[str, Any]]:
    """What the job wrote down of its searches."""
    with project.ledger() as ledger:
        return [e.detail for e in edit_events(ledger) if e.event == "searched"]


def played(runs: Any, purpose: str) -> int:
    """Investigations of the plans of a purpose."""
    return sum(len(p.cases) * p.repeats * len(p.arms) for p in runs.plans if p.purpose == purpose)


def of_search(runs: Any) -> list[Any]:
    """The plans that a search played: one arm, one repeat."""
    return [p for p in runs.plans if p.purpose == "screen" and len(p.arms) == 1]


def test_what_a_search_finds_is_gated_accepted_and_confirmed_like_any_edit(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends with one edit of its steps, screened on both arms and measured on fresh repeats."""
    gate, runs = parts.gate(), parts.runs(project.needs)
    done = go(project, parts, monkeypatch, gate=gate, runs=runs, options=GEPA)
    assert (done.status, done.train) == ("saturated", (12, 12))
    (one,) = done.accepted
    assert one.target["fixed"] > 0
    assert one.guard["broken"] == 0
    screens = [p for p in runs.plans if p.purpose == "screen" and len(p.arms) == 2]
    assert screens
    assert played(runs, "confirm") >= 12 * 2 * 2
    with project.ledger() as ledger:
        (row,) = proposals(ledger)
        edits = [edit_from_plain(entry["edit"]) for entry in row.edits]
        checked = {report.edit for report in gate_reports(ledger)}
        (ended,) = jobs(ledger)
    assert apply_edits(done.before, edits).hash == row.after_hash == done.after.hash
    assert one.edit.id in checked
    assert {before.hash for before, *_ in gate.checks} == {done.before.hash}
    assert ended.status == "saturated"
    assert "litellm" not in sys.modules


def test_a_search_never_spends_more_than_it_may(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even for the last child; what it says it played is what was played."""
    proposer = scripted(parts, [line("- Take your time.")])
    for most in (30, 47, 61):
        runs = parts.runs(project.needs, noise=0.3)
        options = replace(GEPA, job=f"tune-{most}", max_metric_calls=most, recall=False)
        go(project, parts, monkeypatch, runs=runs, proposer=proposer, options=options)
        spent = sum(len(p.cases) for p in of_search(runs))
        with project.ledger() as ledger:
            said = [e.detail["played"] for e in edit_events(ledger, job=options.job)
                    if e.event == "searched"]  # fmt: skip
        assert spent == sum(said) <= most


def test_too_little_for_one_proposal_is_refused_before_anything_is_played(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says how much one proposal needs; with that much the job begins."""
    runs = parts.runs(project.needs)
    with pytest.raises(UsageError, match="30 investigations"):
        go(project, parts, monkeypatch, runs=runs, options=replace(GEPA, max_metric_calls=29))
    assert runs.plans == []
    go(project, parts, monkeypatch, runs=runs, options=replace(GEPA, max_metric_calls=30))
    assert runs.plans


def test_the_same_seed_finds_the_same(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two jobs of one seed play the same plans; another seed plays others."""
    seen = []
    for number, seed in enumerate((1, 1, 2)):
        runs = parts.runs(project.needs, noise=0.1)
        options = replace(GEPA, job=f"tune-{number}", seed=seed, recall=False)
        go(project, parts, monkeypatch, runs=runs, options=options)
        seen.append(
            [([c.incident.id for c in p.cases], p.arms[0].brain.hash, p.seed) for p in runs.plans]
        )
    assert seen[0] == seen[1] != seen[2]


def test_a_draft_with_a_leak_is_not_played_once(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gate stands before the minibatch; negative control: without the leak it is played."""
    for number, text in enumerate((f"{BOTH}\n{LEAK}", BOTH)):
        runs, proposer = parts.runs(project.needs), scripted(parts, [line(text)])
        options = replace(GEPA, job=f"tune-{number}", gate_tries=1, max_metric_calls=60,
                          recall=False)  # fmt: skip
        done = go(project, parts, monkeypatch, runs=runs, proposer=proposer, options=options)
        brains = {p.arms[0].brain.hash for p in of_search(runs)}
        assert bool(done.proposal) is bool(number)
        assert (brains == {done.before.hash}) is not bool(number)
        if not number:
            assert done.reason.startswith("the search found nothing better")


def test_the_search_reads_failures_redacted_and_never_with_the_stock_prompt(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our typed calls alone reach the model: no name of an incident, none of GEPA's own words."""
    proposer = parts.proposer()
    go(project, parts, monkeypatch, proposer=proposer, options=GEPA)
    texts = [str(m["content"]) for body in proposer.bodies for m in body["messages"]]
    drafts = [text for text in texts if "[[ ## limits ## ]]\nat most" in text]
    assert drafts
    assert all("at most 1 candidates" in text for text in drafts)
    for word in ("quillmere", "tarnwick", "c-00000", "trap-0", "niche", "```", "Instructions to"):
        assert not [text for text in texts if word in text], word


def test_a_lucky_find_is_not_accepted(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A strict sum over three noisy incidents keeps what does nothing; the job does not."""

    class Noisy(parts.runs):  # type: ignore[misc, name-defined]
        def _one(self, plan: Any, incident: str, arm: str, repeat: int, brain: Any) -> Any:
            return super()._one(plan, incident, brain.hash, repeat, brain)

    kept = []
    for seed in range(1, 6):
        runs = Noisy(dict.fromkeys(project.needs, "history"), noise=0.4)
        proposer = scripted(parts, [line(f"- Take your time, {seed}.")])
        options = replace(GEPA, job=f"tune-{seed}", seed=seed, recall=False)
        done = go(project, parts, monkeypatch, runs=runs, proposer=proposer, options=options)
        kept.append(len(done.accepted))
    courses = [len(one["course"]) - 1 for one in searched(project)]
    assert sum(courses) > 0, "the search itself must have been fooled"
    assert kept == [0] * 5


@pytest.mark.parametrize("kill", [("runs", 2), ("runs", 5), ("asks", 3)])
def test_a_killed_search_is_walked_again_and_pays_for_nothing_twice(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch, kill: tuple[str, int]
) -> None:
    """The resumed job leaves the rows of an uninterrupted one, and plays only what was missing."""
    whole_runs = parts.runs(project.needs)
    whole = go(project, parts, monkeypatch, runs=whole_runs, options=GEPA)
    with project.ledger() as ledger:
        wanted = [(e.edit, e.event, e.detail) for e in edit_events(ledger)]
    project.settings.ledger.unlink()
    runs, proposer = parts.runs(project.needs), parts.proposer()
    setattr(*((runs, "kill_at") if kill[0] == "runs" else (proposer, "fail_at")), kill[1])
    with pytest.raises(parts.killed):
        go(project, parts, monkeypatch, runs=runs, proposer=proposer, options=GEPA)
    runs.kill_at = proposer.fail_at = None
    again = go(project, parts, monkeypatch, runs=runs, proposer=proposer, options=GEPA)
    assert again.after.hash == whole.after.hash
    assert runs.investigations == whole_runs.investigations
    with project.ledger() as ledger:
        assert [(e.edit, e.event, e.detail) for e in edit_events(ledger)] == wanted


def test_material_of_the_held_out_half_ends_the_job(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package would go on after an error in a proposer; the job does not."""
    done = go(project, parts, monkeypatch, gate=parts.gate(leak=True), options=GEPA)
    assert (done.status, done.proposal) == ("aborted", "")
    assert searched(project) == []


def test_a_cap_ends_a_search_as_it_ends_a_round(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job's own caps hold inside the search."""
    done = go(project, parts, monkeypatch, options=replace(GEPA, max_usd=0.70))
    assert (done.status, done.proposal) == ("budget", "")
    assert "USD" in done.reason


def test_a_provider_that_is_down_interrupts_the_job(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its error leaves the package as it was raised, and the job can be resumed."""

    class Down(parts.runs):  # type: ignore[misc, name-defined]
        async def play(self, plan: Any, *args: Any, **more: Any) -> Any:
            if plan.purpose == "screen":
                raise ProviderUnavailable("nobody answers", where="there", mend="Wait")
            return await super().play(plan, *args, **more)

    with pytest.raises(ProviderUnavailable, match="nobody answers"):
        go(project, parts, monkeypatch, runs=Down(project.needs), options=GEPA)
    with project.ledger() as ledger:
        assert jobs(ledger)[0].status == "interrupted"


def test_a_cancelled_job_leaves_no_search_running(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread ends before the job does, and plays nothing after it."""

    class Slow(parts.runs):  # type: ignore[misc, name-defined]
        async def play(self, plan: Any, *args: Any, **more: Any) -> Any:
            if plan.purpose == "screen":
                started.set()
                await asyncio.sleep(60)
            return await super().play(plan, *args, **more)

    runs = Slow(project.needs)
    monkeypatch.setattr("heldout.tune.player.play", runs.play)

    async def run() -> None:
        nonlocal started
        started = asyncio.Event()
        with project.ledger() as ledger:
            job = asyncio.ensure_future(
                tune(
                    project.settings, ledger, model=MODEL, proposer=parts.proposer(),
                    cases=project.cases, gate=parts.gate(), interface=parts.interface(),
                    options=GEPA, watch=Watch(),
                )
            )  # fmt: skip
            await started.wait()
            job.cancel()
            with pytest.raises(asyncio.CancelledError):
                await job
            left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            assert [task for task in left if not task.done()] == []

    started = asyncio.Event()
    asyncio.run(run())
    assert {plan.purpose for plan in runs.plans} == {"train"}
