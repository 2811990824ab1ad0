"""A job's probes: what tells answers or hangs on names never reaches a reviewer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.tune.test_job import GOOD, NEAR, OPTIONS, OVERLAY, go, line

from heldout.behaviour import Counts, ProbeOptions, Survival, invariance
from heldout.behaviour.rendering import Renamed
from heldout.canaries import Watch, canary_hash
from heldout.review import page
from heldout.store.queries import edit_events, jobs, proposals
from heldout.tune import TuneOptions

TABLE = "- When the shop window pages, the store behind it was made smaller."
ALL = replace(OPTIONS, probes=ProbeOptions(rename=2))


def lost(monkeypatch: pytest.MonkeyPatch, *texts: str) -> None:
    """Render every fixed incident again; edits with these words lose their effect there."""

    def again(settings: Any, cases: Any) -> Renamed:
        renamed = {
            case.incident.id: replace(
                case, incident=replace(case.incident, id=f"{case.incident.id}-again")
            )
            for case in cases
        }
        return Renamed(renamed, {})

    def survives(original: Counts, renamed: Counts, incidents: int) -> Survival:
        return invariance(Counts(6, 6), renamed, incidents)

    monkeypatch.setattr("heldout.behaviour.probing.renamed_cases", again)
    monkeypatch.setattr("heldout.behaviour.probing.invariance", survives)


def test_every_edit_is_probed_and_the_page_says_it(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The proposal keeps what the probes found; a reviewer sees it beside each line."""
    done = go(project, parts, monkeypatch, proposer=parts.proposer(
        lambda i: [line(GOOD if i == 0 else NEAR)]
    ))  # fmt: skip
    with project.ledger() as ledger:
        (row,) = proposals(ledger)
        shown = page(ledger, done.proposal).text()
        probes = [event for event in edit_events(ledger) if event.event == "probed"]
    assert row.evidence["behaviour"]["passed"] is True
    first = row.edits[0]
    assert first["closed_book"]["verdict"] == "clean"
    assert first["behaviour"]["lines"][0]["line"]["text"] == GOOD
    assert len(probes) == 3
    beside = shown.split(f"  + {GOOD}\n")[1].splitlines()[0]
    assert beside.strip().startswith("dropped: ")
    assert "alert only: names no more causes than before" in shown
    assert "not probed: renaming: switched off" in shown


def test_an_edit_that_tells_answers_is_refused(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It helps on train, and is not kept; the proposer hears why, and of no incident."""
    runs = parts.runs(project.needs, tells="shop window")
    proposer = parts.proposer(lambda i: [line(f"{GOOD}\n{TABLE}" if i == 0 else GOOD)])
    done = go(project, parts, monkeypatch, runs=runs, proposer=proposer)
    assert done.rejected["behaviour"] == 1
    assert done.proposal
    assert "shop window" not in done.after.extra[OVERLAY]
    said = [body["messages"][-1]["content"] for body in proposer.bodies]
    later = next(text for text in said if "tells what is wrong, not how" in text)
    assert "trap-" not in later
    with project.ledger() as ledger:
        fell = [row for row in edit_events(ledger) if row.event == "rejected"]
    assert fell[0].detail["by"] == "behaviour"


def test_the_probe_can_be_switched_off(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then nothing is asked, and the page says that loudly."""
    runs = parts.runs(project.needs, tells="shop window")
    off = replace(OPTIONS, probes=ProbeOptions(closed_book=False, rename=0, ablation=0))
    proposer = parts.proposer(lambda i: [line(f"{GOOD}\n{TABLE}" if i == 0 else NEAR)])
    done = go(project, parts, monkeypatch, runs=runs, proposer=proposer, options=off)
    assert "shop window" in done.after.extra[OVERLAY]
    assert "probe" not in {plan.purpose for plan in runs.plans}
    with project.ledger() as ledger:
        shown = page(ledger, done.proposal).text()
    assert shown.count("not probed:") == 3


class Tied:
    """Runs in which some words help on the train incidents themselves and nowhere else."""

    def __init__(self, inner: Any, *words: str) -> None:
        self.inner, self.words = inner, words
        self.plans = inner.plans

    async def play(self, plan: Any, *args: Any, **more: Any) -> Any:
        inner = self.inner
        for case in plan.cases:
            name = case.incident.id
            inner.needs.setdefault(name, inner.needs.get(name.removesuffix("-again"), ""))
        cut = [
            replace(arm, brain=_cut(arm.brain, self.words)) if _again(plan) else arm
            for arm in plan.arms
        ]
        result = await inner.play(replace(plan, arms=tuple(cut)), *args, **more)
        return replace(result, plan=plan)


def _again(plan: Any) -> bool:
    return all(case.incident.id.endswith("-again") for case in plan.cases)


def _cut(brain: Any, words: tuple[str, ...]) -> Any:
    """The brain as it is read where some of its lines mean nothing."""
    text = brain.extra.get(OVERLAY, "")
    kept = [one for one in text.splitlines() if not any(word in one for word in words)]
    return brain.with_file(OVERLAY, "\n".join(kept)) if text else brain


def test_an_edit_that_hangs_on_names_is_taken_out(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest is measured anew without it and proposed; what fell is remembered with why."""
    lost(monkeypatch)
    runs = Tied(parts.runs(project.needs), "14 days")
    proposer = parts.proposer(lambda i: [line(GOOD if i == 0 else NEAR)])
    wide = replace(OPTIONS, probes=ProbeOptions(rename=8))
    events: list[Any] = []
    done = go(project, parts, monkeypatch, runs=runs, proposer=proposer, options=wide,
              events=events)  # fmt: skip
    assert done.proposal
    assert [one.edit.added_lines() for one in done.accepted] == [(NEAR,)]
    assert GOOD not in done.after.extra[OVERLAY]
    assert done.rejected["behaviour"] == 1
    with project.ledger() as ledger:
        (row,) = proposals(ledger)
        fell = [one for one in edit_events(ledger) if one.event == "rejected"]
        confirmed = [one for one in edit_events(ledger) if one.event == "confirmed"]
    assert "does not survive" in fell[-1].detail["reason"]
    assert (len(confirmed), row.after_hash) == (2, done.after.hash)
    assert any("EFFECT LOST" in event.message for event in events if event.kind == "probed")


def test_nothing_is_proposed_where_nothing_survives(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job whose every gain hangs on names ends in order, without a proposal."""
    lost(monkeypatch)
    runs = Tied(parts.runs(project.needs), "14 days", "onset")
    proposer = parts.proposer(lambda i: [line(GOOD if i == 0 else NEAR)])
    wide = replace(OPTIONS, probes=ProbeOptions(rename=8))
    done = go(project, parts, monkeypatch, runs=runs, proposer=proposer, options=wide)
    assert (done.status, done.proposal) == ("nothing_new", "")
    assert "does not survive other names" in done.reason
    assert done.after.hash == done.before.hash
    with project.ledger() as ledger:
        assert proposals(ledger) == []


def test_a_canary_in_a_prompt_stops_the_job(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A held-out canary on its way to the proposer ends the job before it is sent."""
    canary = "fedcba9876543210" * 2
    watch = Watch({canary_hash(canary): "test"})
    monkeypatch.setattr("heldout.tune.reading.digest", lambda *_: f"digest {canary}")
    proposer = parts.proposer()
    done = go(project, parts, monkeypatch, proposer=proposer, watch=watch)
    assert (done.status, done.proposal) == ("aborted", "")
    assert "held-out half" in done.reason
    assert canary not in done.reason
    assert proposer.bodies == []
    with project.ledger() as ledger:
        assert jobs(ledger)[0].status == "aborted"


def test_the_same_job_without_the_canary_goes_on(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The watch alone stops nothing."""
    watch = Watch({canary_hash("fedcba9876543210" * 2): "test"})
    assert go(project, parts, monkeypatch, watch=watch).status == "saturated"


def test_options_of_an_older_job_are_read() -> None:
    """A job that was stored before there were probes gets them by default."""
    plain = TuneOptions(job="x").plain()
    assert TuneOptions.from_plain(plain) == TuneOptions(job="x")
    del plain["probes"]
    assert TuneOptions.from_plain(plain).probes == ProbeOptions()
