"""Other changes that could have made the same trouble: found by rule, and left out of worlds."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.build.broken import SPEC
from tests.simulate.small import small_spec

from heldout.build.validity import Subject, points
from heldout.errors import SpecError
from heldout.simulate import Generated, generate, world
from heldout.simulate.fault import Fault, fault_named, faults
from heldout.simulate.ground import Edit
from heldout.simulate.plot import Act, Plot
from heldout.simulate.rhythm import DAY, MINUTE
from heldout.simulate.suspects import Event, Reenactment, Suspect, seats_of
from heldout.simulate.world import assemble, plot_of
from heldout.truth import Spec

UNIQUENESS = points()["uniqueness"]


@pytest.fixture(scope="module")
def plot() -> Plot:
    """An incident whose trigger is load on its path."""
    return plot_of(SPEC)


def _rival(plot: Plot, name: str, days: float = 3.0) -> tuple[Fault, Suspect]:
    """A record's biting value on what carries its field for the plot's seat."""
    fault = fault_named(name)
    walk = plot.land.ground.walk(plot.binding.seat, fault.holder)
    holder = walk[-1] if walk else plot.binding.seat
    field = fault.field_in(plot.land.style)
    ts = plot.onset - round(days * DAY)
    return fault, Suspect(ts, holder, field, fault.values[0][1])


def test_a_rival_that_the_load_wakes_explains_the_alert(plot: Plot):
    """Holder, field, value, seat and trigger fit; with any of them missing nothing is explained."""
    fault, rival = _rival(plot, "replica_ceiling")
    trial = Reenactment(plot, ())
    assert trial.explains(rival) == fault
    assert trial.explains(rival._replace(value=fault.values[0][0])) is None
    assert trial.explains(rival._replace(field="min_replicas")) is None
    elsewhere = next(
        one for one in plot.land.ground.of_kind("Hpa")
        if plot.binding.seat not in seats_of(plot.land.ground, fault, one)
        and not set(seats_of(plot.land.ground, fault, one)) & set(plot.binding.path)
    )  # fmt: skip
    assert trial.explains(rival._replace(entity=elsewhere)) is None


def test_what_the_rule_blames_does_fail_in_the_engine(plot: Plot):
    """With the rival in place of the cause the engine makes the same service fail."""
    fault, rival = _rival(plot, "replica_ceiling")
    edit = Edit(rival.entity, rival.field, rival.value, fault.values[0][0])
    act = Act("cause", "cause", rival.ts, edit, fault, plot.binding.seat)
    others = tuple(one for one in plot.acts if one.role not in ("cause", "former"))
    made = assemble(SPEC, replace(plot, acts=(act, *others)))
    assert made.truth.culprit_field == rival.field
    assert Subject(SPEC, made).failing(made) > 3


def test_a_dormant_rival_needs_its_own_trigger(plot: Plot):
    """A value that only a rollout wakes is innocent until one is reported, or it lands at onset."""
    fault, rival = _rival(plot, "rotated_secret")
    workload = plot.land.ground.walk(plot.binding.seat, ("runs_on>Deployment",))[0]
    assert Reenactment(plot, ()).explains(rival) is None
    assert Reenactment(plot, [Event(fault.trigger.type, workload)]).explains(rival) == fault
    late = rival._replace(ts=plot.onset - 5 * MINUTE)
    assert Reenactment(plot, ()).explains(late) == fault


def test_records_that_lend_their_edits_are_innocent(plot: Plot):
    """A decoy's edit is innocent by declaration; the point of innocence looks after it."""
    fault, rival = _rival(plot, "worker_count")
    assert fault.lends
    assert Reenactment(plot, ()).explains(rival._replace(ts=plot.onset - 5 * MINUTE)) is None


def _made(seed: int) -> tuple[Spec, Generated] | None:
    spec = small_spec("pool_ceiling", seed, knobs={"events": 2500, "noise": 3.0})
    try:
        return spec, generate(spec)
    except SpecError:
        return None


def test_worlds_hold_no_rival_because_ordinary_life_is_tamed(monkeypatch: pytest.MonkeyPatch):
    """Left as drawn, some worlds have two right answers; tamed, none of them has."""
    tame = [_made(seed) for seed in range(3)]
    assert not any(UNIQUENESS.check(Subject(*one)) for one in tame if one)
    monkeypatch.setattr(world, "tamed", lambda plot, changes: list(changes))
    wild = [_made(seed) for seed in range(3)]
    assert any(UNIQUENESS.check(Subject(*one)) for one in wild if one)


def test_taming_leaves_suspicious_values_elsewhere():
    """Biting values of faults' fields still occur in the history, away from the alerted path."""
    spec, made = next(one for one in map(_made, range(4)) if one)
    plot = plot_of(spec)
    biting = {
        (fault.field_in(plot.land.style), json.dumps(pair[1]))
        for fault in faults().values() if fault.field for pair in fault.values
    }  # fmt: skip
    diff = made.tables.columns["change_diff"]
    steps = zip(diff["entity_id"], diff["field"], diff["new_json"], strict=True)
    hits = {entity for entity, field, new in steps if (field, new) in biting}
    assert len(hits - {made.truth.culprit_entity}) > 20
