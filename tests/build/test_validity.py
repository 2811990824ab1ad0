"""Each point of the validity gate refuses what it is there for, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.build.broken import BROKEN, SPEC, objections, with_column
from tests.simulate.small import small_spec

from heldout.build.validity import Subject, findings, points
from heldout.build.validity.p05_oracle import check as oracle
from heldout.build.validity.walk import MOST_CALLS, Walk
from heldout.errors import SpecError
from heldout.simulate import Generated, generate
from heldout.simulate.plot import Gap
from heldout.simulate.world import assemble, plot_of


@pytest.fixture(scope="module")
def good() -> Generated:
    """A valid incident."""
    return generate(SPEC)


def test_there_are_twelve_points_and_a_broken_world_for_each():
    """Points are found by listing their files, in order."""
    assert list(points()) == [
        "replay", "necessity", "innocence", "latency", "oracle", "alert", "uniqueness", "health",
        "shortcuts", "leaks", "duplicates", "sizes",
    ]  # fmt: skip
    assert set(BROKEN) == set(points())


def test_a_good_incident_has_no_finding(good: Generated):
    """Negative control for all points."""
    assert findings(Subject(SPEC, good)) == []


@pytest.mark.parametrize("point", list(BROKEN))
def test_a_broken_world_is_refused_by_its_point_alone(good: Generated, point: str):
    """Twelve small alterations of a valid incident, each found by the point that is there for it."""
    assert objections(BROKEN[point](good)) == {point}


def test_a_world_that_breaks_the_ontology_is_refused_by_replay(good: Generated):
    """An edge that no signature allows; points that need the written world pass it over."""
    made = with_column(good, "edge", "pred", lambda p: ["watches", *p[1:]])
    assert objections(Subject(SPEC, made)) == {"replay"}


def test_a_fact_that_no_change_leads_to_is_refused(good: Generated):
    """As-of reads facts: each must hold exactly from its change to the next."""
    fact = good.tables.columns["fact"]
    at = next(n for n, event in enumerate(fact["event_id"]) if event)
    made = with_column(good, "fact", "valid_from", lambda v: [*v[:at], v[at] + 1, *v[at + 1 :]])
    assert "replay" in objections(Subject(SPEC, made))


@pytest.mark.parametrize("which", ["world_digest", "truth_digest"])
def test_a_frozen_spec_must_make_what_it_pins(good: Generated, which: str):
    """Another digest than the spec's is found; overlays are exempt from sizes only."""
    assert objections(Subject(replace(SPEC, **{which: "0" * 64}), good)) == {"sizes"}
    full = {name: value for name, value in SPEC.knobs.items() if name != "scale"}
    overlay = replace(SPEC, knobs=full, origin="overlay")
    assert not points()["sizes"].check(Subject(overlay, good))


def test_words_of_the_truth_and_unfilled_blanks_are_leaks(good: Generated):
    """Canary, mechanism and a template's blank are found in any visible text."""
    for text in (SPEC.canary, good.truth.mechanism, "Update {holder}"):
        made = with_column(good, "change_event", "summary", lambda s, text=text: [text, *s[1:]])
        assert objections(Subject(SPEC, made)) == {"leaks"}


def test_the_walk_stays_within_its_calls(good: Generated):
    """The scripted walk proves what the record declares in no more calls than it may use."""
    subject = Subject(SPEC, good)
    walk = Walk(subject)
    assert "list_alerts does not show the symptom, which the fault declares" in walk.unproved()
    for missing in (walk.symptom(), walk.path(), walk.mechanism()[0], walk.holder()):
        assert not missing
    assert not walk.change()
    assert walk.unproved() == []
    assert walk.calls <= MOST_CALLS
    walk.close()


def test_a_newer_change_of_the_field_hides_the_cause(good: Generated):
    """The walk demands that the field's history ends with the cause."""
    diff = {name: list(values) for name, values in good.tables.columns["change_diff"].items()}
    events = good.tables.columns["change_event"]
    newest = max(zip(events["ts"], events["id"], strict=True))[1]
    row = (newest, good.truth.culprit_entity, good.truth.culprit_field, "1", "2", False)
    for name, value in zip(diff, row, strict=True):
        diff[name].append(value)
    columns = {**good.tables.columns, "change_diff": diff}
    made = replace(good, tables=replace(good.tables, columns=columns))
    assert oracle(Subject(SPEC, made)) == ["another change of the field is newer than the cause"]


def _valid(fault: str, kind: str, **more: object) -> Subject:
    """The first valid incident of a fault and kind."""
    for seed in range(8):
        spec = small_spec(fault, seed, kind=kind, **more)
        try:
            subject = Subject(spec, generate(spec))
        except SpecError:
            continue
        if not findings(subject):
            return subject
    raise AssertionError(f"no valid {kind} of {fault}")


@pytest.mark.parametrize(
    ("fault", "kind", "traps"),
    [
        ("provider_outage", "no_change", ("onset_decoy",)),
        ("passed_burst", "no_fault", ("onset_decoy",)),
        ("probe_login", "no_fault", ("onset_decoy",)),
        ("static_parameter", "unanswerable", ("latent_cause", "onset_decoy")),
        ("image_rollout", "onset_control", ("older_change",)),
    ],
)
def test_every_kind_of_control_has_valid_incidents(fault: str, kind: str, traps: tuple[str, ...]):
    """The gate knows what each kind of right answer needs to be shown, or must not be."""
    assert _valid(fault, kind, traps=traps)


def test_an_unanswerable_incident_whose_proof_is_kept_is_refused():
    """Without its gaps the cause can be proven; gaps elsewhere don't excuse that."""
    subject = _valid("static_parameter", "unanswerable", traps=("latent_cause", "onset_decoy"))
    spec, plot = subject.spec, replace(plot_of(subject.spec), gaps=())
    assert oracle(Subject(spec, assemble(spec, plot))) == [
        "the cause can be proven although its proof is to be missing"
    ]
    elsewhere = Gap("logs", plot.land.sites[-1].service, plot.start, plot.now, "none")
    made = assemble(spec, replace(plot, gaps=(elsewhere,)))
    assert oracle(Subject(spec, made))
