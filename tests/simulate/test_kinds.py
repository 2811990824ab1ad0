"""Incidents whose right answer is no culprit: trouble that passed, false alarms, lost proof."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from tests.simulate.small import small_spec

from heldout.build.validity import View
from heldout.errors import SpecError
from heldout.interface import Submission
from heldout.judge.exact import judge_exact
from heldout.simulate import Generated, generate
from heldout.simulate.fault import faults
from heldout.truth import Spec

HOUR = 3_600_000_000
LEAN = {"scale": 0.3, "events": 400, "log_lines": 800}
RECOVERED = sorted(name for name, fault in faults().items() if fault.cause == "recovered")
FALSE = sorted(name for name, fault in faults().items() if fault.cause == "false_alarm")
HEAD = re.compile(
    r"# [A-Za-z]+\n\nFired at [0-9T:Z-]{20}\nService: \S+\nCluster: \S+\n"
    r"Severity: (page|critical)\n\n[^\n]+ms[^\n]*\n"
)


def _spec(fault: str, kind: str, seed: int = 5, **knobs: object) -> Spec:
    return small_spec(fault, seed, kind=kind, traps=("change_noise",), knobs={**LEAN, **knobs})


def _victim(made: Generated) -> str:
    assert made.plot is not None
    return made.plot.land.ground.id(made.plot.binding.victim)


def _seat(made: Generated) -> str:
    assert made.plot is not None
    return made.plot.land.ground.id(made.plot.binding.seat)


def _series(made: Generated, entity: str) -> np.ndarray:
    """The error share of the last two hours, in percent, every 30 seconds."""
    view = View(made)
    own = next(row["id"] for row in view.rows("metric_series")
               if row["entity_id"] == entity and row["name"] == "error_share")  # fmt: skip
    block = made.tables.metrics[-1]
    return block.values[list(block.series_ids).index(own)]


def _last_error(made: Generated, entity: str, since: int) -> int:
    """When the entity's newest error of a pattern that began after ``since`` was written."""
    last = 0
    for block in made.tables.logs:
        for number, owner in enumerate(block.template_entity):
            ts = block.ts[block.template == number]
            if owner == entity and len(ts) and ts.min() >= since:
                last = max(last, int(ts.max()))
    return last


@pytest.mark.parametrize("name", RECOVERED)
def test_recovered_trouble_comes_and_goes(name: str):
    """The victim failed and is well again, its errors have stopped, and no entity is to blame."""
    made = generate(_spec(name, "no_fault"))
    assert made.plot is not None
    values = _series(made, _victim(made))
    assert values.max() > 4
    assert np.median(values[-3:]) < 3
    assert values[: len(values) // 2].max() < 4
    last = _last_error(made, _victim(made), made.plot.onset)
    assert made.plot.onset < last < made.tables.now - 60_000_000
    assert made.truth.accepted_entities == made.truth.accepted_changes == ()


@pytest.mark.parametrize("name", FALSE)
def test_a_false_alarm_has_nothing_behind_it(name: str):
    """The alert claims failing calls; no series moves, and the service remarks on why it fired."""
    made = generate(_spec(name, "no_fault", hops=3))
    assert made.plot is not None
    assert _series(made, _victim(made)).max() < 4
    assert made.truth.affected == ()
    assert made.truth.accepted_entities == made.truth.accepted_changes == ()
    said = View(made).fresh_lines(_victim(made), made.plot.onset)
    assert said
    assert all(level != "ERROR" for level, _ in said)


@pytest.mark.parametrize("name", [*RECOVERED[:1], *FALSE[:1]])
def test_saying_that_nothing_is_broken_passes(name: str):
    """No entity, no change and the words for it pass; blaming the alerted service fails."""
    made = generate(_spec(name, "no_fault"))
    honest = Submission(mechanism=made.truth.mechanism)
    assert judge_exact(honest, made.truth).result == "pass"
    blaming = replace(honest, root_cause_entity=_victim(made))
    assert judge_exact(blaming, made.truth).result == "fail"


def test_the_alert_reads_the_same_whatever_the_answer():
    """Every kind's alert has one shape, and an unanswerable one is a trap's, byte for byte."""
    trap = generate(_spec("pool_ceiling", "trap"))
    assert generate(_spec("pool_ceiling", "unanswerable")).alert == trap.alert
    assert HEAD.fullmatch(trap.alert)
    for name in (*RECOVERED, *FALSE):
        assert HEAD.fullmatch(generate(_spec(name, "no_fault")).alert)


@pytest.mark.parametrize("latent", [(), ("latent_cause",)])
def test_an_unanswerable_incident_lost_its_proof_and_says_so(latent: tuple[str, ...]):
    """Seat's lines and series, change and history are gone, each gap is on record; a trap has all.

    The failing calls still lead to the seat.
    """
    spec = replace(_spec("pool_ceiling", "trap"), traps=latent)
    trap, made = generate(spec), generate(replace(spec, kind="unanswerable"))
    assert made.plot is not None
    assert trap.plot is not None
    cause, field = trap.truth.culprit_change, trap.truth.culprit_field
    for world, there in ((trap, True), (made, False)):
        view = View(world)
        assert any(row["id"] == cause for row in view.rows("change_event")) is there
        assert any(row["entity_id"] == trap.truth.culprit_entity and row["field"] == field
                   for row in view.rows("fact")) is there  # fmt: skip
        assert bool(view.fresh_lines(_seat(world), trap.plot.onset)) is there
        assert bool(np.isfinite(_series(world, _seat(world))[-20:]).any()) is there
    gaps = {(row["source"], row["entity_id"]) for row in View(made).rows("data_gap")}
    assert gaps >= {
        ("logs", _seat(made)), ("metrics", _seat(made)), ("changes", trap.truth.culprit_entity)
    }  # fmt: skip
    assert View(trap).rows("data_gap") == []
    assert View(made).failing(_victim(made)) > 3


def test_only_an_honest_answer_passes_where_proof_is_missing():
    """'Cannot be proven' passes; the true change, named by luck, fails."""
    spec = _spec("pool_ceiling", "unanswerable")
    made, trap = generate(spec), generate(replace(spec, kind="trap"))
    honest = Submission(
        root_cause_entity=_seat(made),
        mechanism="The cause cannot be proven: the logs and changes of the time were not kept",
    )
    assert judge_exact(honest, made.truth).result == "pass"
    lucky = Submission(trap.truth.culprit_entity, trap.truth.culprit_change, trap.truth.mechanism)
    assert judge_exact(lucky, trap.truth).result == "pass"
    assert judge_exact(lucky, made.truth).result == "fail"


@pytest.mark.parametrize(
    ("fault", "knobs", "says"), [("load_surge", {}, "change"), ("pool_ceiling", {"hops": 0}, "1")]
)
def test_what_cannot_be_unanswerable_is_refused(fault: str, knobs: dict[str, int], says: str):
    """Without a change there is no proof to lose; without a path there is nothing left to see."""
    with pytest.raises(SpecError, match=says):
        generate(_spec(fault, "unanswerable", **knobs))
