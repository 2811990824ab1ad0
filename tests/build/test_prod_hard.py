"""The shipped set: its size, its split, and that no shortcut solves it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from heldout import split as split_module
from heldout.build.validity import Subject, View
from heldout.build.validity.p05_oracle import check as oracle
from heldout.build.validity.p06_alert import tokens
from heldout.build.validity.p09_shortcuts import PEOPLE, nearest_to_onset
from heldout.graph import write_world
from heldout.simulate import GENERATOR, generate
from heldout.split import HeldoutAccess, read_specs, read_split
from heldout.truth import Spec, truth_digest

DIRECTORY = Path(__file__).resolve().parents[2] / "datasets" / "prod_hard"


@pytest.fixture(scope="module")
def specs() -> Iterator[Mapping[str, tuple[Spec, ...]]]:
    """Specs of both sides, read as a build process."""
    before = split_module._role
    split_module._role = "build"
    access = HeldoutAccess()
    yield {
        "train": read_specs(DIRECTORY, "train"),
        "test": read_specs(DIRECTORY, "test", access),
    }
    split_module._role = before


@pytest.fixture(scope="module")
def subjects(specs: Mapping[str, tuple[Spec, ...]]) -> list[Subject]:
    """Every incident, made again with few of the day's other log lines."""
    found = []
    for spec in (*specs["train"], *specs["test"]):
        lean = replace(spec, knobs={**spec.knobs, "log_lines": 500})
        found.append(Subject(spec, generate(lean)))
    return found


def test_counts_and_balance(specs: Mapping[str, tuple[Spec, ...]]):
    """24 trap incidents and 8 controls, half on each side, two to four traps each."""
    for side in specs.values():
        kinds = Counter(spec.kind for spec in side)
        assert kinds == {"trap": 12, "onset_control": 3, "no_change": 1}
        assert len({spec.domain for spec in side if spec.kind == "trap"}) >= 8
        assert all(spec.generator == GENERATOR for spec in side)
    traps = [s for side in specs.values() for s in side if s.kind == "trap"]
    assert all("latent_cause" in spec.traps and 2 <= len(spec.traps) <= 4 for spec in traps)
    assert 9 <= sum("partial_fleet" in spec.traps for spec in traps) <= 15
    assert {int(spec.knobs["hops"]) for spec in traps} == {1, 2, 3, 4}


def test_the_split_guards_groups_and_names(
    specs: Mapping[str, tuple[Spec, ...]], subjects: list[Subject]
):
    """No group and no fault stands on both sides; no name of a culprit does either."""
    groups = [{spec.group for spec in side} for side in specs.values()]
    assert not groups[0] & groups[1]
    assert not {s.fault for s in specs["train"]} & {s.fault for s in specs["test"]}
    train = set(read_split(DIRECTORY).train)
    names: dict[bool, set[str]] = {True: set(), False: set()}
    for subject in subjects:
        view, own = subject.view, names[subject.spec.id in train]
        own.update(view.name[one] for one in subject.truth.accepted_entities)
        own.update(view.name[one] for one in view.kind if view.kind[one] == "Service")
    assert not names[True] & names[False]


def test_alerts_are_those_that_the_specs_make_and_tell_nothing(subjects: list[Subject]):
    """Files equal what is generated; no mechanism, canary or culprit stands in them."""
    for subject in subjects:
        text = (DIRECTORY / "alerts" / f"{subject.spec.id}.md").read_text(encoding="utf-8")
        assert text == subject.made.alert
        truth = subject.truth
        assert truth.canary not in text
        assert truth.culprit_field not in text or not truth.culprit_field
        hidden = set().union(*(tokens(subject.view.name[e]) for e in truth.accepted_entities))
        assert not hidden & tokens(text)
        assert re.search(r"^Service: (\S+)$", text, re.MULTILINE)


def test_every_incident_can_be_walked(subjects: list[Subject]):
    """The oracle's walk reaches seat, field and change in all of them."""
    assert {s.spec.id: list(oracle(s)) for s in subjects if oracle(s)} == {}


def test_truths_are_those_that_the_specs_pin(subjects: list[Subject]):
    """Truth digests do not depend on the number of log lines, so they can be checked here."""
    assert all(truth_digest(s.truth) == s.spec.truth_digest for s in subjects)


def test_a_world_of_full_size_has_the_pinned_digest(
    specs: Mapping[str, tuple[Spec, ...]], tmp_path: Path
):
    """Two whole worlds, one of each archetype."""
    for archetype in ("saas", "fleet"):
        spec = next(s for s in specs["train"] if s.knobs["archetype"] == archetype)
        assert write_world(generate(spec).tables, tmp_path / archetype) == spec.world_digest


def _human(view: View) -> list[dict[str, Any]]:
    rows = [row for row in view.rows("change_event") if row["actor_kind"] in PEOPLE]
    return sorted(rows, key=lambda row: (row["ts"], row["id"]))


def _counts(view: View, column: str) -> Counter[str]:
    return Counter(view.tables.columns["change_diff"][column])


def _largest(view: View) -> str:
    sizes = _counts(view, "event_id")
    return max(sizes, key=lambda one: (sizes[one], one))


def _rarest_field(view: View) -> str:
    fields = _counts(view, "field")
    diffs = view.rows("change_diff")
    return str(min(diffs, key=lambda d: (fields[d["field"]], d["event_id"]))["event_id"])


def _latest_on_alerted(subject: Subject) -> str:
    view = subject.view
    near = view.within(subject.victim, 2)
    hit = {r["event_id"] for r in view.rows("change_target") if r["entity_id"] in near}
    rows = [row for row in _human(view) if row["id"] in hit]
    return str(rows[-1]["id"]) if rows else ""


PROBES: Mapping[str, Callable[[Subject], str]] = {
    "newest": lambda s: str(_human(s.view)[-1]["id"]),
    "oldest": lambda s: str(_human(s.view)[0]["id"]),
    "largest diff": lambda s: _largest(s.view),
    "rarest field": lambda s: _rarest_field(s.view),
    "latest around the alerted service": _latest_on_alerted,
    "nearest to onset": nearest_to_onset,
}


@pytest.mark.parametrize("name", sorted(PROBES))
def test_no_shortcut_solves_the_traps(subjects: list[Subject], name: str):
    """Each fixed rule names the right change in at most a tenth of the trap incidents."""
    traps = [s for s in subjects if s.spec.kind == "trap"]
    solved = sum(PROBES[name](s) == s.truth.culprit_change for s in traps)
    assert solved <= len(traps) // 10


def test_nearest_to_onset_is_right_on_onset_controls(subjects: list[Subject]):
    """What fails on traps is right where the change at onset is the cause."""
    controls = [s for s in subjects if s.spec.kind == "onset_control"]
    assert sum(nearest_to_onset(s) == s.truth.culprit_change for s in controls) >= 0.9 * len(
        controls
    )


def test_causes_look_like_ordinary_changes(subjects: list[Subject]):
    """Actor kind, pull request, hour and diff size of causes are within what their like shows."""
    bots, with_pr, odd_hours, sizes = 0, 0, 0, []
    traps = [s for s in subjects if s.spec.kind == "trap"]
    for subject in traps:
        row = next(r for r in _human(subject.view) if r["id"] == subject.truth.culprit_change)
        bots += row["actor_kind"] == "bot"
        with_pr += bool(row["pr"])
        sizes.append(_counts(subject.view, "event_id")[row["id"]])
        hour = row["ts"] // 3_600_000_000 % 24
        odd_hours += not 6 <= hour <= 21
    assert odd_hours <= len(traps) // 10
    assert bots <= len(traps) // 3
    assert 0.3 <= with_pr / len(traps) <= 0.95
    assert sum(size == 1 for size in sizes) >= len(traps) // 3
    assert max(sizes) > 1
