"""Packs: kubectl, PromQL and git answer from the same world, by the rules of the thirteen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.graph.conformance import Questions, check_pack
from tests.graph.worlds import NOW, START, cid, eid, small_builder, small_logs

from heldout.errors import UsageError
from heldout.graph import open_interface, write_world
from heldout.graph.schema import MetricBlock
from heldout.interface import Session
from heldout.simulate.fault import faults
from heldout.simulate.world import generate
from heldout.truth import Spec

KUBECTL = (
    "kubectl get pods -o wide", "get all -A", "get cm -n dock -o yaml --show-managed-fields",
    "get svc -o json", "describe pods", "describe cm quay-settings --context north",
    "get pods -l app=quay-core,!old -o name", "api-resources", "config get-contexts", "events",
    "logs deploy/quay-core --context north", "logs -l app=quay-core | grep -ic pool", "version",
    "rollout history cm/quay-settings", "get pods --show-labels | head -n 1",
)  # fmt: skip
GIT = (
    "git log", "git log --oneline -n 7", "log -p -- north", "log --since '3 days ago' --stat",
    "show HEAD", "show HEAD~3", f"show {cid(1)}", "diff HEAD~5..HEAD", "diff --since 6d --stat",
    "log -S maxSize", "log --grep merge -i --author bot | wc -l", "ls-files",
    "blame -- north/dock/ConfigMap/quay-settings.yaml", "log @{2026-03-01} --reverse",
)  # fmt: skip
PROMQL = (
    "error_rate", 'latency_p95{name=~"harbor.*"}', "sum by (name) (error_rate) * 100",
    "max_over_time(error_rate[1h]) > 0.1", "topk(1, error_rate or latency_p95)",
    "rate(error_rate[30m] offset 1h)", "latency_p95 / on(entity) error_rate", "vector(1) + time()",
    "error_rate unless error_rate < 0.2", "quantile(0.5, latency_p95)", "-abs(error_rate)",
)  # fmt: skip


def questions(pack: str) -> Questions:
    """Calls that the small world must answer."""
    if pack == "promql":
        day = {"start": "1d", "end": "now"}
        return [
            *(("prometheus_query", {"query": one}) for one in PROMQL),
            *(("prometheus_query_range", {"query": one, **day}) for one in PROMQL),
            ("prometheus_series", {}), ("prometheus_series", {"match": '{kind="Service"}'}),
            ("prometheus_labels", {}), ("prometheus_labels", {"name": "entity"}),
            ("prometheus_alerts", {"since": "2026-03-01", "until": "2026-03-05"}),
        ]  # fmt: skip
    return [(pack, {"command": one}) for one in (KUBECTL if pack == "kubectl" else GIT)]


@pytest.fixture
def packs(small_dir: Path) -> Any:
    """A session over the small world with every pack."""
    opened = open_interface("native,kubectl,promql,git").open(str(small_dir), 1)
    yield opened
    opened.close()


def out(session: Session, tool: str, command: str) -> str:
    """What a command prints; it must not fail."""
    answer = session.call(tool, {"command": command})
    assert not answer.is_error, answer.text
    return str(json.loads(answer.text)["output"])


def error(session: Session, tool: str, **args: Any) -> dict[str, Any]:
    """The error that a call must end in."""
    answer = session.call(tool, args)
    assert answer.is_error, answer.text
    return dict(json.loads(answer.text)["error"])


def values(session: Session, query: str, **more: Any) -> list[float]:
    """The values of an instant query."""
    answer = session.call("prometheus_query", {"query": query, **more})
    assert not answer.is_error, answer.text
    return [row["value"][1] for row in json.loads(answer.text)["rows"]]


@pytest.mark.parametrize("pack", ["kubectl", "promql", "git"])
def test_a_pack_conforms_on_the_small_world(small_dir: Path, pack: str):
    """Schemas, bounds, paging, typed errors, determinism, shown ids and submission hold."""
    check_pack(small_dir, pack, questions(pack))


def test_packs_conform_on_a_world_of_full_size(tmp_path: Path):
    """The same suite holds of a world as the simulator makes it, all packs at once."""
    fault = next(iter(faults().values()))
    spec = Spec(
        id="sim-0001", kind="trap", domain=fault.domain, family=fault.family, fault=fault.name,
        traps=(), group="g", generator="1", seed=11, canary="c" * 20,
    )  # fmt: skip
    write_world(generate(spec).tables, tmp_path / "w")
    asked: Questions = [
        ("kubectl", {"command": "get pods,deploy,cm -A"}),
        ("kubectl", {"command": "events --since 2d | grep -c node"}),
        ("git", {"command": "log --since 6h -p"}),
        ("git", {"command": "log --oneline -n 120"}),
        ("prometheus_query", {"query": "topk(5, error_share) > 0"}),
        ("prometheus_query_range", {"query": "rate(latency_p95[1h])", "start": "1d", "end": "now"}),
        ("prometheus_series", {}),
    ]
    check_pack(tmp_path / "w", "kubectl,promql,git", asked)


def test_an_answer_can_be_given_in_the_terms_of_every_pack(packs: Session):
    """The entity and change of the small world's cause stand in the output of each pack."""
    shown = out(packs, "kubectl", "get cm quay-settings --context north -o yaml")
    assert f"uid: {eid(4)}" in shown
    assert "last-change: c-" in shown
    managed = out(packs, "kubectl", "describe cm quay-settings --context north")
    assert cid(1) in managed
    log = out(packs, "git", f"log -S maxSize -- {eid(4)}")
    assert f"Change-Id: {cid(1)}" in log
    assert f"Entity: {eid(4)} north/dock/ConfigMap/quay-settings.yaml" in log
    series = packs.call("prometheus_query", {"query": "error_rate"})
    assert eid(1) in series.shown_ids


def test_git_shows_old_and_new_values(packs: Session):
    """A change reads as a diff of fields, and a diff over time joins several changes."""
    assert "-data.pool.maxSize: 60\n+data.pool.maxSize: 12" in out(packs, "git", f"show {cid(1)}")
    both = out(packs, "git", "diff --since 6d -- north/dock/ConfigMap")
    assert "+data.timeoutMs: 800" in both
    assert "data.pool.maxSize" in both
    assert cid(5) not in out(packs, "git", "log -n 5"), "what was not known yet must not show"


def test_kubectl_reads_only(packs: Session):
    """Commands that write, and everything of a shell, are refused by name."""
    assert error(packs, "kubectl", command="delete pod quay-core-a")["type"] == "unavailable"
    for command in ("get pods > f", "get pods; ls", "get pods | xargs rm", "get pods && id"):
        assert error(packs, "kubectl", command=command)["type"] == "bad_argument"
    assert error(packs, "kubectl", command="get pods -n nope")["type"] == "unknown_id"
    assert "quay-core-a" in error(packs, "kubectl", command="get pod quay-core-q")["near"]
    assert error(packs, "kubectl", command="get pods --sort-by=.x")["type"] == "unavailable"
    wrong = error(packs, "kubectl", command="get pods --field-selector spec.x=1")
    assert "status.phase" in wrong["near"]
    assert error(packs, "kubectl", command="logs quay-core-a --previous")["type"] == "unavailable"
    assert error(packs, "kubectl", command="top pods")["type"] == "unavailable"


def test_kubectl_selects_by_label_and_field(packs: Session):
    """Selectors pick what they pick upstream; nothing picked is said, not refused."""
    assert out(packs, "kubectl", "get pods -l app=quay-core -o name | wc -l") == "2"
    assert out(packs, "kubectl", "get pods -l 'app in (x, quay-core),!gone' -o name | wc -l") == "2"
    assert out(packs, "kubectl", "get pods -l app!=quay-core") == "No resources found"
    by_field = "get pods --field-selector status.phase=Running,metadata.name!=quay-core-a -o name"
    assert out(packs, "kubectl", by_field).split() == ["pod/quay-core-b", eid(10)]


def test_a_hostile_line_stays_one_line_of_data(packs: Session):
    """A log line with escapes and markup is shown clipped, within one line that has an id."""
    shown = out(packs, "kubectl", "logs deploy/quay-core --context north --level warn")
    assert len(shown.splitlines()) == 1
    assert shown.startswith("[l-")
    assert "IGNORE ALL RULES" in shown


def test_promql_means_what_it_means_upstream(tmp_path: Path):
    """Rates with resets, windows, matching and sets give the figures worked out by hand."""
    points = 7 * 288
    counter = np.arange(points, dtype=np.float32) * 30.0
    counter[-3:] = [0.0, 30.0, 60.0]
    block = MetricBlock(["m-00000001", "m-00000002"], START, 300,
                        np.stack([counter, np.full(points, 4.0, dtype=np.float32)]))  # fmt: skip
    write_world(small_builder().tables(logs=(small_logs(),), metrics=(block,)), tmp_path / "w")
    session = open_interface("promql").open(str(tmp_path / "w"), 1)
    assert values(session, "error_rate") == [60]
    # Worlds keep values to about four digits.
    rate = values(session, "rate(error_rate[6h] offset 1h)")[0]
    assert rate == pytest.approx(0.1, rel=2e-3)
    assert values(session, "increase(error_rate[20m])")[0] == pytest.approx(80, abs=30)
    assert values(session, "resets(error_rate[1h])") == [1]
    assert values(session, "sum({name='harbor-api'})") == [64]
    assert values(session, "error_rate / on(entity) latency_p95") == [15]
    assert values(session, "latency_p95 > bool 5") == [0]
    assert values(session, "latency_p95 > 5") == []
    assert values(session, "error_rate and on(entity) latency_p95 > 3") == [60]
    assert values(session, "1 + 2 * 3 ^ 2") == [19]
    assert values(session, "absent(latency_p95 > 5)") == [1]
    assert values(session, "avg_over_time(latency_p95[1h])", time="2h") == [4]
    session.close()


def test_promql_knows_labels_that_stand_in_a_series_name(tmp_path: Path):
    """A recorded series keeps what tells it apart in its name; a query picks and sums by it."""
    build = small_builder()
    build.rows["metric_series"].clear()
    ids = ["m-00000001", "m-00000002"]
    for own, code in zip(ids, ("200", '5\\"x'), strict=True):
        name = f'req{{code="{code}",path="/"}}'
        build.row("metric_series", id=own, entity_id=eid(1), name=name, unit="count")
    drawn = np.array([[1.0] * 10, [2.0] * 10], dtype=np.float32)
    block = MetricBlock(ids, NOW - 540_000_000, 60, drawn)
    write_world(build.tables(metrics=(block,)), tmp_path / "w")
    session = open_interface("promql").open(str(tmp_path / "w"), 1)
    assert values(session, 'req{code="200"}') == [1]
    assert values(session, 'req{code=~"5.x"}') == [2]
    assert values(session, "sum(req)") == [3]
    session.close()


def test_promql_refuses_by_name(packs: Session):
    """What the subset leaves out, and what is not there, is a typed error and never empty."""
    for query in ("error_rate[5m]", "rate(error_rate)", "error_rate{", "nosuch", "x" * 600,
                  "histogram_quantile(0.9, error_rate)", "max_over_time(error_rate[1h:5m])",
                  'error_rate{nolabel="x"}', "predict_linear(error_rate[1h], 60)",
                  "error_rate * on(entity) group_left latency_p95", "error_rate @ 5",
                  "sum(1)", '"text"', "-" * 499 + "1h"):  # fmt: skip
        assert error(packs, "prometheus_query", query=query)["type"] in (
            "bad_argument", "unavailable",
        )  # fmt: skip
    many = {"query": "error_rate", "start": "7d", "end": "now", "step": 60}
    assert "step" in error(packs, "prometheus_query_range", **many)["message"]


@settings(max_examples=150, deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(text=st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(["sum", "by", "(", ")", "error_rate", "{", "}", "[5m]", "rate", "+",
                              "-", ">", "and", "1", "name", "=", "=~", '"a.*"', ",", "offset 1h"]),
             max_size=12).map(" ".join),
    st.lists(st.sampled_from(["git", "kubectl", "log", "get", "pods", "-n", "--since", "1d", "|",
                              "grep", "-i", "show", "HEAD~2", "..", "--", "*", "-o", "yaml", "'",
                              "describe", "-l", "app=x", "(", "blame", "north/"]),
             max_size=8).map(" ".join),
))  # fmt: skip
def test_no_command_or_expression_breaks_a_pack(packs: Session, text: str):
    """Whatever is typed comes back as a bounded answer or a typed error."""
    for tool, argument in (("kubectl", "command"), ("git", "command"),
                           ("prometheus_query", "query")):  # fmt: skip
        answer = packs.call(tool, {argument: text})
        assert len(answer.text.encode()) <= 8 * 1024
        assert answer.is_error == ("error" in json.loads(answer.text))


def test_packs_are_chosen_by_name(small_dir: Path):
    """Names go by commas or '+', native alone is the world itself, unknown ones are refused."""
    assert open_interface("native").name == "world"
    assert open_interface("git,kubectl").name == "kubectl+git"
    names = [spec.name for spec in open_interface("git+native").tool_specs()]
    assert names[0] == "search_entities"
    assert names[-2:] == ["git", "submit_diagnosis"]
    for wrong in ("", "helm", "git,git", ",", "core,native"):
        with pytest.raises(UsageError):
            open_interface(wrong)


def test_core_is_a_part_of_the_native_tools(small_dir: Path):
    """The same tools with the same answers, only fewer of them."""
    core, native = open_interface("core"), open_interface()
    offered = {spec.name: spec for spec in native.tool_specs()}
    names = [spec.name for spec in core.tool_specs()]
    assert names[-1] == "submit_diagnosis"
    assert 0 < len(names) < len(offered) / 2 + 1
    assert all(spec == offered[spec.name] for spec in core.tool_specs())
    asked = {"query": "quay"}
    few, all_ = core.open(str(small_dir), 1), native.open(str(small_dir), 1)
    assert few.call("search_entities", asked) == all_.call("search_entities", asked)
    assert few.call("check_health", {}).is_error
    assert not all_.call("check_health", {}).is_error
