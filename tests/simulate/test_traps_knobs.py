"""Each knob changes what it says it changes; a value out of range says what it is for."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations

import pytest
from tests.simulate.small import small_spec

from heldout.build.validity import View
from heldout.errors import SpecError
from heldout.simulate import Generated, generate
from heldout.simulate.alerts import alarm
from heldout.simulate.fault import faults
from heldout.simulate.knobs import CHOICES, NUMERIC, checked

LEAN = {"scale": 0.3, "events": 400, "log_lines": 800}
SCOPED = next(name for name, one in faults().items() if one.scope and one.cause == "change")
REPORTED = next(
    name for name, one in faults().items()
    if one.effects and one.cause == "change" and one.gauge.name and not one.scope
)  # fmt: skip


def _made(*traps: str, fault: str = "pool_ceiling", **knobs: object) -> Generated:
    return generate(small_spec(fault, traps=traps, knobs={**LEAN, **knobs}))


def _count(made: Generated, kind: str) -> int:
    return list(made.tables.columns["entity"]["kind"]).count(kind)


def _reviewed(made: Generated) -> float:
    """The share of settings and applies that name a pull request."""
    rows = [row["pr"] for row in View(made).rows("change_event")
            if row["type"] in ("config", "iac_apply")]  # fmt: skip
    return sum(bool(pr) for pr in rows) / len(rows)


def test_latency_and_decoys():
    """The cause is as old as asked; as many late changes as asked, none if none."""
    for days, count in ((1.5, 0), (6.0, 3)):
        made = _made("latent_cause", "onset_decoy", latency_days=days, decoys=count, hops=3)
        when = {row["id"]: row["ts"] for row in View(made).rows("change_event")}
        age = (made.tables.now - when[made.truth.culprit_change]) / 86_400e6
        assert age == pytest.approx(days, abs=0.5 * days)
        assert len(made.truth.decoys) == count


@pytest.mark.parametrize("hops", [0, 1, 3])
def test_hops(hops: int):
    """So many failing calls lie between the alerted service and the seat."""
    made = _made(hops=hops)
    assert sum("failed its calls to" in link for link in made.truth.chain) == hops


def test_fleet_share():
    """A larger share reaches more of the population and spares fewer, never all or none."""
    few, many = (_made(fault=SCOPED, fleet_share=part, scale=0.6) for part in (0.05, 1))
    assert len(few.truth.affected) < len(many.truth.affected)
    assert few.plot is not None
    assert many.plot is not None


def test_noise_and_events():
    """More noise, or more events, is a longer history."""
    calm, busy = (len(_made("change_noise", noise=n).tables.columns["change_event"]["id"])
                  for n in (1, 3))  # fmt: skip
    longer = len(_made("change_noise", noise=1, events=800).tables.columns["change_event"]["id"])
    assert calm + 20 < busy < longer


def test_log_coverage_and_log_lines():
    """Half of the coverage leaves half of the services without lines, on record; lines follow."""
    services = []
    for part in (1, 0.5):
        made = _made(log_coverage=part)
        view = View(made)
        heard = {
            block.template_entity[int(number)]
            for block in made.tables.logs for number in set(block.template.tolist())
        }  # fmt: skip
        services.append(sum(view.kind[one] == "Service" for one in heard))
        silent = [row for row in view.rows("data_gap") if row["source"] == "logs"]
        assert bool(silent) is (part < 1)
        assert not {row["entity_id"] for row in silent} & heard
        assert made.truth.accepted_entities[-1] in heard
    assert services[1] < 0.7 * services[0]
    lines = [sum(len(block.ts) for block in _made(log_lines=n).tables.logs) for n in (600, 3000)]
    assert lines[1] - lines[0] == pytest.approx(2400, abs=200)


def test_pr_coverage():
    """Without coverage no setting names a pull request, with all of it nearly each does."""
    low, high = (_reviewed(_made(pr_coverage=part, events=900)) for part in (0, 1))
    assert low < 0.05
    assert high > 0.9


def test_drift():
    """The more drift, the fewer cloud resources are declared by a stack."""
    low, high = (list(_made(drift=part).tables.columns["edge"]["pred"]).count("declared_in")
                 for part in (0, 1))  # fmt: skip
    assert high < 0.7 * low


def test_alerts():
    """As many other alerts as asked, beside the one that fired."""
    for count in (3, 25):
        assert len(_made(alerts=count).tables.columns["alert"]["id"]) == count + 1


def test_alerts_are_worded_in_many_ways_and_partly_beside_the_point():
    """Ten rules and ten wordings or more over 60 seeds; 30 % or more of the others miss the path."""
    made = _made(alerts=20, scale=0.6)
    plot = made.plot
    assert plot is not None
    fired = [alarm(replace(plot, seed=seed)) for seed in range(60)]
    assert len({one.rule for one in fired}) >= 10
    assert len({re.sub(r"[0-9.]+", "0", one.line) for one in fired}) >= 10
    rows = View(made).rows("alert")[:-1]
    beside = sum(row["entity_id"] not in made.truth.affected for row in rows) / len(rows)
    assert 0.3 <= beside < 1
    assert made.truth.accepted_entities[-1] not in {row["entity_id"] for row in rows}


def test_routes():
    """One route is the logs alone; the second moves the gauge, the third makes controllers tell."""
    told, moved = [], []
    for routes in (1, 2, 3):
        made = _made(fault=REPORTED, routes=routes, scale=0.6)
        assert made.plot is not None
        seat = made.plot.land.ground.id(made.plot.binding.seat)
        gauge = made.plot.binding.fault.gauge.name
        view = View(made)
        assert view.fresh_lines(seat, made.plot.onset)
        own = next(row["id"] for row in view.rows("metric_series")
                   if row["entity_id"] == seat and row["name"] == gauge)  # fmt: skip
        block = made.tables.metrics[-1]
        values = block.values[list(block.series_ids).index(own)]
        moved.append(float(abs(values[-4:].mean() - values[:60].mean())))
        told.append(len(view.rows("change_event")))
    assert moved[0] < 0.2 * moved[1]
    assert moved[1] == pytest.approx(moved[2], rel=0.2)
    assert told[0] == told[1] < told[2]


def test_name_similarity():
    """With all of it half of the services begin as another one does, without it hardly any."""
    pairs = []
    for part in (0, 1):
        view = View(_made(name_similarity=part))
        names = sorted({view.name[one] for one, kind in view.kind.items() if kind == "Service"})
        pairs.append(sum(a[:5] == b[:5] for a, b in combinations(names, 2)) / len(names))
    assert pairs[0] < 0.1
    assert pairs[1] > 0.4


def test_clusters_scale_bank_and_archetype():
    """The estate has the clusters, the size, the names and the providers asked for."""
    assert [_count(_made(clusters=n, archetype="fleet"), "Cluster") for n in (2, 5)] == [2, 5]
    small, large = _made(scale=0.3), _made(scale=0.6)
    assert len(large.tables.columns["entity"]["id"]) > 1.4 * len(
        small.tables.columns["entity"]["id"]
    )
    names = [set(View(_made(bank=n)).name.values()) for n in (0, 1)]
    services = [{one for one in bank if "-" not in one and len(one) > 8} for bank in names]
    assert not services[0] & services[1]
    clouds = {
        kind: set(_made(archetype=kind).tables.columns["fact"]["source"]) & {"aws", "gcp", "azure"}
        for kind in CHOICES["archetype"]
    }
    assert len(clouds["multicloud"]) >= 2
    assert len(clouds["saas"]) == 1


@pytest.mark.parametrize("name", sorted(NUMERIC))
def test_a_knob_out_of_range_says_what_it_is_for(name: str):
    """Below, above, text, truth values and fractions of what is counted are refused."""
    limits = NUMERIC[name]
    wrong: list[object] = [limits.least - 0.5, limits.most + 0.5, "much", True, float("nan")]
    if limits.whole:
        wrong.append(limits.least + 0.5)
    for value in wrong:
        with pytest.raises(SpecError) as caught:
            checked({name: value})  # type: ignore[dict-item]
        assert name in str(caught.value)
        assert limits.meaning in str(caught.value)
    for value in (limits.least, limits.most):
        assert checked({name: value}) == {name: value}


def test_an_unknown_knob_or_choice_offers_what_there_is():
    """Near names for a knob, all values for a choice."""
    with pytest.raises(SpecError, match="log_coverage"):
        checked({"log_cover": 1})
    with pytest.raises(SpecError, match="multicloud"):
        checked({"archetype": "mainframe"})
