"""Planted faults are flagged, and the same proposal without them is not."""

from __future__ import annotations

import asyncio
import importlib
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.review.conftest import (
    BEFORE,
    EDITS,
    edit,
    effect,
    evidence,
    probes,
    propose,
    stored,
    unit,
)
from tests.tune import conftest as tuning

from heldout.behaviour import ProbeOptions
from heldout.brain import Brain, load_brain
from heldout.canaries import Watch
from heldout.edit import apply_edits, diff, diff_hash
from heldout.gate.consistency import conflicts
from heldout.review import page
from heldout.review.flags import CONTRADICTION, LEAK, OVER, PADDING, Looked
from heldout.review.wording import allows_no_exception
from heldout.store import Ledger, remember_brain
from heldout.tune import TuneOptions, remeasure

project, parts = tuning.project, tuning.parts
"""Fixtures of the tuning tests."""
PHRASES = Path(__file__).resolve().parents[1] / "llm" / "simulated" / "phrases"
FIRST = EDITS[0]
METHOD = "- Search the 14 days before the alert."
TABLE = "- When the shop window pages, the store behind it was made smaller."
"""A leak in other words: no name of any incident stands in it."""
HOLLOW = ("- Stay calm and keep the overall goal in mind.", "- Good engineers learn from failure.")
TOO_FAR = "- The culprit is always several days old, a fresh change is never the cause."


def looked(ledger: Ledger, name: str) -> dict[str, Looked]:
    """What was looked for, by kind."""
    return {one.kind: one for one in page(ledger, name).looked}


def states(ledger: Ledger, name: str) -> dict[str, str]:
    """What came of it, by kind."""
    return {kind: one.state for kind, one in looked(ledger, name).items()}


def test_a_sound_proposal_is_clear_of_everything(ledger: Ledger) -> None:
    """Nothing is flagged where every probe ran and found nothing: the negative control of all."""
    name = propose(ledger)
    assert set(states(ledger, name).values()) == {"clear"}
    assert "nothing found" in page(ledger, name).text()


def test_broken_controls_are_an_over_correction(ledger: Ledger) -> None:
    """Measured harm on controls is flagged; more broken than fixed repeats must be looked at."""
    controls = {**evidence()["controls"], "broken": 2, "broken_incidents": 1}
    over = looked(ledger, propose(ledger, controls=controls))[OVER]
    assert (over.state, over.flags[0].said) == ("flag", "it broke 1 of 8 train controls")
    shaky = propose(ledger, name="p-2", controls={**controls, "broken_incidents": 0})
    assert states(ledger, shaky)[OVER] == "look"


def test_an_edit_that_broke_what_passed_is_looked_at(ledger: Ledger) -> None:
    """What screening saw of one edit is not lost in the whole."""
    guard = {"pairs": 12, "fixed": 0, "broken": 1}
    beside = [stored(one, regression=guard if one is FIRST else {}) for one in EDITS]
    over = looked(ledger, propose(ledger, beside=beside))[OVER]
    assert over.flags[0].said == f"edit {FIRST.id} broke 1 of 12 that passed before"


def test_a_line_without_exception_is_looked_at(ledger: Ledger) -> None:
    """Blaming by age alone is seen in the wording, also where no control was there to break."""
    over = looked(ledger, propose(ledger, (*EDITS, edit(TOO_FAR))))[OVER]
    assert over.state == "look"
    assert over.flags[0].line == TOO_FAR


def test_without_controls_nothing_is_called_clear(ledger: Ledger) -> None:
    """Silence of a measurement that was not made is no acquittal."""
    over = looked(ledger, propose(ledger, controls={}))[OVER]
    assert (over.state, over.missing) == (
        "not measured",
        ("no train control(s) played: too few to see harm",),
    )
    assert f"{OVER}: not measured, no train control" in page(ledger, "p-0123456789ab").text()
    few = {"pairs": 8, "fixed": 0, "broken": 0, "incidents": 4, "broken_incidents": 0}
    assert states(ledger, propose(ledger, name="p-2", controls=few))[OVER] == "not measured"
    enough = {**few, "incidents": 5}
    assert states(ledger, propose(ledger, name="p-3", controls=enough))[OVER] == "clear"


def test_wording_is_told_apart() -> None:
    """Every committed over-correction is seen; of 700 other lines of advice hardly any is."""
    files = {path.stem: tomllib.loads(path.read_text()) for path in PHRASES.glob("*.toml")}
    too_far = files.pop("overcorrection")
    others = [line for one in files.values() for line in one["change"] + one["same"]]
    others += too_far["same"]
    assert all(map(allows_no_exception, too_far["change"]))
    assert len(others) > 700
    assert sum(map(allows_no_exception, others)) <= 0.01 * len(others)


@pytest.mark.parametrize(
    ("behaviour", "state"),
    [
        (probes(unit(FIRST), rose=9), "flag"),
        (probes(unit(FIRST), rose=1), "look"),
        (probes(unit(FIRST), renamed=0), "flag"),
        (probes(unit(FIRST, renamed=0), unit(EDITS[1])), "flag"),
        (probes(unit(FIRST, effect(TABLE, "case_specific", 3, 1))), "look"),
        (probes(unit(FIRST), notes=("renaming: switched off",)), "not measured"),
        (None, "not measured"),
        (probes(unit(FIRST)), "clear"),
    ],
)
def test_signs_of_a_leak_in_other_words(ledger: Ledger, behaviour: Any, state: str) -> None:
    """Naming causes from the alert, an effect that hangs on names, a line for one case only."""
    assert states(ledger, propose(ledger, behaviour=behaviour))[LEAK] == state


def test_a_reviewing_models_objection_is_a_sign_too(ledger: Ledger) -> None:
    """It stands with its reason; that it could not be asked is no objection."""
    told = {"matched": TABLE, "hint": "It maps a symptom to its cause", "severity": "warn"}

    def with_finding(kind: str, name: str) -> str:
        review = {"model": "m", "findings": [{**told, "identifier_type": kind}]}
        beside = [stored(one, review=review if one is FIRST else {}) for one in EDITS]
        return propose(ledger, beside=beside, name=name)

    leak = looked(ledger, with_finding("maps_to_cause", "p-1"))[LEAK]
    assert leak.state == "look"
    assert "It maps a symptom to its cause" in leak.flags[0].said
    assert states(ledger, with_finding("no answer", "p-2"))[LEAK] == "clear"


@pytest.mark.parametrize(
    ("needed_lines", "idle", "needed", "state", "count"),
    [
        (1, 2, 5, "flag", 2),  # two idle lines beside a needed one
        (1, 1, 5, "look", 1),
        (0, 2, 0, "flag", 2),  # nothing fails again without all of it
        (0, 2, 5, "look", 0),  # its lines cover one another: said once, of the edit
        (2, 0, 5, "clear", 0),
    ],
)
def test_lines_that_nothing_needs_are_padding(
    ledger: Ledger, needed_lines: int, idle: int, needed: int, state: str, count: int
) -> None:
    """What is idle beside what is needed; lines that stand in for one another are only looked at."""
    texts = (*EDITS[2].added_lines()[:needed_lines], *HOLLOW[:idle])
    effects = [
        effect(text, "none", 0, 0) if text in HOLLOW else effect(text)
        for text in texts
    ]  # fmt: skip
    name = propose(ledger, behaviour=probes(unit(edit(*texts), *effects, needed=needed)))
    found = looked(ledger, name)[PADDING]
    assert (found.state, [f.line for f in found.flags if f.line]) == (state, list(HOLLOW[:count]))


def test_a_line_said_before_is_padding_and_its_opposite_a_contradiction(ledger: Ledger) -> None:
    """Each is named with the line that it repeats or contradicts."""
    old = "- Search the changes of the last 14 days on the failing component and its neighbours."
    base = BEFORE.with_file("method.md", BEFORE.files["method.md"] + old + "\n")
    opposite = f"- Never search{old[len('- Search') :]}"
    again = old.replace("14", "21")
    for text, kind in ((opposite, CONTRADICTION), (again, CONTRADICTION)):
        name = propose(ledger, (edit(text),), name=f"p-{text[:12]}", before=base)
        found = looked(ledger, name)[kind]
        assert found.state == "look"
        assert "method.md:8" in found.flags[0].said
    same = f"- On the failing component and its neighbours{old[8:].split(' on the')[0]}, search."
    (pair,) = conflicts(base, apply_edits(base, [edit(same.replace("the changes", "changes"))]))
    assert "same" in pair.what
    assert conflicts(base, apply_edits(base, EDITS)) == []


def measured(
    project: Any, parts: Any, monkeypatch: pytest.MonkeyPatch, *lines: str, **faults: str
) -> dict[str, str]:
    """The states of a change that a person planted: really measured, proposed and laid out."""
    fifth = replace(project.cases[-1], incident=replace(project.cases[-1].incident, id="fine-4"))
    project.needs["fine-4"] = ""
    runs = parts.runs(project.needs, **faults)
    monkeypatch.setattr("heldout.tune.player.play", runs.play)
    room = importlib.import_module("heldout.tune.remeasure")
    monkeypatch.setattr(room, "read_watch", lambda _: Watch())
    before = load_brain(project.settings.brain)
    planted = replace_method(before, lines)
    options = TuneOptions(job="tune-1", probes=ProbeOptions(rename=0))
    with project.ledger() as ledger:
        found = asyncio.run(
            remeasure(
                project.settings, ledger, model="sim/anchored@low", before=before, after=planted,
                cases=(*project.cases, fifth), gate=parts.gate(), interface=parts.interface(),
                options=options,
            )
        )  # fmt: skip
        for one in (before, planted):
            remember_brain(ledger, one)
        ledger.append(
            "proposals",
            [
                {
                    "proposal": "p-1", "job": "tune-1", "model": "sim/anchored@low", "set": "s",
                    "before_hash": before.hash, "after_hash": planted.hash,
                    "diff": diff(before, planted), "diff_hash": diff_hash(before, planted),
                    "edits_json": [], "evidence_json": found,
                }
            ],
        )  # fmt: skip
        return states(ledger, "p-1")


def replace_method(brain: Brain, lines: tuple[str, ...]) -> Brain:
    """The brain with lines at the end of its method."""
    return brain.with_file("method.md", brain.files["method.md"] + "\n".join(lines))


@pytest.mark.parametrize(
    ("lines", "faults", "kind", "state"),
    [
        ((METHOD, *HOLLOW), {}, PADDING, "flag"),
        ((METHOD,), {}, PADDING, "clear"),
        ((METHOD, TOO_FAR), {"breaks": "never the cause"}, OVER, "flag"),
        ((METHOD,), {"breaks": "never the cause"}, OVER, "clear"),
        ((METHOD, TABLE), {"tells": "shop window"}, LEAK, "flag"),
        ((METHOD,), {"tells": "shop window"}, LEAK, "not measured"),
    ],
)
def test_what_is_planted_is_measured_and_flagged(
    project: Any,
    parts: Any,
    monkeypatch: pytest.MonkeyPatch,
    lines: tuple[str, ...],
    faults: dict[str, str],
    kind: str,
    state: str,
) -> None:
    """From a planted line through the confirmation and the probes to the flag, and without it."""
    assert measured(project, parts, monkeypatch, *lines, **faults)[kind] == state
