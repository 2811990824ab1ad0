"""Each trap makes a wrong answer look right, gives nothing away, and changes no symptom."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from tests.simulate.small import small_spec

from heldout.build.validity import View
from heldout.errors import SpecError
from heldout.simulate import Generated, generate
from heldout.simulate.fault import faults
from heldout.simulate.trap import traps
from heldout.simulate.world import assemble, plot_of
from heldout.truth import Spec

MINUTE = 60_000_000
ELEVEN = (
    "change_noise", "latent_cause", "lookalike_entity", "misleading_alert", "missing_telemetry",
    "onset_decoy", "partial_fleet", "reactive_change", "red_herring_alerts", "reverted_twin",
    "squashed_pr",
)  # fmt: skip
ANYWHERE = tuple(name for name in ELEVEN if name != "partial_fleet")
LEAN = {"scale": 0.25, "events": 400, "log_lines": 800}


def _spec(*names: str, fault: str = "pool_ceiling", seed: int = 5, **knobs: object) -> Spec:
    return small_spec(fault, seed, traps=("latent_cause", *names), knobs={**LEAN, **knobs})


def _victim(made: Generated) -> str:
    plot = made.plot
    assert plot is not None
    return plot.land.ground.id(plot.binding.victim)


def _onset(made: Generated) -> int:
    assert made.plot is not None
    return made.plot.onset


def _when(view: View) -> dict[str, int]:
    return {row["id"]: row["ts"] for row in view.rows("change_event")}


def _innocent(made: Generated) -> list[tuple[str, str]]:
    """(entity, change) of the truth's decoys."""
    return [(decoy.entity, decoy.change) for decoy in made.truth.decoys]


def test_there_are_the_eleven_traps():
    """Every trap of the research note is found by listing, beside the composer for controls."""
    assert set(traps()) >= {*ELEVEN, "older_change"}


@pytest.mark.parametrize("name", [one for one in ANYWHERE if one != "latent_cause"])
def test_a_trap_changes_no_symptom(name: str):
    """With and without the trap the victim fails alike and the seat says the same of it."""
    plain, tricky = generate(_spec()), generate(_spec(name))
    before, after = View(plain), View(tricky)
    assert _victim(plain) == _victim(tricky)
    assert after.failing(_victim(tricky)) == pytest.approx(before.failing(_victim(plain)), abs=1.5)
    seat = plain.truth.accepted_entities[-1]
    said = set(before.fresh_lines(seat, _onset(plain)))
    assert said
    assert said <= set(after.fresh_lines(seat, _onset(tricky)))
    assert tricky.truth.culprit_change == plain.truth.culprit_change
    assert tricky.truth.mechanism == plain.truth.mechanism


def test_the_decoys_of_all_traps_together_are_innocent():
    """The twin without any of them fails as much, and its alert is the same text."""
    spec = _spec(*ANYWHERE, decoys=3)
    made, twin = generate(spec), generate(spec, variant="no_decoy")
    assert len(made.truth.decoys) >= 6
    assert not twin.truth.decoys
    assert View(twin).failing(_victim(made)) == pytest.approx(
        View(made).failing(_victim(made)), abs=0.5
    )
    assert twin.alert == made.alert
    assert View(generate(spec, variant="no_cause")).failing(_victim(made)) < 3


def test_the_order_of_names_means_nothing():
    """A spec's traps are a set: any order and repetition makes the same plot."""
    spec = _spec(*ANYWHERE)
    first = plot_of(spec)
    for names in (spec.traps[::-1], (*spec.traps[3:], *spec.traps[:5])):
        other = plot_of(replace(spec, traps=names))
        assert (other.acts, other.gaps, other.rings, other.hint) == (
            first.acts, first.gaps, first.rings, first.hint
        )  # fmt: skip


ORDERS = tuple(itertools.islice(itertools.permutations(ANYWHERE[2:]), 0, None, 9001))
"""Some of the 40,320 orders, far apart."""


@pytest.mark.parametrize("names", ORDERS)
def test_traps_compose_onto_the_same_plot_in_any_order(names: tuple[str, ...]):
    """Whichever is composed first, the cause keeps its place, its edit and its symptom."""
    spec = _spec()
    plot = plot_of(spec)
    for name in names:
        plot = traps()[name].compose(plot)
    made = assemble(spec, plot)
    view = View(made)
    assert view.failing(_victim(made)) > 3
    fields = [row["field"] for row in view.rows("change_diff")
              if row["event_id"] == made.truth.culprit_change]  # fmt: skip
    assert made.truth.culprit_field in fields
    assert len({(one.key) for one in plot.acts}) == len(plot.acts)


def test_a_misleading_alert_points_at_a_neighbour_that_is_well():
    """The note under the alert names an entity that fails nothing and is no accepted answer."""
    plain, made = generate(_spec()), generate(_spec("misleading_alert"))
    assert made.alert.startswith(plain.alert.rstrip())
    note = made.alert[len(plain.alert) :]
    view = View(made)
    named = [one for one, name in view.name.items() if name in note and len(name) > 4]
    assert named
    assert not set(named) & {*made.truth.accepted_entities, *made.truth.affected}
    assert all(view.failing(one) < 3 for one in named)
    with pytest.raises(SpecError, match="hops"):
        generate(_spec("misleading_alert", hops=0))


def test_red_herring_alerts_are_loud_near_and_partly_over():
    """Four or more louder alerts around onset, some firing and some not, none on the path."""
    plain, made = generate(_spec()), generate(_spec("red_herring_alerts"))
    known = {row["id"] for row in View(plain).rows("alert")}
    rings = [row for row in View(made).rows("alert") if row["id"] not in known]
    assert 4 <= len(rings) <= 9
    firing = sum(row["state"] == "firing" for row in rings) / len(rings)
    assert 0.2 <= firing <= 0.8
    assert {row["severity"] for row in rings} <= {"page", "critical"}
    assert all(abs(row["ts"] - _onset(made)) <= 16 * MINUTE for row in rings)
    assert not {row["entity_id"] for row in rings} & {
        _victim(made), *made.truth.accepted_entities
    }  # fmt: skip


@pytest.mark.parametrize("seed", [5, 6, 7, 8])
def test_missing_telemetry_is_on_record_and_leaves_the_proof(seed: int):
    """Nothing is left inside a gap, each is a row, and mechanism and change are still there."""
    made = generate(_spec("missing_telemetry", seed=seed))
    view = View(made)
    gaps = view.rows("data_gap")
    assert len(gaps) == 2
    for row in gaps:
        assert row["note"]
        if row["source"] == "logs":
            assert not _lines(made, row["entity_id"], row["since"], row["until"])
    seat = made.truth.accepted_entities[-1]
    assert _lines(made, seat, _onset(made), made.tables.now + 1)
    history = [row for row in view.rows("change_diff")
               if row["event_id"] == made.truth.culprit_change]  # fmt: skip
    assert history


def _lines(made: Generated, entity: str, since: int, until: int) -> int:
    count = 0
    for block in made.tables.logs:
        for number, owner in enumerate(block.template_entity):
            if owner == entity:
                ts = block.ts[block.template == number]
                count += int(((ts >= since) & (ts < until)).sum())
    return count


def test_a_reaction_comes_after_onset_and_is_a_near_miss():
    """Somebody's attempt to help lies between the first failing calls and now, and must fail."""
    made = generate(_spec("reactive_change"))
    when = _when(View(made))
    assert made.truth.decoys
    for entity, change in _innocent(made):
        assert _onset(made) < when[change] < made.tables.now
        assert entity not in made.truth.accepted_entities
    assert {decoy.change for decoy in made.truth.decoys} <= {
        miss.change for miss in made.truth.near_misses
    }


@pytest.mark.parametrize("fault", ["pool_ceiling", "rule_revoked", "image_rollout"])
def test_a_lookalike_bears_nearly_the_name_and_changed_minutes_before(fault: str):
    """Another entity of the kind, named almost alike, changed within 20 minutes before onset."""
    made = generate(_spec("lookalike_entity", fault=fault, scale=0.5))
    view = View(made)
    ((entity, change),) = _innocent(made)
    holder = made.truth.culprit_entity
    assert entity != holder
    assert view.kind[entity] == view.kind[holder]
    shorter = min(view.name[entity], view.name[holder], key=len)
    assert shorter[:5] == view.name[holder][:5]
    assert 0 < _onset(made) - _when(view)[change] <= 20 * MINUTE
    assert not any(_reaches(view, one, entity) for one in made.truth.affected)


def _reaches(view: View, src: str, dst: str) -> bool:
    return dst in view.near.get(src, ())


def test_in_a_fleet_the_lookalike_is_the_same_name_elsewhere():
    """In another cluster; it ends with a value that is not the biting one."""
    made = generate(_spec("lookalike_entity", "partial_fleet", archetype="fleet"))
    view = View(made)
    holder = made.truth.culprit_entity
    cluster = {row["id"]: row["cluster"] for row in view.rows("entity")}
    alike = [
        one for one, _ in _innocent(made)
        if view.name[one] == view.name[holder] and cluster[one] != cluster[holder]
    ]  # fmt: skip
    assert alike
    held = {
        row["entity_id"]: row["value_json"] for row in view.rows("fact")
        if row["field"] == made.truth.culprit_field and row["valid_to"] > made.tables.now
    }  # fmt: skip
    assert all(held[one] != held[holder] for one in alike)


@pytest.mark.parametrize("seed", [5, 6])
def test_a_reverted_twin_had_the_same_change_and_took_it_back(seed: int):
    """Two changes of the culprit's field on one other entity, both before onset, no trace now."""
    made = generate(_spec("reverted_twin", seed=seed))
    view = View(made)
    when = _when(view)
    (there, first), (back, second) = _innocent(made)
    assert there == back != made.truth.culprit_entity
    assert when[first] < when[second] < _onset(made)
    steps = {
        row["event_id"]: (row["old_json"], row["new_json"]) for row in view.rows("change_diff")
        if row["entity_id"] == there and row["field"] == made.truth.culprit_field
    }  # fmt: skip
    assert steps[first] == steps[second][::-1]


@pytest.mark.parametrize("fault", ["pool_ceiling", "rule_revoked", "image_rollout"])
def test_a_squashed_cause_is_one_of_many_fields(fault: str):
    """Its change sets dozens of fields of several entities and is called after another of them."""
    made = generate(_spec("squashed_pr", fault=fault, scale=0.5))
    view = View(made)
    sizes: dict[str, set[str]] = {}
    counts: dict[str, int] = {}
    for row in view.rows("change_diff"):
        sizes.setdefault(row["event_id"], set()).add(row["entity_id"])
        counts[row["event_id"]] = counts.get(row["event_id"], 0) + 1
    own = made.truth.culprit_change
    assert counts[own] >= (6 if fault == "image_rollout" else 25)
    assert len(sizes[own]) >= 5
    event = next(row for row in view.rows("change_event") if row["id"] == own)
    assert view.name[made.truth.culprit_entity] not in event["summary"]
    assert made.truth.culprit_field.rsplit(".", 1)[-1] not in event["summary"]
    # Size alone must tell nothing: other days have applies as large.
    assert sum(count >= 0.6 * counts[own] for count in counts.values()) >= 3


def test_a_scope_is_a_partial_fleet_of_its_own():
    """A fault that reaches a part of a population needs no second cluster for the trap."""
    name = next(name for name, fault in faults().items() if fault.scope and fault.cause == "change")
    made = generate(_spec("partial_fleet", fault=name, scale=0.5))
    assert any("alike" in decoy.why_innocent for decoy in made.truth.decoys)
    with pytest.raises(SpecError, match="clusters"):
        generate(_spec("partial_fleet"))


def test_the_same_spec_with_every_trap_is_the_same_world():
    """Composing draws from named streams only."""
    first, second = generate(_spec(*ANYWHERE)), generate(_spec(*ANYWHERE))
    assert first.tables.columns == second.tables.columns
    assert first.truth == second.truth
    assert first.alert == second.alert


def test_traps_know_incidents_without_a_change():
    """Each composes onto trouble that no change explains, and the answer stays 'no change'."""
    spec = replace(_spec(fault="load_surge"), kind="no_change", traps=ANYWHERE)
    made = generate(spec)
    assert made.truth.accepted_changes == ()
    assert len(made.truth.decoys) >= 3
    assert View(made).failing(_victim(made)) > 3
