"""Every fault finds a place, leaves its evidence, is told apart, and says where it comes from."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from tests.simulate.small import FLEET, small_spec

import heldout.simulate.faults
from heldout.build.validity import Subject, findings, points
from heldout.build.validity.p10_leaks import WORDS
from heldout.errors import SpecError
from heldout.judge.words import holds, words
from heldout.simulate import generate
from heldout.simulate.catalog import fields_of
from heldout.simulate.fault import Fault, fault_named, faults
from heldout.simulate.knobs import checked
from heldout.simulate.plot import Plot
from heldout.simulate.scope import members
from heldout.simulate.spread import spread
from heldout.simulate.symptoms import filled
from heldout.simulate.trap import trap_named, traps
from heldout.simulate.world import plot_of

NAMES = sorted(faults())
CHANGES = sorted(name for name, fault in faults().items() if fault.cause == "change")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "faults.md"
SHARED = ("image",)
"""Fields that several records hold: releases break in many ways."""

RECIPES = {
    "1 secrets rotation": ("LikeLionTeam4/slash-infra #80", "SREGym #822"),
    "2 registry credentials": ("cloud-platform 2023-01-11",),
    "3 policy attachment": ("terraform-provider-aws #2014", "terraform #5483"),
    "4 network rules": ("terraform-provider-aws #66", "PR #4726"),
    "5 routes": ("cloud-platform 2024-09-20",),
    "6 wrong target": ("cloud-platform 2021-07-12", "2022-03-10"),
    "7 host records": ("cloud-platform 2022-01-22",),
    "8 resolver": ("coredns #7212",),
    "9 exemption label": ("cloud-platform 2020-02-25",),
    "10 admission webhook": (
        "SREGym PR #758", "openshift/addon-operator PR #717", "cozystack #3125",
    ),
    "11 cluster roles": ("openshift/certman-operator PR #510", "lightspeed-operator PR #1976"),
    "12 token expiry": (
        "kubeflow #6484", "cloudability/metrics-agent #193", "kube-schedule-scaler PR #8",
    ),
    "13 unread renewal": ("deployKF #255", "harbor-operator #981", "redpanda #9976"),
    "14 quota": ("SREGym #880", "cloud-platform-environments PR #1437"),
    "15 cloud limit": ("cloud-platform 2020-10-06",),
    "16 node image": ("amazon-eks-ami #1866", "bottlerocket #4551"),
    "17 node disk": ("cloud-platform 2023-09-18",),
    "18 hardware": ("cloud-platform 2022-11-15",),
    "19 balancer zone": ("cloud-platform 2022-07-11",),
    "20 pod addressing": (
        "cloud-platform 2023-07-21", "amazon-vpc-cni-k8s #1634", "#2045",
    ),
    "21 packet size": ("terraform-hcloud-kubernetes #450",),
    "22 declared replicas": ("open-bank-oss PR #273",),
    "23 migration lock": ("treg PR #129", "hypothesis/h #8018", "cloud PR #5040"),
    "24 cache": ("across-protocol/sdk PR #1470",),
    "25 flags": ("inngest/website PR #1790",),
    "26 queue": ("confluentinc/kafka-rest PR #155", "PostHog PR #54411"),
    "C1 schema": ("scaleapi/llm-engine PR #817",),
    "C2 request filter": ("cloud-platform 2026-03-30",),
    "C3 rule volume": ("prometheus-operator #4832",),
    "C4 federation": ("mybinder 2022-01-27",),
    "C5 storage lock": ("mybinder 2018-03-13",),
}  # fmt: skip
"""The public reports that the library is modelled on, each by every key it is cited with."""

WRONG = {
    "client_deadline": "the liveness probe's timeout was cut, containers are restarted",
    "egress_policy": "the security group of the store lost the rule for the data port",
    "evict_any": "the cache was restarted and is cold, every key is read from the store",
    "exempt_label": "the namespace quota refused new pods with FailedCreate",
    "flag_exposure": "the release is slow for some accounts since the import began",
    "flag_fallback": "the flag was opened to 60 percent and the new path is saturated",
    "heap_share": "the container's memory limit is too low and it is killed for memory",
    "image_chatty": "the database is slow since the release and queries time out",
    "image_leak": "the memory limit of the container was lowered below its working set",
    "image_rollout": "the release leaks memory and its pods are killed",
    "issuer_switch": "the certificate expired because its renewal was never loaded",
    "link_mtu": "a network policy drops connections between sites, dials time out",
    "local_traffic": "the service has no ready endpoint because its selector matches nothing",
    "lookup_dots": "pods bypass the cluster's DNS, internal names cannot be resolved",
    "memory_ceiling": "the namespace quota on memory refuses new replicas",
    "memory_quota": "the autoscaler's ceiling is lower than the peak needs",
    "node_image": "the heap was raised to 92 percent of the container",
    "node_selector": "nodes are full and pods wait for capacity",
    "oversized_record": "the topic's retention is shorter than the readers' pause",
    "overlapping_runs": "a schema migration waits for an exclusive lock and stalls everybody",
    "policy_detach": "the cluster role lost verbs, reads are forbidden",
    "pool_ceiling": "the database refuses sessions because max_connections is too low",
    "prefix_lost": "the subnet of the nodes is full, its network is too small for more nodes",
    "probe_timeout": "the http client gives up after a timeout that is too short",
    "provider_outage": "our calls to the provider are refused with 429, the plan is used up",
    "rate_cap": "traffic rose beyond what the replicas can serve and is shed",
    "registry_login": "the registry limits pulls, image pulls end in 429",
    "renamed_key": "the password was rotated and pods hold the old one",
    "replica_ceiling": "the autoscaler cannot read its metric and does not scale",
    "resolver_policy": "lookups are multiplied by search domains, ndots is too high",
    "retention_cut": "readers stopped at a record that is larger than they may fetch",
    "role_narrowed": "a policy was detached from the cloud role, operations are denied",
    "root_disk": "the volume of the claim is held by another replica and cannot be attached",
    "rotated_secret": "a key of the secret was renamed, containers cannot be created",
    "rule_revoked": "the network policy's egress list lost the data tier",
    "scaling_metric": "the autoscaler's maximum was lowered to 4 replicas",
    "second_shard": "the last edit of the rules has a syntax error",
    "self_heal": "the autoscaler's ceiling was lowered, it cannot scale out",
    "spare_priority": "the memory limit was lowered and containers are killed for memory",
    "static_parameter": "the client's connection pool is exhausted",
    "token_age": "the service account lost its role, calls are forbidden with 403",
    "unread_renewal": "the certificate's issuer was switched and callers do not trust it",
    "volume_lock": "the disk is full, writes end with no space left on the device",
    "webhook_closed": "the namespace is no longer exempt from the policy and pods are denied",
    "worker_count": "the connection pool is too small, requests wait for a connection",
}  # fmt: skip
"""For records of cluster, identity, delivery and nodes, a diagnosis that is close and wrong."""


def plain(value: object) -> str:
    """A value as logs print it."""
    if isinstance(value, bool):
        return str(value).lower()
    return "[" + ",".join(map(str, value)) + "]" if isinstance(value, list) else str(value)


def told(fault: Fault, text: str, pair: int = 0) -> str:
    """A sentence of the record with one of its pairs of values put in."""
    old, new = fault.values[pair]
    return filled(
        text,
        {
            "old": plain(old), "new": plain(new), "said": fault.said_in("snake"),
            "holder": "brixomere", "seat": "quolinor", "name": "tavridin", "0": "17", "1": "2400",
        },
    )  # fmt: skip


def missing(fault: Fault, text: str) -> list[tuple[str, ...]]:
    """The groups of terms that a diagnosis does not touch, read as the judge reads it."""
    said = words(text)
    return [group for group in fault.terms if not any(holds(said, term) for term in group)]


def mistaken(fault: Fault) -> list[str]:
    """Other records whose mechanism would pass for this one's."""
    return [
        name
        for name, other in faults().items()
        if name != fault.name and not missing(fault, told(other, other.mechanism))
    ]


@cache
def bound(name: str) -> Plot:
    """A small plot of the record, in the first estate that has a place for it."""
    fault = fault_named(name)
    kind = {"change": "trap", "none": "no_change"}.get(fault.cause, "no_fault")
    chosen = ("latent_cause", "onset_decoy") if fault.cause == "change" else ("onset_decoy",)
    last: SpecError | None = None
    for archetype in ("saas", "data", "multicloud", "fleet"):
        for seed in range(3):
            knobs = {"archetype": archetype, "scale": 0.3, "events": 300}
            try:
                return plot_of(small_spec(name, seed, kind=kind, traps=chosen, knobs=knobs))
            except SpecError as error:
                last = error
    raise AssertionError(f"{name} finds no place: {last}")


@pytest.mark.parametrize("name", NAMES)
def test_a_fault_finds_a_place_and_bites(name: str):
    """Each record binds in some archetype, and its biting value is not its healthy one."""
    plot, fault = bound(name), fault_named(name)
    assert plot.binding.fault is fault
    assert fault.cause != "change" or plot.binding.old != plot.binding.new
    if fault.scope is not None:
        assert all(members(plot))


@pytest.mark.parametrize("name", NAMES)
def test_without_the_edges_into_its_seat_nobody_else_fails(name: str):
    """Trouble spreads along dependency edges: cut, the victim and all others stay well."""
    plot, fault = bound(name), fault_named(name)
    ground, seat, path = plot.land.ground, plot.binding.seat, plot.binding.path
    if len(path) < 2:
        return
    assert path[0] in spread(ground, seat, path, carries=fault.carries)
    cut = frozenset((above, seat) for _, above in ground.into(seat))
    assert set(spread(ground, seat, path, cut=cut, carries=fault.carries)) == {seat}


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_a_fault_can_be_walked_to_from_its_alert(name: str):
    """All points of the validity gate but size hold on a small world, for at least one seed."""
    last: list[str] = ["no place"]
    for seed in range(6):
        spec = small_spec(name, seed, knobs={"scale": 0.6})
        try:
            made = generate(spec)
        except SpecError:
            continue
        last = findings(Subject(spec, made))
        if not last:
            return
    pytest.fail(f"{name}: {last}")


@pytest.mark.parametrize("name", NAMES)
def test_the_right_mechanism_passes_and_no_other_does(name: str):
    """Its own words touch every group with every pair of values; no other record's words do."""
    fault = fault_named(name)
    for pair in range(len(fault.values)):
        assert not missing(fault, told(fault, fault.mechanism, pair))
    assert not mistaken(fault)


@pytest.mark.parametrize("name", CHANGES)
def test_the_first_line_and_the_field_say_the_mechanism(name: str):
    """What the tools show is enough to touch every group: no word must be guessed."""
    fault = fault_named(name)
    for pair, (_, new) in enumerate(fault.values):
        line = told(fault, fault.logs[0], pair)
        assert not missing(fault, f"{line}; {fault.field_in('snake')} = {plain(new)}")


@pytest.mark.parametrize("name", sorted(WRONG))
def test_a_diagnosis_next_door_misses_a_group(name: str):
    """A related and wrong mechanism fails, and so do the domain's name and the bare symptom."""
    fault = fault_named(name)
    assert missing(fault, WRONG[name])
    assert missing(fault, "calls to the service failed with status 503 and timed out at the peak")
    domain = words(fault.domain)
    assert not [group for group in fault.terms if any(holds(domain, term) for term in group)]


def test_loose_terms_are_noticed():
    """With the thing that only it has taken out, a record passes for another one's mechanism."""
    heap = fault_named("heap_share")
    loose = replace(heap, terms=(("heap", "memory", "killed"), ("limit", "percent")))
    assert {"memory_ceiling", "node_image"} <= set(mistaken(loose))
    assert not missing(loose, WRONG["heap_share"])


def test_every_record_is_its_own():
    """No two records share a log line or a gauge, and only releases share a field."""
    known = list(faults().values())
    held = [(one.holder_kind, one.field) for one in known if one.field and one.field not in SHARED]
    lines = [line for one in known for line in one.logs]
    gauges = [one.gauge.name for one in known if one.gauge.name]
    assert len(held) == len(set(held))
    assert len(lines) == len(set(lines))
    assert sorted(name for name in set(gauges) if gauges.count(name) > 1) in ([], ["queue_depth"])


@pytest.mark.parametrize("name", NAMES)
def test_no_sentence_of_a_world_speaks_of_its_making(name: str):
    """Nothing that a world may show holds a word by which its making could be told."""
    fault = fault_named(name)
    shown = [*fault.logs, fault.trigger.summary, fault.gauge.name, fault.field_in("snake")]
    shown += [effect.summary for effect in fault.effects]
    shown += [f"{field} {healthy} {biting}" for field, healthy, biting in fault.also]
    shown += [plain(value) for pair in fault.values for value in pair]
    assert not [text for text in shown if WORDS.search(text)]
    assert WORDS.search(f"{fault.logs[0]} (injected)")


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_every_public_report_is_expressed_by_a_record(recipe: str):
    """Each of the reports is cited by some record, with each of its keys."""
    cited = [fault.source for fault in faults().values()]
    assert [key for key in RECIPES[recipe] if not any(key in one for one in cited)] == []


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The fault that the docs show, in the registry for one test."""
    found = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    (tmp_path / "upload_ceiling.py").write_text(found.group(1), encoding="utf-8")
    package = heldout.simulate.faults
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    faults.cache_clear()
    fields_of.cache_clear()
    yield found.group(1)
    monkeypatch.undo()
    sys.modules.pop("heldout.simulate.faults.upload_ceiling", None)
    faults.cache_clear()
    fields_of.cache_clear()


def test_the_fault_of_the_docs_is_short_and_works(added: str):
    """Under 60 lines make a record that binds, bites, is told apart and passes the gate."""
    assert added.count("\n") < 60
    fault = fault_named("upload_ceiling")
    assert not missing(fault, told(fault, fault.mechanism))
    assert not mistaken(fault)
    assert any(spec.field == fault.field for spec in fields_of("ConfigMap"))
    for seed in range(6):
        spec = small_spec("upload_ceiling", seed, knobs={"scale": 0.6})
        made = generate(spec)
        assert "upload" in made.truth.mechanism
        if not findings(Subject(spec, made)):
            return
    pytest.fail("no seed of six passes the gate")


def test_there_are_forty_changes_of_ten_domains_with_sources():
    """Families come from at least ten domains, and each fault cites a public report."""
    known = faults().values()
    assert len(CHANGES) >= 40
    assert len({fault.domain for fault in known}) >= 10
    assert all(fault.source.startswith("public:") for fault in known)
    assert all(fault.terms and all(group for group in fault.terms) for fault in known)


def test_the_traps_of_the_article_are_there():
    """The four stacked traps, and the composer that prices over-correction."""
    assert set(traps()) >= {"latent_cause", "onset_decoy", "partial_fleet", "change_noise"}
    assert traps()["partial_fleet"].siblings


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (lambda: fault_named("pool_ceilin"), "pool_ceiling"),
        (lambda: trap_named("latent"), "latent_cause"),
        (lambda: checked({"latency": 3}), "latency_days"),
        (lambda: checked({"hops": 9}), "0 to 4"),
        (lambda: checked({"hops": "two"}), "0 to 4"),
        (lambda: checked({"archetype": "mainframe"}), "saas"),
        (lambda: generate(small_spec(traps=FLEET)), "archetype"),
        (lambda: generate(small_spec(), variant="other"), "other_cause"),
        (lambda: generate(small_spec("partner_plan", traps=FLEET,
                                     knobs={"archetype": "fleet"})), "siblings"),
    ],
)  # fmt: skip
def test_a_bad_spec_names_what_to_change(broken: object, says: str):
    """Unknown faults, traps, knobs, values and bindings are SpecErrors with a way out."""
    with pytest.raises(SpecError, match=says):
        broken()  # type: ignore[operator]


def test_a_field_is_spelled_in_the_organisations_style():
    """Words in braces take a style; the rest of the path stays."""
    fault: Fault = fault_named("pool_ceiling")
    assert fault.field_in("upper") == "data.DB_POOL_MAX"
    assert fault.field_in("camel") == "data.dbPoolMax"
    assert fault.said_in("snake") == "db_pool_max"
    assert fault_named("memory_quota").holder_kind == "ResourceQuota"


def test_points_are_found_by_listing():
    """The validity gate is one file per point."""
    assert {"necessity", "innocence", "latency", "oracle", "alert", "leaks", "sizes"} <= set(
        points()
    )
