"""All probes together: what they cost, what they say, and what a cap leaves out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.behaviour.conftest import Lab, plus
from tests.behaviour.reader import METHOD

from heldout.behaviour import BehaviourReport, ProbeOptions, Unit, probe, whole
from heldout.behaviour.lines import Line
from heldout.behaviour.probing import within_budget
from heldout.behaviour.renaming import Counts, Survival, invariance
from heldout.behaviour.report import UnitReport, failures, report_lines, summary_lines
from heldout.brain import Brain
from heldout.errors import CapReached

EMPTY = Brain({}, ())


def unit(name: str, lines: int) -> Unit:
    return Unit(name, tuple(Line("a.md", at, f"- {at}") for at in range(lines)), EMPTY)


@pytest.mark.parametrize(
    ("lines", "fixed", "allowed", "rename", "ablation", "notes"),
    [
        ((2, 2), 20, 100, 6, 6, 0),
        ((3, 3, 3, 1), 20, 100, 6, 6, 0),
        ((3, 3, 3, 1), 20, 60, 5, 4, 0),
        ((8, 8, 8, 8, 8), 20, 60, 3, 0, 1),
        ((60,), 20, 3, 0, 0, 2),
        ((3, 3, 3, 1), 1, 60, 6, 6, 0),
    ],
)
def test_probes_fit_into_what_they_may_cost(
    lines: tuple[int, ...], fixed: int, allowed: int, rename: int, ablation: int, notes: int
) -> None:
    """Incidents give way first, then a whole probe, and the report says which."""
    units = [unit(str(number), count) for number, count in enumerate(lines)]
    said: list[str] = []
    options = within_budget(ProbeOptions(investigations=allowed), units, fixed, said)
    assert (options.rename, options.ablation, len(said)) == (rename, ablation, notes)


def test_what_is_switched_off_is_said(lab: Lab, brain: Brain) -> None:
    """A probe that did not run is a note, never a pass in silence."""
    after = plus(brain, METHOD)
    report = lab.run(
        lambda bench: probe(bench, brain, after, [whole(brain, after)], {}),
        closed_book=False, rename=0, ablation=0,
    )  # fmt: skip
    assert (report.closed_book, report.rename) == (None, None)
    assert len(report.notes) == 3
    assert all("switched off" in note for note in report.notes)
    assert sum("not probed" in line for line in report_lines(report.plain())) == 3


def test_a_cap_leaves_the_rest_undecided(lab: Lab, brain: Brain) -> None:
    """What ran before the cap stands, what did not is named, and nothing passes for probed."""
    after = plus(brain, METHOD)
    measured = {case.incident.id: [(False, True)] for case in lab.cases}

    async def work(bench: Any) -> BehaviourReport:
        class Capped:
            async def play(self, purpose: Any, cases: Any, arms: Any, **more: Any) -> Any:
                if more.get("setup") is None:
                    raise CapReached("the job's cap of 1 USD is reached")
                return await bench.plays.play(purpose, cases, arms, **more)

        capped = replace(bench, plays=Capped())
        return await probe(capped, brain, after, [whole(brain, after)], measured)

    report = lab.run(work)
    assert report.closed_book is not None
    assert report.rename is None
    assert report.notes == ("the rest: the job's cap of 1 USD is reached",)
    assert report.passed


def survival(renamed: int) -> Survival:
    return invariance(Counts(6, 6), Counts(renamed, 6), 6)


def test_an_edit_that_is_lost_fails_the_change() -> None:
    """One edit of several is enough, and it is named."""
    units = (UnitReport("aaa", (), survival(6)), UnitReport("bbb", (), survival(0)))
    report = BehaviourReport(None, survival(5), units)
    assert not report.passed
    assert failures(report.plain()) == [
        "edit bbb: its effect does not survive other names and values"
    ]
    alone = BehaviourReport(None, survival(5), units[:1])
    assert alone.passed
    assert failures(alone.plain()) == []


def test_a_canary_fails_the_report() -> None:
    """A leak is a failure whatever the probes say."""
    report = BehaviourReport(None, None, (), canaries=("brain, a.md: a canary of the test half",))
    assert not report.passed
    assert "canaries: brain, a.md" in report.text()
    assert "NOT PASSED" in report.text()


def test_the_text_follows_from_the_stored_data() -> None:
    """A reviewer sees the same lines from the ledger as whoever ran the probes."""
    report = BehaviourReport(
        None, survival(5), (UnitReport("", (), survival(5)),), notes=("x: off",)
    )
    assert summary_lines(report.plain()) == [
        survival(5).sentence(),
        "not probed: x: off",
    ]
    assert report.text() == "\n".join(report_lines(report.plain()))
