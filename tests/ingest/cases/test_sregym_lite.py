"""The lite suite: 21 faults as states whose cause stands in the channel that is said, and nowhere else."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.graph import read_tables
from heldout.ingest.cases.case import Recorded
from heldout.ingest.cases.sregym.apps import apps
from heldout.ingest.cases.sregym.cluster import leaves
from heldout.ingest.cases.sregym.estate import before, healthy
from heldout.ingest.cases.sregym.fault import TIERS, Fault, faults
from heldout.ingest.cases.sregym.naming import Naming
from heldout.ingest.cases.sregym.suite import NAMES, SregymLite
from heldout.ingest.importer import ImportOptions
from heldout.interface import Submission
from heldout.judge import judge_exact
from heldout.truth.truths import NONE

ALL = list(faults().values())
SIGNS = {
    "cronjob_sidecar": "fluent-bit-sidecar", "edge_request_filter": "WAF_RULE_REGEX",
    "network_policy_block": "deny-all-recommendation", "env_variable_shadowing": "localhost",
    "mutating_webhook": "gatekeeper-mutating-webhook-configuration",
    "finalizer_deadlock": "verbs[3]", "kafka_poison_pill": "cannot decode record",
    "internal_traffic_policy": "Local", "service_dns_resolution": "NXDOMAIN",
    "service_wrong_pod_selection": "service-route", "namespace_memory_limit": "memory-limit-quota",
    "secret_rotation": "updated Secret product-catalog-db-conn", "unschedulable_port": "extra-node",
    "readiness_probe": "readinessProbe", "duplicate_pvc": "jaeger-pvc",
    "admission_webhook_outage": "pod-policy-webhook", "wrong_dns_policy": "8.8.8.8",
    "wrong_service_selector": "current_service_name", "rolling_update": "maxUnavailable",
    "search_rate_retry": "rpc_attempts_per_request",
}  # fmt: skip
"""A word that only the cause brings into a world; the change is in every tier, as diffs are."""


@cache
def recorded(tier: str = "metrics", names: str = "verbatim") -> dict[str, Recorded]:
    """Every case of a variant by its fault."""
    suite = SregymLite(tier, names)  # type: ignore[arg-type]
    return {one.key.rpartition("/")[2]: one for one in suite.cases(Path(), ImportOptions())}


@cache
def world(tmp: Path, fault: str, tier: str, names: str = "verbatim") -> dict[str, str]:
    """What a world of a fault holds, as text: facts, changes, logs, series."""
    one = recorded(tier, names)[fault]
    place = tmp / f"{names}-{tier}-{fault.replace(' ', '-')}"
    one.draft.write(place, now=one.now)
    tables = read_tables(place, {
        "entity": ("name", "external_id"), "fact": ("field", "value_json", "valid_to"),
        "change_event": ("type", "summary"), "change_diff": ("field", "old_json", "new_json"),
        "log_template": ("template",), "metric_series": ("name",),
    })  # fmt: skip
    tables["fact"] = [row for row in tables["fact"] if row["valid_to"] > one.now]
    said = {name: json.dumps(rows, ensure_ascii=False) for name, rows in tables.items()}
    happened = [row for row in tables["change_event"] if ": " in row["summary"]]
    made = [row for row in tables["change_event"] if ": " not in row["summary"]]
    return {
        "graph": said["entity"] + said["fact"], "change": said["change_diff"] + json.dumps(made),
        "logs": said["log_template"] + json.dumps(happened), "metrics": said["metric_series"],
    }  # fmt: skip


@pytest.fixture(scope="module")
def tmp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where worlds are written."""
    return tmp_path_factory.mktemp("lite")


def test_the_list_is_whole():
    """21 faults in the order of the list, over three applications, each with a healthy twin."""
    assert [one.number for one in ALL] == list(range(1, 22))
    assert {one.app for one in ALL} == set(apps())
    assert [len(apps()[app].services) for app in sorted(apps())] == [22, 19, 27]
    kinds = [one.kind for one in recorded().values()]
    assert (kinds.count("trap"), kinds.count("no_fault")) == (21, 3)


@pytest.mark.parametrize("fault", ALL, ids=lambda one: one.name)
def test_the_cause_stands_in_the_channel_that_is_said(tmp: Path, fault: Fault):
    """What names the cause is there from the said channel on, and in no channel before it."""
    if fault.channel == "none":
        assert fault.miss
        return
    sign = SIGNS[fault.name]
    full = world(tmp, fault.name, "metrics")
    order = ("graph", "change", "logs", "metrics")
    first = next(channel for channel in order if sign in full[channel])
    assert first == fault.channel
    twin = world(tmp, f"no fault {fault.app}", "metrics")
    assert not any(sign in text for text in twin.values())


@pytest.mark.parametrize("fault", ALL, ids=lambda one: one.name)
def test_a_tier_holds_what_was_captured_and_no_more(tmp: Path, fault: Fault):
    """Without logs neither lines nor events, without series none; objects and changes are the same."""
    texts = [world(tmp, fault.name, tier) for tier in TIERS]
    assert [text["logs"] == "[][]" for text in texts] == [True, False, False]
    assert [text["metrics"] == "[]" for text in texts] == [True, True, False]
    assert texts[0]["change"] == texts[2]["change"]


COUNTS = {
    "env_variable_shadowing": 2, "edge_request_filter": 10, "mutating_webhook": 2,
    "internal_traffic_policy": 3, "service_wrong_pod_selection": 4, "unschedulable_port": 2,
    "readiness_probe": 5, "duplicate_pvc": 9, "wrong_dns_policy": 3, "wrong_service_selector": 1,
}  # fmt: skip
"""Leaf fields of existing objects that the public injectors change, counted on rendered manifests."""


@pytest.mark.parametrize("name", COUNTS)
def test_a_fault_changes_as_many_fields_as_its_injector(name: str):
    """Field by field over objects that were there before."""
    fault = faults()[name]
    cluster = healthy(apps()[fault.app])
    before(cluster)
    known = len(cluster.changes)
    fault.inject(cluster)
    there = healthy(apps()[fault.app]).objects
    fields = [
        (one.object, path)
        for one in cluster.changes[known:]
        if one.object in there
        for path in one.fields()
    ]
    assert len(fields) == COUNTS[name]


def test_a_deletion_that_waits_for_a_finalizer_is_told_as_one():
    """It sets a time on the object; one that takes effect at once has no field to tell."""
    cluster = healthy(apps()["hotel-reservation"])
    faults()["finalizer_deadlock"].inject(cluster)
    (held,) = [one for one in cluster.changes if one.summary.startswith("deleted ConfigMap")]
    assert list(held.fields()) == ["metadata.deletionTimestamp"]
    faults()["namespace_memory_limit"].inject(cluster)
    (gone,) = [one for one in cluster.changes if one.summary.startswith("deleted ReplicaSet")]
    assert gone.fields() == {}


@pytest.mark.parametrize("names", NAMES)
def test_the_truth_is_right_in_its_own_words_and_wrong_in_others(names: str):
    """The reference answer passes; another fault's, and the healthy state's, do not."""
    cases = recorded("metrics", names)
    for name, one in cases.items():
        if one.kind != "trap":
            continue
        said = answer(one, one.truth.mechanism)
        assert judge_exact(said, one.truth).result == "pass", name
        calm = answer(one, "nothing is wrong, no fault", NONE, NONE)
        assert judge_exact(calm, one.truth).result == "fail"
        for change in set(one.draft.changes().values()) - set(one.truth.accepted_changes):
            wrong = answer(one, one.truth.mechanism, change=change)
            assert judge_exact(wrong, one.truth).result == "fail"
    twin = cases["no fault astronomy-shop"]
    assert judge_exact(answer(twin, "nothing is wrong", NONE, NONE), twin.truth).result == "pass"
    blamed = answer(twin, "nothing is wrong", "e-00000000", NONE)
    assert judge_exact(blamed, twin.truth).result == "fail"


def answer(one: Recorded, mechanism: str, entity: str = "", change: str = "") -> Submission:
    """A submission as an agent makes it."""
    blamed = next(iter(one.truth.accepted_changes), NONE)
    return Submission(
        root_cause_entity=entity or one.truth.culprit_entity, root_cause_change=change or blamed,
        mechanism=mechanism, trigger="", affected=(), evidence_ids=(), ruled_out=(),
        unavailable_sources=(), recommended_fix="",
    )  # fmt: skip


def test_the_renamed_variant_tells_no_name_of_the_suite(tmp: Path):
    """Neither a service that has another name nor a name that tells stands in any text or alert."""
    for fault in ALL:
        app = apps()[fault.app]
        own = {one.name for one in app.services.values() if "-" in one.name}
        told = {*own, *fault.telling, app.name}
        pattern = re.compile(
            "|".join(rf"(?<![a-z0-9]){re.escape(one)}(?![a-z0-9])" for one in told)
        )
        texts = world(tmp, fault.name, "metrics", "renamed")
        alert = recorded("metrics", "renamed")[fault.name].alert
        assert [found for text in (*texts.values(), alert) for found in pattern.findall(text)] == []
        verbatim = world(tmp, fault.name, "metrics")
        assert pattern.search(verbatim["graph"])


def test_alerts_are_one_template_that_tells_nothing_of_the_fault():
    """Faults of one application, and its healthy state, begin with the same words."""
    by_app: dict[str, set[str]] = {}
    for one in recorded().values():
        name = one.key.rpartition("/")[2]
        app = faults()[name].app if name in faults() else name.removeprefix("no fault ")
        by_app.setdefault(app, set()).add(one.alert)
    assert [len(alerts) for alerts in by_app.values()] == [1, 1, 1]
    alerted = {
        one.key: one.alert for one in SregymLite(alerted=True).cases(Path(), ImportOptions())
    }
    assert "PodSchedulingFailure" in alerted["verbatim/metrics/alerted/unschedulable_port"]


def test_the_cause_is_neither_the_newest_change_nor_alone_near_the_onset():
    """Others came minutes before and after it, in every case."""
    for one in recorded().values():
        rows = sorted(one.draft._changes.values(), key=lambda row: row["ts"])
        made = [row for row in rows if row["actor"] in ("platform-admin", "ci-deployer")]
        assert made[-1]["id"] not in one.truth.accepted_changes
        near = [row for row in made if abs(row["ts"] - made[-1]["ts"]) < 3600 * 10**6]
        assert len(near) >= 4


def test_the_same_suite_is_the_same_bytes_in_another_process(tmp_path: Path):
    """Digests are equal, whatever the hash seed."""
    import os
    import subprocess
    import sys

    script = (
        "from pathlib import Path; import sys, tempfile\n"
        "from heldout.ingest.cases.sregym.suite import SregymLite\n"
        "from heldout.ingest.importer import ImportOptions\n"
        "for n, one in enumerate(SregymLite(names='renamed').cases(Path(), ImportOptions())):\n"
        "    print(one.draft.write(Path(sys.argv[1]) / str(n), now=one.now))\n"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / seed)], check=True, capture_output=True,
            text=True, env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert said[0] == said[1]
    assert len(set(said[0].split())) == 24


@pytest.mark.parametrize("fault", ALL, ids=lambda one: one.name)
def test_a_fault_shows(fault: Fault):
    """An event, an error or another course of a series begins with it; a healthy state has none."""
    app = apps()[fault.app]
    cluster = healthy(app)
    before(cluster)
    assert (cluster.events, cluster.lines, cluster.effects) == ([], [], [])
    fault.inject(cluster)
    errors = [line for line in cluster.lines if line[2] != "INFO"]
    assert cluster.events or errors or cluster.effects
    assert all(at >= 0 for at, *_ in errors)
    assert all(one.at >= 0 for one in (*cluster.events, *cluster.effects))


KEYS = st.text(st.characters(codec="ascii", categories=("L",)), min_size=1, max_size=4)
PLAIN = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


@settings(deadline=None)
@given(PLAIN)
def test_every_plain_value_is_one_leaf(value: Any):
    """No value is lost, and a path names one of them."""

    def count(one: Any) -> int:
        if isinstance(one, dict) and one:
            return sum(count(inner) for inner in one.values())
        return sum(count(inner) for inner in one) if isinstance(one, list) and one else 1

    assert len(leaves({"spec": value})) == count({"spec": value})


@settings(deadline=None)
@given(st.text(st.characters(codec="ascii"), max_size=40))
def test_names_that_are_not_named_stay(text: str):
    """An empty mapping changes nothing, and a word within a word is none."""
    assert Naming({}).text(text) == text
    assert Naming({"rate": "x"}).text("separate crates RATE_LIMIT rate-1 rated") == (
        "separate crates X_LIMIT x-1 rated"
    )
