"""Twins differ from their base by one thing, and the symptom follows the cause."""

from __future__ import annotations

import pytest
from tests.simulate.small import FLEET, small_spec

from heldout.build.validity import Subject, View
from heldout.simulate import Generated, generate
from heldout.simulate.world import assemble, plot_of


def _subject(**more: object) -> Subject:
    spec = small_spec(**more)  # type: ignore[arg-type]
    return Subject(spec, generate(spec))


def _changes(made: Generated) -> dict[str, tuple[object, ...]]:
    columns = made.tables.columns["change_event"]
    names = [name for name in columns if name != "id"]
    return {own: tuple(columns[name][at] for name in names) for at, own in enumerate(columns["id"])}


def test_leaving_the_cause_out_shifts_nothing_else():
    """Every other change keeps its id, time and surface in the twin without the cause."""
    base = generate(small_spec())
    twin = generate(small_spec(), variant="no_cause")
    before, after = _changes(base), _changes(twin)
    assert set(before) - set(after) == {base.truth.culprit_change}
    assert set(after) <= set(before)
    assert all(before[own] == after[own] for own in after)


def test_no_cause_no_symptom():
    """The alerted service fails in the base and is well without the cause or the trigger."""
    subject = _subject()
    assert subject.view.failing(subject.victim) > 3
    assert View(subject.twin("no_cause")).failing(subject.victim) < 3
    assert View(subject.twin("no_trigger")).failing(subject.victim) < 3
    assert View(subject.twin("no_decoy")).failing(subject.victim) > 3


def test_the_answer_follows_the_world_in_the_other_cause_twin():
    """Same alert, byte for byte; what was a decoy is the cause and has the evidence."""
    subject = _subject()
    base, twin = subject.made, subject.twin("other_cause")
    assert twin.alert == base.alert
    assert twin.truth.culprit_change != base.truth.culprit_change
    assert twin.truth.culprit_change in {decoy.change for decoy in base.truth.decoys}
    assert base.truth.culprit_change not in twin.truth.accepted_changes
    assert View(twin).failing(subject.victim) == pytest.approx(
        subject.view.failing(subject.victim), rel=0.1
    )


def test_a_latent_cause_is_as_old_as_its_knob_says():
    """The cause lies about ``latency_days`` before the alert, the decoys within 15 minutes."""
    made = generate(small_spec(knobs={"latency_days": 6.0}))
    when = dict(
        zip(
            made.tables.columns["change_event"]["id"],
            made.tables.columns["change_event"]["ts"],
            strict=True,
        )
    )
    days = (made.tables.now - when[made.truth.culprit_change]) / 86_400e6
    assert 4.5 < days < 7.5
    for decoy in made.truth.decoys:
        assert made.tables.now - when[decoy.change] < 31 * 60_000_000


def test_cutting_the_dependency_edges_removes_the_symptom_downstream():
    """Without an edge between victim and seat the victim stays well; the seat still fails."""
    plot = plot_of(small_spec(knobs={"hops": 2}))
    ground, path = plot.land.ground, plot.binding.path
    edges = frozenset((path[0], dst) for _, dst in ground.out(path[0]))
    spec = small_spec(knobs={"hops": 2})
    whole = assemble(spec, plot)
    cut = assemble(spec, plot_of(spec), cut=edges)
    victim, seat = ground.id(path[0]), ground.id(path[-1])
    assert View(whole).failing(victim) > 3
    assert View(cut).failing(victim) < 3
    assert View(cut).fresh_lines(seat, plot.onset)
    assert victim not in cut.truth.affected


def test_only_the_overridden_cluster_fails():
    """With partial_fleet the siblings are well, hold the old value, and share the later change."""
    subject = _subject(traps=FLEET, knobs={"archetype": "fleet"})
    view, truth = subject.view, subject.truth
    kind, name = view.kind[truth.culprit_entity], view.name[truth.culprit_entity]
    siblings = [
        one for one in view.kind
        if view.kind[one] == kind and view.name[one] == name and one != truth.culprit_entity
    ]  # fmt: skip
    assert len(siblings) >= 2
    values = {
        row["entity_id"]: row["value_json"]
        for row in view.rows("fact")
        if row["field"] == truth.culprit_field and row["valid_to"] > view.tables.now
    }
    assert all(values[one] != values[truth.culprit_entity] for one in siblings)
    victims = [one for one in truth.unaffected if view.name[one] == view.name[subject.victim]]
    assert victims
    assert all(view.failing(one) < 3 for one in victims)
    assert any("every cluster" in miss.why_wrong for miss in truth.near_misses)
