"""Dropping lines: what each does, and for how many kinds of incident."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from heldout.behaviour import Bench, Line, ProbeOptions, Unit, whole
from heldout.behaviour.ablation import UnitEffect, ablate, sampled
from heldout.behaviour.lines import units, without
from heldout.brain import APPEND, Brain
from heldout.edit import Edit, Op, apply_edits
from heldout.incident import Incident
from heldout.judge import Verdict
from heldout.run.plan import Arm, Outcome, Plan, RunResult
from heldout.settings import Settings
from heldout.split import Case

BASE = Brain({"method.md": "# Method\n- Look.\n"}, ("method.md",))
ONE, TWO = "- Search the weeks before.", "- Read the diff."


def case(name: str, group: str) -> Case:
    incident = Incident(name, "small", "alert", Path(name), "d")
    return Case(incident, "train", "trap", "d", "f", (), group, "simulated", Path("t"), "t")


class Plays:
    """Plays without a model: ``passes`` decides by incident and the brain's text."""

    def __init__(self, passes: Callable[[str, str], bool]) -> None:
        self.passes = passes
        self.looks: list[tuple[list[str], list[str], int]] = []

    async def play(
        self, purpose: Any, cases: Sequence[Case], arms: Sequence[Arm], *, repeats: int, seed: int,
        setup: Any = None,
    ) -> RunResult:  # fmt: skip
        names = [one.incident.id for one in cases]
        self.looks.append((names, [arm.name for arm in arms], repeats))
        outcomes = [
            Outcome(
                name, arm.name, repeat, 0,
                Verdict("pass" if self.passes(name, arm.brain.prompt()) else "fail", "", "t"),
            )
            for name in names
            for arm in arms
            for repeat in range(repeats)
        ]  # fmt: skip
        plan = Plan(purpose, "small", "sim/x", tuple(cases), tuple(arms), repeats, seed)
        return RunResult("run", plan, outcomes)


def bench_of(plays: Plays, cases: Sequence[Case], tried: int = 6) -> Bench:
    return Bench(
        plays, Settings(Path(".")), "sim/x", None, tuple(cases),  # type: ignore[arg-type]
        ProbeOptions(ablation=tried), lambda *_: 1,
    )  # fmt: skip


def drop(
    plays: Plays, cases: Sequence[Case], *edits: tuple[str, ...], tried: int = 6
) -> list[UnitEffect]:
    """What dropping edits of some lines does on cases that are all fixed, taken in order."""
    after = BASE
    for lines in edits:
        text = "\n".join([after.files["method.md"].rstrip(), *lines])
        after = after.with_file("method.md", text)
    every = whole(BASE, after).lines
    units = []
    for number, lines in enumerate(edits):
        mine = tuple(line for line in every if line.text in lines)
        units.append(Unit(f"edit-{number}", mine, without(after, mine)))
    done = asyncio.run(ablate(bench_of(plays, cases, tried), after, units, cases))
    return [done[unit.name] for unit in units]


FIVE = [case(f"i{n}", f"g{n}") for n in range(5)]


def test_a_line_that_several_kinds_need() -> None:
    """Losses in two groups make a line general; one look is enough."""
    plays = Plays(lambda name, text: name == "i4" or ONE in text)
    (found,) = drop(plays, FIVE, (ONE,))
    (effect,) = found.lines
    assert (effect.verdict, effect.lost, effect.leaning, effect.tried) == ("several", 4, 4, 5)
    assert effect.p == pytest.approx(1 / 16)
    assert (found.needed_by, found.tried) == (("i0", "i1", "i2", "i3"), 5)
    assert len(plays.looks) == 1


def test_a_line_that_one_kind_needs_is_case_specific() -> None:
    """Two incidents of one group count as one kind; fresh repeats there confirm it."""
    cases = [*FIVE, case("twin", "g0")]
    plays = Plays(lambda name, text: name not in ("i0", "twin") or ONE in text)
    (found,) = drop(plays, cases, (ONE, TWO))
    one, two = found.lines
    assert (one.verdict, one.leaning, one.tried) == ("case_specific", 1, 5)
    assert (two.verdict, two.lost) == ("none", 0)
    assert found.needed_by == ("i0", "twin")
    assert plays.looks[1] == (["i0", "twin"], ["with", "edit-0-line-1", "edit-0-line-2"], 1)
    assert plays.looks[2] == (["i0", "twin"], ["with", "edit-0-line-1"], 2)


def test_lines_of_an_edit_that_nobody_needs_cost_nothing() -> None:
    """Its lines are dropped with it; only the edit that is needed is looked into."""
    plays = Plays(lambda name, text: ONE in text)
    idle, needed = drop(plays, FIVE, (TWO, "- Be brief."), (ONE,))
    assert [one.verdict for one in idle.lines] == ["none", "none"]
    assert [one.verdict for one in needed.lines] == ["several"]
    assert [look[1] for look in plays.looks] == [["with", "edit-0", "edit-1"]]


def test_lines_that_cover_one_another_are_needed_together() -> None:
    """Dropping either changes nothing while the other stands; the edit is needed all the same."""
    plays = Plays(lambda name, text: ONE in text or TWO in text)
    (found,) = drop(plays, FIVE, (ONE, TWO))
    assert [one.verdict for one in found.lines] == ["none", "none"]
    assert (len(found.needed_by), found.tried) == (5, 5)


def test_a_second_kind_is_looked_for_among_the_rest() -> None:
    """What one kind alone needed at first is tried on fixed incidents of other kinds."""
    plays = Plays(lambda name, text: name not in ("i0", "i4") or ONE in text)
    (found,) = drop(plays, FIVE, (ONE,), tried=3)
    assert found.lines[0].verdict == "several"
    assert set(plays.looks[2][0]) == {"i3", "i4"}


def test_two_kinds_are_too_few_to_call_it_specific() -> None:
    """Where there is little to compare with, that is what is said."""
    plays = Plays(lambda name, text: name != "i0" or ONE in text)
    (found,) = drop(plays, FIVE[:2], (ONE,))
    (effect,) = found.lines
    assert (effect.verdict, "fewer than 3" in effect.why) == ("undecided", True)


def test_nothing_fixed_says_so() -> None:
    """Without a fixed incident a line's effect cannot be seen."""
    (found,) = drop(Plays(lambda *_: True), [], (ONE,))
    assert [one.verdict for one in found.lines] == ["undecided"]
    assert found.needed_by == ()


def test_noise_is_rarely_marked() -> None:
    """A useless line beside a model that fails one time in ten is marked in few proposals."""
    rng = random.Random(4)
    marked = 0
    for _ in range(200):
        plays = Plays(lambda *_: rng.random() < 0.9)
        (found,) = drop(plays, [case(f"i{n}", f"g{n}") for n in range(6)], (TWO,))
        marked += found.lines[0].verdict == "case_specific"
    assert marked / 200 <= 0.06


def test_kinds_take_turns_and_so_do_edits() -> None:
    """No two of a kind before another kind, each edit's own incidents first."""
    cases = (*FIVE, case("twin", "g0"))
    bench = bench_of(Plays(lambda *_: True), cases)
    names = [one.incident.id for one in cases]
    units = [Unit("a", (), BASE, ("i3", "twin")), Unit("b", (), BASE, ("i2",))]
    order = [one.incident.id for one in sampled(bench, names, units)]
    assert set(order[:3]) == {"i3", "twin", "i2"}
    assert order[-1] == "i0"
    assert sorted(order) == sorted(names)


def test_only_lines_that_say_something_are_dropped() -> None:
    """Headings and the overlay's mark are no lines to drop; numbers lead to the right one."""
    name = "overlays/models/sim-x/method.md"
    after = BASE.with_file(name, f"{APPEND}\n\n## More\n{ONE}\n\n---\n{TWO}\n")
    found = whole(BASE, after).lines
    assert [(one.file, one.text) for one in found] == [(name, ONE), (name, TWO)]
    assert ONE not in without(after, [found[0]]).extra[name]
    assert TWO in without(after, [found[0]]).extra[name]


def test_a_doubled_line_is_dropped_once() -> None:
    """Of two equal lines only the added one goes."""
    after = BASE.with_file("method.md", "# Method\n- Look.\n- Look.\n")
    (line,) = whole(BASE, after).lines
    assert without(after, [line]).hash == BASE.hash


def edit(action: Any, text: str, anchor: str = "") -> Edit:
    return Edit((Op("method.md", action, anchor, text),), "why")


def test_a_unit_is_an_edit_with_its_lines() -> None:
    """Each edit can be left out by itself, also where others change the file too."""
    edits = [edit("append", ONE), edit("append", f"## More\n{TWO}")]
    after = apply_edits(BASE, edits)
    first, second = units(BASE, after, [(one, ("i1",)) for one in edits])
    assert first.without.hash == apply_edits(BASE, edits[1:]).hash
    assert second.without.hash == apply_edits(BASE, edits[:1]).hash
    assert [line.text for line in second.lines] == [TWO]
    assert first.targets == ("i1",)


def test_an_edit_that_others_build_on_loses_its_lines() -> None:
    """It cannot be left out of the sequence, so its lines are taken from the result."""
    edits = [edit("append", ONE), edit("insert_after", TWO, anchor=ONE)]
    after = apply_edits(BASE, edits)
    first, _ = units(BASE, after, [(one, ()) for one in edits])
    assert first.lines == (Line("method.md", 3, ONE),)
    assert ONE not in first.without.files["method.md"]
    assert TWO in first.without.files["method.md"]
