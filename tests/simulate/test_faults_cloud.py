"""Faults of clouds, networks, stores, messages and providers: told apart, partial, or nobody's."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.simulate.small import small_spec

from heldout.errors import SpecError
from heldout.judge.words import holds, words
from heldout.simulate.fault import Fault, fault_named
from heldout.simulate.plot import Plot
from heldout.simulate.rhythm import DAY
from heldout.simulate.scope import members
from heldout.simulate.world import Generated, assemble, plot_of

WRONG = {
    "route_unlinked": "the security group lost the rule for the data port, dials time out",
    "acl_entry": "the security group lost the rule for the data port, dials time out",
    "zone_isolation": "a traffic peak overloaded the service beyond its replicas",
    "record_weight": "the TTL of the DNS record is too long, callers keep an old address",
    "record_ttl": "the DNS record is missing because its ingress has no weight",
    "header_block": "a new rule set throttles clients, requests get 429",
    "stale_reference": "the new version is broken and fails its health check",
    "wrong_target": "the certificate was signed by an authority that nobody trusts",
    "migration_lock": "overlapping runs of a batch job hold locks on the table",
    "standby_removed": "host maintenance restarted the store and applied a parameter",
    "key_floor": "the role lost its policy and may not decrypt any more",
    "replica_reads": "a bulk load made the replicas lag, reads are stale",
    "drift_reapplied": "a traffic peak saturated the shards of the cache",
    "ttl_jitter": "the cache evicted keys when its memory was full",
    "shape_unchecked": "the release expects a column that stored records lack",
    "early_redelivery": "the consumer is slow and the queue grows; messages time out",
    "balancer_rules": "targets of the load balancer fail their health check",
    "group_quota": "the namespace quota on memory refused new replicas",
    "reserved_slots": "the function runs out of memory and is restarted",
    "partner_plan": "the provider has a partial outage and answers 503",
    "bucket_principals": "a policy was detached from the role, access to objects is denied",
    "batch_width": "runs of the job overlap and block each other's locks",
    "retired_host": "the store ran out of connections after maintenance",
    "zone_trouble": "the provider's api has an outage and answers 503",
    "partner_throttle": "our plan was downgraded and its allowance is used up",
    "drain_blip": "a release broke the service and it still fails",
    "provider_hiccup": "the provider is down and does not answer",
    "passed_burst": "traffic rose beyond the replica ceiling and requests are shed",
    "probe_login": "the service refuses logins with 401 since its token ran out",
    "thin_traffic": "traffic fell because callers cannot reach the service",
}  # fmt: skip
"""For each record a diagnosis that is close and wrong."""
NAMES = sorted(WRONG)
OWNED = [name for name in NAMES if fault_named(name).cause == "change"]
SCOPED = [name for name in NAMES if fault_named(name).scope is not None]
HEALTHY_BELOW = 3.0


def _filled(fault: Fault, text: str, old: object, new: object) -> str:
    said = fault.said_in("snake")
    for name, value in {
        "old": old,
        "new": new,
        "said": said,
        "holder": "brix",
        "seat": "quol",
    }.items():
        text = text.replace("{" + name + "}", str(value))
    return text


def _missing(fault: Fault, text: str) -> list[tuple[str, ...]]:
    said = words(text)
    return [group for group in fault.terms if not any(holds(said, term) for term in group)]


@pytest.mark.parametrize("name", NAMES)
def test_the_right_mechanism_touches_every_group_and_a_close_one_does_not(name: str):
    """The record's own words pass for every pair of values; a near diagnosis misses a group."""
    fault = fault_named(name)
    for old, new in fault.values:
        assert not _missing(fault, _filled(fault, fault.mechanism, old, new))
    assert _missing(fault, WRONG[name])


@pytest.mark.parametrize("name", OWNED)
def test_what_the_tools_show_is_enough_to_say_it(name: str):
    """The seat's first line and the field's value touch every group: no word must be guessed."""
    fault = fault_named(name)
    for old, new in fault.values:
        line = _filled(fault, fault.logs[0], old, new)
        assert not _missing(fault, f"{line}; {fault.field_in('snake')} = {new}")


@pytest.mark.parametrize("name", NAMES)
def test_no_record_passes_for_another(name: str):
    """No other record's mechanism satisfies the terms, and neither does the bare domain."""
    fault = fault_named(name)
    domain = words(fault.domain)
    assert not [group for group in fault.terms if any(holds(domain, term) for term in group)]
    for other in NAMES:
        told = fault_named(other)
        old, new = told.values[0]
        if other != name:
            assert _missing(fault, _filled(told, told.mechanism, old, new)), other


def test_every_record_is_its_own():
    """Fields, gauges and log lines are not shared between records."""
    found = [fault_named(name) for name in NAMES]
    assert len({(fault.holder_kind, fault.field) for fault in found if fault.field}) == len(OWNED)
    assert len({fault.gauge.name for fault in found}) == len(found)
    lines = [line for fault in found for line in fault.logs]
    assert len(set(lines)) == len(lines)


@cache
def _bound(name: str) -> Plot:
    """A small plot of the record, in the first estate that has a place for it."""
    fault = fault_named(name)
    kind = {"change": "trap", "none": "no_change"}.get(fault.cause, "no_fault")
    traps = ("latent_cause", "onset_decoy") if fault.cause == "change" else ("onset_decoy",)
    last: SpecError | None = None
    for archetype in ("saas", "fleet"):
        for seed in range(4):
            knobs = {"archetype": archetype, "scale": 0.3, "events": 300}
            spec = small_spec(name, seed, kind=kind, traps=traps, knobs=knobs)
            try:
                return plot_of(spec)
            except SpecError as error:
                last = error
    raise AssertionError(f"{name} finds no place: {last}")


def _made(name: str, variant: str = "") -> Generated:
    plot = _bound(name)
    spec = replace(small_spec(name, plot.seed), kind=plot.kind, knobs=plot.knobs)
    return assemble(spec, plot, variant=variant, lean=True)


def _failing(made: Generated, entity: str, until: int) -> float:
    """Percent of failing calls over the two minutes that end at ``until``."""
    columns, block = made.tables.columns["metric_series"], made.tables.metrics[-1]
    of = {
        (owner, metric): own
        for own, owner, metric in zip(
            columns["id"], columns["entity_id"], columns["name"], strict=True
        )
    }
    row = list(block.series_ids).index(of[(entity, "error_share")])
    end = (until - block.t0) // (block.step_s * 1_000_000) + 1
    return float(np.nanmedian(block.values[row, end - 4 : end]))


def _lines_of(made: Generated, entity: str, since: int) -> set[str]:
    return {
        text
        for block in made.tables.logs
        if int(block.ts.min()) >= since
        for text, owner in zip(block.templates, block.template_entity, strict=True)
        if owner == entity
    }


@pytest.mark.parametrize("name", NAMES)
def test_the_victim_fails_for_this_reason_alone(name: str):
    """The alerted service fails where it should, and is well in the twin without the cause."""
    plot, made = _bound(name), _made(name)
    victim = plot.land.ground.id(plot.binding.victim)
    cause = fault_named(name).cause
    fails = _failing(made, victim, plot.ended) > HEALTHY_BELOW
    assert fails == (cause != "false_alarm")
    without = _made(name, "no_cause")
    assert _failing(without, victim, plot.ended) < HEALTHY_BELOW
    if cause == "recovered":
        assert _failing(made, victim, plot.now) < HEALTHY_BELOW
    if cause == "change":
        truth = made.truth
        assert truth.culprit_entity == plot.land.ground.id(plot.binding.holder)
        assert truth.culprit_change
        seat = plot.land.ground.id(plot.binding.seat)
        assert _lines_of(made, seat, plot.onset) - _lines_of(without, seat, plot.onset)
    else:
        assert not made.truth.accepted_changes


@pytest.mark.parametrize("name", SCOPED)
def test_members_of_a_scope_are_told_from_the_others(name: str):
    """Members hold the telling value and say the mechanism; the spared hold the other and do not."""
    plot, made, scope = _bound(name), _made(name), fault_named(name).scope
    assert scope is not None
    ground = plot.land.ground
    reached, spared = members(plot)
    assert reached
    assert spared
    facts = {
        (owner, field): json.loads(value)
        for owner, field, value in zip(
            *(
                made.tables.columns["fact"][column]
                for column in ("entity_id", "field", "value_json")
            ),
            strict=True,
        )
    }
    for group, value, speaks in ((reached, scope.inside, True), (spared, scope.outside, False)):
        for own in map(ground.id, group):
            assert facts[(own, scope.field)] == value
            assert bool(_lines_of(made, own, plot.onset)) is speaks
            assert (own in made.truth.affected) is speaks
            assert (own in made.truth.unaffected) is not speaks


def test_a_retirement_was_announced_days_before():
    """The provider's notice about the store lies more than a week before the alert."""
    plot, made = _bound("retired_host"), _made("retired_host")
    events = made.tables.columns["change_event"]
    told = [
        ts for ts, summary in zip(events["ts"], events["summary"], strict=True)
        if "scheduled for retirement" in summary
    ]  # fmt: skip
    assert len(told) == 1
    assert 8 * DAY < plot.now - told[0] < 10 * DAY
    assert not any(
        "scheduled for retirement" in summary
        for summary in _made("retired_host", "no_cause").tables.columns["change_event"]["summary"]
    )


def test_a_record_that_cannot_be_written_says_so():
    """The record's state turns at onset, and stays as it was in the twin without the cause."""
    states = []
    for variant in ("", "no_cause"):
        diff = _made("record_weight", variant).tables.columns["change_diff"]
        states.append(
            [
                (old, new)
                for field, old, new in zip(
                    diff["field"], diff["old_json"], diff["new_json"], strict=True
                )
                if field == "sync" and new == '"stale"'
            ]
        )
    assert states[0] == [('"current"', '"stale"')]
    assert states[1] == []


def test_tempting_answers_are_near_misses():
    """What a record names as near is refused, and never one of the accepted entities."""
    made = _made("replica_reads")
    ground, seat = _bound("replica_reads").land.ground, _bound("replica_reads").binding.seat
    stores = {ground.id(one) for one in ground.follow(seat, "reads_writes>DbInstance")}
    near = {miss.entity for miss in made.truth.near_misses if not miss.change}
    assert near & stores
    assert not near & set(made.truth.accepted_entities)
