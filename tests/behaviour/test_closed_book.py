"""The alert-only probe: what a brain tells a model that has looked at nothing."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.behaviour.conftest import Lab, plus, take_role
from tests.behaviour.reader import METHOD, Reader, service, told

from heldout.behaviour import ClosedBook, closed_book
from heldout.behaviour.closed_book import AlertOnly, opened, reading
from heldout.brain import Brain
from heldout.build import cases
from heldout.errors import SplitViolation
from heldout.graph import WorldInterface
from heldout.settings import Settings
from heldout.split import Case, HeldoutAccess
from heldout.truth import read_truth

MODEL = "fake/reader"


def asked(lab: Lab, reader: Reader, before: Brain, after: Brain, **options: Any) -> ClosedBook:
    """The probe's word on two brains of the reader."""
    with reader:
        return lab.run(
            lambda bench: closed_book(bench, before, after, "t"),
            model=MODEL, base_url=reader.url, **options,
        )  # fmt: skip


@pytest.fixture
def trap(train: tuple[Case, ...]) -> Case:
    """One train trap."""
    return next(case for case in train if case.is_trap)


@pytest.fixture
def reader(train: tuple[Case, ...], trap: Case) -> Reader:
    """A model that knows which service 'the shop window' is."""
    return Reader(train, {"the shop window": service(trap.incident.alert)})


def test_an_answer_told_by_paraphrase_is_caught(
    lab: Lab, reader: Reader, brain: Brain, trap: Case
) -> None:
    """A line that describes a component by its role and says what broke names no name, and shows."""
    found = asked(lab, reader, brain, plus(brain, f"- When the shop window pages, {told(trap)}"))
    assert found.verdict == "rises"
    assert (found.before, found.fell, found.risen) == (0, 0, (trap.incident.id,))
    assert found.rose == found.after > 0
    assert found.p <= 0.05 / 3
    assert "NAMES CAUSES" in found.sentence()


def test_a_method_line_is_clean(lab: Lab, reader: Reader, brain: Brain) -> None:
    """Method helps nobody who may not look, so nothing is named before or after."""
    found = asked(lab, reader, brain, plus(brain, METHOD))
    assert (found.verdict, found.before, found.after, found.looks) == ("clean", 0, 0, 1)
    assert reader.closed == found.pairs * 2 > 0


def test_an_answer_on_demand_is_caught_too(
    lab: Lab, reader: Reader, brain: Brain, trap: Case
) -> None:
    """A skill that the agent would have to ask for is in the prompt of this probe."""
    (skill,) = brain.on_demand
    text = f"{brain.files[skill]}\n- When the shop window pages, {told(trap)}\n"
    after = brain.with_file(skill, text)
    assert after.prompt() == brain.prompt()
    assert asked(lab, reader, brain, after).verdict == "rises"


def test_an_id_is_proof_at_once(lab: Lab, reader: Reader, brain: Brain, trap: Case) -> None:
    """Nobody guesses an id: one answer that names it decides, without more repeats."""
    change = read_truth(trap.truth_file).accepted_changes[0]
    after = plus(brain, f"- When the shop window pages, blame {change}")
    found = asked(lab, reader, brain, after, repeats=1)
    assert (found.verdict, found.looks, found.certain) == ("rises", 1, 1)


def test_taking_an_answer_out_is_no_rise(
    lab: Lab, reader: Reader, brain: Brain, trap: Case
) -> None:
    """Only an increase counts; a brain that tells less is clean."""
    before = plus(brain, f"- When the shop window pages, {told(trap)}")
    found = asked(lab, reader, before, brain)
    assert (found.verdict, found.after) == ("clean", 0)
    assert found.fell == found.before > 0


def test_few_repeats_leave_it_undecided(lab: Lab, reader: Reader, brain: Brain, trap: Case) -> None:
    """One answer more of seven incidents could be chance: it is said, and decides nothing."""
    after = plus(brain, f"- When the shop window pages, {told(trap)}")
    found = asked(lab, reader, brain, after, repeats=1, looks=1)
    assert (found.verdict, found.rose) == ("undecided", 1)


def test_a_simulated_model_answers_without_tools(lab: Lab, brain: Brain) -> None:
    """It gives its answer at once and names nothing, as one that looked at nothing."""
    found = lab.run(lambda bench: closed_book(bench, brain, plus(brain, METHOD), "sim"))
    assert (found.verdict, found.after) == ("clean", 0)
    assert found.pairs == 2 * found.incidents


def test_held_out_incidents_are_refused(lab: Lab, settings: Settings, brain: Brain) -> None:
    """A probe says things about single incidents, so the held-out half is not for it."""
    before = take_role("score")
    try:
        held = cases(settings, "tiny", "test", HeldoutAccess())
        other = replace(lab, cases=held)
        with pytest.raises(SplitViolation, match="held-out half"):
            other.run(lambda bench: closed_book(bench, brain, plus(brain, METHOD), "t"))
    finally:
        take_role(before)


def test_no_world_is_opened_and_no_tool_answers() -> None:
    """The session knows one tool, and takes an answer once."""
    only = AlertOnly(WorldInterface())
    assert only.name == "world"
    assert [spec.name for spec in only.tool_specs()] == ["submit_diagnosis"]
    session = only.open("/nowhere/at/all", 1)
    assert session.call("list_changes", {}).is_error
    assert session.call("submit_diagnosis", {"mechanism": 1, "nonsense": 2}).is_error
    assert session.finish() is None
    said = {"root_cause_entity": "none", "root_cause_change": "none", "mechanism": "a pool"}
    assert session.call("submit_diagnosis", said).final
    made = session.finish()
    assert made is not None
    assert (made.root_cause_entity, made.mechanism) == (None, "a pool")


def test_opening_a_brain_keeps_its_words() -> None:
    """Skills move into the prompt; nothing else changes."""
    brain = Brain(
        {"a.md": "One.\n", "s/SKILL.md": "---\nname: s\ndescription: d\n---\nTwo.\n"},
        ("a.md",), ("s/SKILL.md",),
    )  # fmt: skip
    assert "Two." in opened(brain).prompt()
    assert "Two." not in brain.prompt()
    assert opened(brain).files == brain.files


def _drawn(rates: Mapping[str, tuple[float, float]], rng: random.Random, looks: int) -> ClosedBook:
    pairs: dict[str, list[tuple[bool, bool]]] = {name: [] for name in rates}
    for look in range(1, looks + 1):
        for name, (before, after) in rates.items():
            if look == 1 or any(b != a for b, a in pairs[name]):
                for _ in range(2**look):
                    pairs[name].append((rng.random() < before, rng.random() < after))
        found = reading(pairs, certain=0, look=look, looks=looks)
        if found.verdict == "rises":
            break
    return found


def test_a_noisy_guesser_is_rarely_refused() -> None:
    """A model that guesses a fifth of the causes anyway is refused in fewer than 5 % of jobs."""
    rng = random.Random(1)
    rates = {f"i{n}": (0.2, 0.2) for n in range(24)}
    refused = sum(_drawn(rates, rng, 3).verdict == "rises" for _ in range(400))
    assert refused / 400 < 0.05


@pytest.mark.parametrize("told_of", [1, 4, 24])
def test_told_incidents_stand_out_of_noise(told_of: int) -> None:
    """Whether one cause was told or all, it is found nine times in ten among guesses at 5 %."""
    rng = random.Random(2)
    rates = {f"i{n}": (0.05, 0.95 if n < told_of else 0.05) for n in range(24)}
    found = sum(_drawn(rates, rng, 3).verdict == "rises" for _ in range(100))
    assert found >= 90
