"""The committed phrases: paraphrases change what the model does, negations and small talk don't."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from heldout.llm.simulated.guidance import read_guidance

PHRASES = Path(__file__).parent / "phrases"
REFERENCE = (Path(__file__).parent / "reference_brain.md").read_text(encoding="utf-8")
CONCEPTS = {"history": ("window", "origin"), "subset": ("fleet",), "unchanged": ("none",)}
"""Which behaviours a file of phrases is about, where it is not the one of its name."""


@dataclass(frozen=True)
class Trial:
    """In which world and beside which other lines a phrase is tried, and what must be seen."""

    world: str
    seen: Callable[[Any, Any], bool]
    beside: str = ""
    reference: str = REFERENCE


TRIALS = {
    "history": Trial("latent", lambda played, bench: played.reached_back()),
    "proximity": Trial(
        "causeless",
        lambda played, bench: played.submission["root_cause_change"] != bench.decoy,
        beside="If no change explains the failure, answer none for the change.",
    ),
    "fleet": Trial("latent", lambda played, bench: played.used("compare_state")),
    "narrow": Trial(
        "latent",
        lambda p, bench: p.used("list_changes", "field") or p.used("list_changes", "cursor"),
        beside="Search changes of the last 14 days.",
    ),
    "downstream": Trial("latent", lambda p, bench: len(p.submission["affected"]) == 3),
    "diff": Trial("onset", lambda played, bench: played.used("get_change")),
    "none": Trial(
        "causeless",
        lambda played, bench: played.submission["root_cause_change"] == "none",
        beside="A change near the onset is not proof; check that its diff touches the mechanism.",
    ),
    "overcorrection": Trial(
        "onset",
        lambda played, bench: played.submission["root_cause_change"] == bench.old,
        reference="Always blame the oldest change on the component.",
    ),
    "subset": Trial("latent", lambda played, bench: played.used("compare_state")),
    "unchanged": Trial(
        "causeless",
        lambda played, bench: played.submission["root_cause_change"] == "none",
        beside="A change near the onset is not proof; check that its diff touches the mechanism.",
    ),
    "symptom": Trial("recovered", lambda p, bench: p.submission["root_cause_entity"] == "none"),
    "bigdiff": Trial(
        "squashed",
        lambda played, bench: played.submission["root_cause_change"] == bench.culprit,
        beside="Search changes of the last 14 days. Filter long lists by entity and field.",
        reference="Read the whole diff of a big change.",
    ),
    "reaction": Trial(
        "helped", lambda p, bench: p.submission["root_cause_change"] != bench.help
    ),
    "gap": Trial("patchy", lambda played, bench: len(played.submission["affected"]) == 3),
    "hint": Trial("noted", lambda played, bench: len(played.submission["affected"]) == 3),
    "identity": Trial(
        "twinned",
        lambda played, bench: played.submission["root_cause_change"] != bench.namesake,
        beside="Check that the value which a change set is still in force.",
    ),
    "undone": Trial(
        "taken_back",
        lambda p, bench: p.submission["root_cause_change"] not in (bench.namesake, bench.trial),
        beside="Names repeat across clusters: check the id and the cluster.",
    ),
    "alerts": Trial("noisy", lambda p, bench: p.submission["affected"][0] == "e-00000001"),
    "unproven": Trial(
        "unlit",
        lambda played, bench: "cannot be proven" in played.submission["mechanism"],
        beside="A change near the onset is not proof; check that its diff touches the mechanism. "
        "If no change explains the failure, answer none.",
    ),
    "abstain": Trial(
        "onset",
        lambda played, bench: played.submission["root_cause_change"] == "none",
        reference="Always submit none for the change.",
    ),
}  # fmt: skip


def load(name: str) -> dict[str, Any]:
    """One committed file of phrases."""
    return tomllib.loads((PHRASES / f"{name}.toml").read_text(encoding="utf-8"))


def reads(name: str, text: str) -> bool:
    """True when the reader takes a text as asking for the behaviour."""
    return any(read_guidance(text).asks(one) for one in CONCEPTS.get(name, (name,)))


def panel(name: str, bench: Any) -> list[int]:
    """Three incidents whose outcome hangs on the brain: not done without it, done with it."""
    trial = TRIALS[name]
    world = getattr(bench, trial.world)()
    found: list[int] = []
    for number in range(1, 600):
        without = bench.play(world, trial.beside, number=number)
        if not trial.seen(without, bench):
            brain = f"{trial.beside}\n\n{trial.reference}"
            if trial.seen(bench.play(world, brain, number=number), bench):
                found.append(number)
        if len(found) == 3:
            break
    return found


@pytest.mark.parametrize("name", sorted(TRIALS))
def test_paraphrases_are_taken_in_and_others_are_not(name: str):
    """At least 80 % of the paraphrases read as a request, at most 10 % of the other lines do."""
    phrases = load(name)
    taken = sum(reads(name, text) for text in phrases["change"]) / len(phrases["change"])
    wrong = sum(reads(name, text) for text in phrases["same"]) / len(phrases["same"])
    print(f"{name}: reads {taken:.0%} of paraphrases, {wrong:.0%} of other lines")
    assert taken >= 0.8
    assert wrong <= 0.1


@pytest.mark.parametrize("name", sorted(TRIALS))
def test_paraphrases_change_what_the_model_does(name: str, bench: Any):
    """In whole investigations >= 80 % of paraphrases change behaviour and <= 10 % of others do."""
    phrases, trial = load(name), TRIALS[name]
    world, numbers = getattr(bench, trial.world)(), panel(name, bench)
    assert len(numbers) == 3

    def changes(text: str) -> bool:
        brain = f"{trial.beside}\n\n- {text}"
        done = [trial.seen(bench.play(world, brain, number=n), bench) for n in numbers]
        return sum(done) >= 2

    changed = sum(map(changes, phrases["change"])) / len(phrases["change"])
    unmoved = sum(map(changes, phrases["same"])) / len(phrases["same"])
    print(f"{name}: {changed:.0%} of paraphrases change behaviour, {unmoved:.0%} of others")
    assert changed >= 0.8
    assert unmoved <= 0.1


def test_phrases_of_the_key_concept_are_many():
    """The central lesson has at least forty paraphrases and forty lines that must not count."""
    phrases = load("history")
    assert len(phrases["change"]) >= 40
    assert len(phrases["same"]) >= 40
    assert sum(len(load(name)["change"]) for name in TRIALS) >= 120


@pytest.mark.parametrize("case", load("history")["days"], ids=lambda case: case["text"])
def test_a_number_of_days_is_the_reach_of_the_search(case: dict[str, Any], bench: Any):
    """A line that says three days widens the search to three days, not to two weeks."""
    assert read_guidance(case["text"]).days == case["days"]
    reaches: set[float] = set()
    for number in range(1, 12):
        played = bench.play(bench.latent(), f"- {case['text']}", number=number)
        reaches |= {round(one, 3) for one in played.reaches()}
    assert max(reaches) == case["days"]


@pytest.mark.parametrize("name", [
    "proximity", "fleet", "narrow", "diff", "none", "history", "symptom",
    "gap", "hint", "identity", "undone", "alerts",
])  # fmt: skip
def test_taking_a_line_away_takes_its_effect_away(name: str, bench: Any):
    """With the reference lines but those of one behaviour, the model is back to its habit there."""
    entries = [f"- {one}" for one in REFERENCE.split("\n- ")[1:]]
    kept = "\n".join(one for one in entries if not reads(name, one))
    assert kept.count("\n- ") < len(entries) - 1
    assert not reads(name, kept)
    assert read_guidance(kept).asked
    trial, numbers = TRIALS[name], panel(name, bench)
    world = getattr(bench, trial.world)()
    done = [trial.seen(bench.play(world, f"{trial.beside}\n\n{kept}", number=n), bench)
            for n in numbers]  # fmt: skip
    assert sum(done) <= 1
