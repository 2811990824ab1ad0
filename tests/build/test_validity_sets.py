"""A set as a whole: shortcuts, surface of changes, likeness across the sides, and the summary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.build.broken import SPEC

from heldout import split as split_module
from heldout.build.similarity import (
    THRESHOLD,
    Portrait,
    crossings,
    groups,
    masked,
    portrait,
    similarity,
)
from heldout.build.validity import Subject, set_findings, validate_set
from heldout.build.validity.entry import Entry, examine
from heldout.build.validity.p09_shortcuts import FEWEST_TRAPS
from heldout.build.validity.probes import PROBES, Made, Scene
from heldout.build.validity.report import ValidityReport
from heldout.build.validity.surface import FEATURES, Lineup, lineup, told_apart
from heldout.simulate import generate
from heldout.simulate.fault import fault_named, faults
from heldout.split import Split, write_split
from heldout.truth import Spec


@pytest.fixture(scope="module", autouse=True)
def build_role() -> Iterator[None]:
    """These tests run as a build process."""
    before = split_module._role
    split_module._role = "build"
    yield
    split_module._role = before


def _spec(fault: str, own: str = "", **more: object) -> Spec:
    record = fault_named(fault)
    spec = replace(
        SPEC, id=own or fault, fault=fault, family=record.family, domain=record.domain,
        group=fault, seed=sum(map(ord, own or fault)),
    )  # fmt: skip
    return replace(spec, **more)


def _entries(traps: int, hits: Mapping[str, int], controls: int = 0, right: int = 0) -> list[Entry]:
    """Traps of which the first few are hit by each shortcut, and onset controls."""
    lonely = Portrait("", frozenset(), portrait(SPEC).features, frozenset())
    made = []
    for number in range(traps):
        spec = replace(SPEC, id=f"trap-{number}")
        hit = {name: number < hits.get(name, 0) for name in PROBES}
        made.append(Entry(spec, 0, replace(lonely, id=spec.id), hit, {"constant answer": False}))
    for number in range(controls):
        spec = replace(SPEC, id=f"onset-{number}", kind="onset_control")
        hit = {"nearest to onset": number < right}
        made.append(Entry(spec, 0, replace(lonely, id=spec.id), hit))
    return made


def test_a_shortcut_that_solves_more_than_a_tenth_of_the_traps_is_found():
    """Four of forty may be chance, five are a shortcut; small sets are not judged by shares."""
    assert set_findings(_entries(FEWEST_TRAPS, {"rarest field": 4})) == []
    found = set_findings(_entries(FEWEST_TRAPS, {"rarest field": 5}))
    assert found == ["shortcuts: 'rarest field' is right on 5 of 40 traps"]
    assert set_findings(_entries(FEWEST_TRAPS - 1, {"rarest field": 9})) == []


def test_nearest_to_onset_must_be_right_on_onset_controls():
    """Nine of ten are enough, eight are not."""
    assert set_findings(_entries(0, {}, controls=10, right=9)) == []
    assert "on only 8 of 10 onset controls" in set_findings(_entries(0, {}, 10, 8))[0]


def _lineups(shift: float, count: int = 60) -> list[Lineup]:
    """Worlds of random changes in which the cause stands out by ``shift`` in one feature."""
    rng = np.random.default_rng(5)
    made = []
    for number in range(count):
        rows = rng.normal(size=(30, len(FEATURES)))
        rows[0, 7] += shift
        made.append(Lineup(f"group-{number % 12}", rows))
    return made


def test_the_classifier_tells_causes_apart_only_where_their_surface_differs():
    """Chance on pure noise; well above it when causes share a surface, also in unseen groups."""
    plain, marked = told_apart(_lineups(0.0)), told_apart(_lineups(2.0))
    assert plain is not None
    assert marked is not None
    assert 0.38 < plain < 0.60
    assert marked > 0.85
    assert told_apart([Lineup("one", one.rows) for one in _lineups(2.0)]) is None


def test_a_set_whose_causes_stand_out_is_found():
    """The classifier is a point of the gate for sets that are large enough."""
    entries = [
        replace(one, lineup=line) for one, line in zip(_entries(60, {}), _lineups(2.0), strict=True)
    ]
    assert any("classifier" in one for one in set_findings(entries))
    plain = [replace(e, lineup=line) for e, line in zip(entries, _lineups(0.0), strict=True)]
    assert set_findings(plain) == []


def test_every_shortcut_names_a_change_before_onset():
    """On a real world each rule picks a change that somebody made, and never crashes."""
    subject = Subject(SPEC, generate(SPEC))
    scene = Scene(subject)
    known = {one.id for one in scene.changes}
    picked = {name: probe(scene) for name, probe in PROBES.items()}
    assert set(picked.values()) - {""} <= known
    assert len(set(picked.values())) > 6
    assert max(one.ts for one in scene.changes) < subject.onset
    line = lineup(subject)
    assert line is not None
    assert line.rows.shape[1] == len(FEATURES)


def test_each_shortcut_does_what_it_says():
    """A tiny history in which every rule has its own answer."""
    scene = Scene.__new__(Scene)
    day, hour = 86_400_000_000, 3_600_000_000
    start = 1_769_990_400_000_000  # A Monday, midnight.

    def made(own: str, ts: int, actor: str, *diffs: tuple[str, str, str, str], pr: str = "x#1"):
        return Made(own, 0.5, ts, 0, "config", "git", actor, actor == "bot", pr, "r", "", own,
                    tuple(diff[0] for diff in diffs), diffs)  # fmt: skip

    scene.__dict__["changes"] = [
        made("first", start + 9 * hour, "ann", ("a", "f", "1", "2")),
        made("unique", start + 10 * hour, "bot", ("b", "f", "1", "7")),
        made("step", start + day + 9 * hour, "ann", ("a", "f", "1000", "2")),
        made("many", start + day + 10 * hour, "ann", ("c", "f", "1", "2"), ("c", "g", "1", "2")),
        made("long", start + 2 * day + 9 * hour, "bot", ("d", "g", "1", '"' + "x" * 90 + '"')),
        made("night", start + 2 * day + 23 * hour, "ann", ("a", "f", "2", "3")),
        made("rare", start + 3 * day + 9 * hour, "eve", ("a", "h", "1", "2")),
        made("last", start + 3 * day + 10 * hour, "bot", ("a", "f", "3", "2"), pr=""),
    ]
    scene.victim, scene.affected, scene.onset = "a", ("a",), start + 4 * day
    scene.alert = "rare"
    scene.view = type("V", (), {"name": dict.fromkeys("abcd", "svc"),
                                "within": lambda self, e, n: {e}})()  # fmt: skip
    found = {name: probe(scene) for name, probe in PROBES.items()}
    assert found == {
        "last change by a person": "rare", "nearest to onset": "last",
        "latest on the alerted service": "last", "first change": "first",
        "one search, first row": "last", "rarest field": "rare", "rarest field nearby": "rare",
        "most fields": "many", "largest step nearby": "step", "oldest unique value nearby": "night",
        "longest values": "long", "largest step of a number": "step",
        "oldest unique value": "unique", "words of the alert (BM25)": "rare",
        "rarest author": "rare", "only change outside hours": "night", "no pull request": "last",
    }  # fmt: skip


def test_masking_leaves_words_and_takes_names():
    """Names, ids, values and placeholders would make two tellings of one story look different."""
    assert masked("The pool DB_POOL_MAX of orders-api went from {old} to 12 at c-0a1b") == (
        "the pool of went from to at"
    )


def test_two_incidents_of_one_fault_are_alike_and_two_faults_are_not():
    """The same fault in other words of names scores high, another fault far below the threshold."""
    one, two = portrait(_spec("pool_ceiling", "a")), portrait(_spec("pool_ceiling", "b"))
    assert similarity(one, two) >= THRESHOLD
    pairs = [portrait(_spec(name)) for name in faults()]
    scores = [similarity(a, b) for a in pairs for b in pairs if a.id < b.id]
    assert np.mean(np.array(scores) < 0.5) > 0.95


def test_groups_join_lineages_and_near_duplicates_through_others():
    """A group is closed under likeness; what shares nothing stays alone."""
    three = [portrait(_spec("pool_ceiling", own)) for own in "abc"]
    other = portrait(_spec("static_parameter", "d"))
    found = groups([*three, other])
    assert found == {"a": "a", "b": "a", "c": "a", "d": "d"}
    apart = portrait(_spec("rate_cap", "e"))
    assert len(set(groups([apart, other]).values())) == 2
    assert len(set(groups([replace(apart, lineage=other.lineage), other]).values())) == 1


def test_a_name_of_a_cause_on_both_sides_is_found():
    """Identifiers must not carry over, whatever the faults."""
    one = portrait(_spec("pool_ceiling", "a"), identifiers=["Service cart"])
    two = portrait(_spec("static_parameter", "b"), identifiers=["Service cart"])
    assert "share the name 'Service cart'" in crossings([one, two], {"a": 0, "b": 1})[0]
    assert crossings([one, two], {"a": 0, "b": 0}) == []


def test_validating_a_set_counts_and_ends_in_a_line(tmp_path: Path):
    """Every incident is examined, recorded ones are passed over, what cannot be made is named."""
    specs = [
        SPEC,
        replace(SPEC, id="inc-000001", fault="no_such_fault"),
        replace(SPEC, id="inc-000002", origin="recorded"),
    ]
    write_split(Split(tmp_path.name, tuple(one.id for one in specs), ()), tmp_path)
    report = validate_set(specs, tmp_path, 1, discards={"uniqueness": 3})
    assert [one.spec.id for one in report.entries] == [SPEC.id]
    assert report.valid == 2
    assert len(report.findings) == 1
    assert report.findings[0].startswith("inc-000001 broken: ")
    lines = report.lines()
    assert lines[-1] == "2 valid incidents"
    text = "\n".join(lines)
    for said in (
        "7 uniqueness",
        "3 x uniqueness",
        "rarest field",
        "constant answer",
        "by their surface",
    ):
        assert said in text


def test_a_summary_names_points_with_findings():
    """Counts by point, from the findings of incidents and of the set."""
    entry = replace(_entries(1, {})[0], found=("oracle: it is hidden", "oracle: twice"))
    found = tuple(f"trap-0 {one}" for one in entry.found)
    report = ValidityReport("tiny", (entry,), (*found, "tiny duplicates: a pair"))
    rows = [line.split() for line in report.lines()]
    assert ["5", "oracle", "2", "findings"] in rows
    assert ["11", "duplicates", "1", "findings"] in rows
    assert report.lines()[-1] == "0 valid incidents"


def test_an_examined_incident_is_small():
    """What travels between processes holds no tables."""
    import pickle

    entry = examine(Subject(SPEC, generate(SPEC)), 0, floors=False)
    assert len(pickle.dumps(entry)) < 40_000
