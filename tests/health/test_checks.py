"""Each check finds its fault in differently named clusters and is silent on what looks alike."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from tests.health.cases import CASES, Case
from tests.health.town import Town, findings, snapshot_of, topology_of
from tests.simulate.small import small_spec

from heldout.build.validity.p08_health import snapshot
from heldout.graph.health import check_health, registry
from heldout.graph.snapshot import Snapshot
from heldout.simulate import generate

SEEDS = (11, 23)
ALIKE = [(case, name) for case in CASES for name in case.alike]


@cache
def simulated(seed: int) -> Snapshot:
    """A healthy simulated world: that of an incident that did not happen."""
    return snapshot(generate(small_spec(seed=seed), variant="no_cause").tables)


def test_every_check_has_a_case_and_every_case_a_check():
    """No check is without its fault and its look-alikes."""
    assert sorted(case.check for case in CASES) == [check.name for check in registry()]
    assert all(case.alike for case in CASES)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_healthy_town_is_silent(tmp_path: Path, seed: int):
    """Nothing is found before anything is broken, alone or beside a simulated world."""
    assert findings(Town(seed), tmp_path) == []
    assert findings(Town(seed), tmp_path, simulated(seed)) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.check)
def test_a_fault_is_found_and_nothing_else(tmp_path: Path, case: Case):
    """The check fires in a town of its own and, confirmed, beside two simulated worlds."""
    for seed in SEEDS:
        town = Town(seed)
        case.fault(town)
        for beside in (None, simulated(seed)):
            found = findings(town, tmp_path, beside)
            assert {one.check for one in found} == {case.check}, found
            assert all(one.severity in ("critical", "warning") for one in found)
            assert all(one.text and one.fields for one in found)


@pytest.mark.parametrize(("case", "name"), ALIKE, ids=lambda one: getattr(one, "check", one))
def test_what_looks_alike_is_silent(tmp_path: Path, case: Case, name: str):
    """A legal state that differs from the fault in one thing raises nothing."""
    town = Town(SEEDS[0])
    change = case.alike[name]
    if not getattr(change, "from_healthy", False):
        case.fault(town)
    change(town)
    assert findings(town, tmp_path) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.check)
def test_a_field_that_nobody_recorded_silences(tmp_path: Path, case: Case):
    """A check whose fields are missing guesses nothing."""
    town = Town(SEEDS[0])
    case.fault(town)
    full = snapshot_of(topology_of(town, tmp_path))
    needs = next(check for check in registry() if check.name == case.check).needs
    for field in needs:
        facts = {
            one: {k: v for k, v in _raw(full, one).items() if k != field} for one in full.entities
        }
        entities, edges = [*full.entities.values()], full.edges
        less = Snapshot(entities, edges, lambda facts=facts: facts, full.now)  # type: ignore[misc]
        assert case.check not in {one.check for one in check_health(less)}, field


def _raw(full: Snapshot, entity: str) -> dict[str, str]:
    return {field: json.dumps(value) for field, value in full.facts(entity).items()}


ODD = (
    None, 7, "x", True, [], {}, [1, None], [[]], [[[], {}, 1]], {"a": [1]}, {"server": {"limits": 3}},
    {"server": {"limits": {"memory": []}, "requests": "x"}}, {"server": {"state": [], "x": 1}},
    [{}], [{"kind": [], "name": {}, "namespace": 3}],
    [{"kind": "Secret", "name": "a", "namespace": [], "key": [], "port": {}, "via": 3}],
    [{"kind": "K8sService", "name": "a", "via": [], "port": [], "optional": "x"}],
    [{"port": [], "name": {}, "targetPort": {}, "container": 3, "probe": []}],
    [{"values": 3, "variable": []}], [{"values": [{}, [], 1, {"secretKeyRef": []}]}],
    [{"matchExpressions": 3}], {"matchExpressions": 3},
    {"matchLabels": [], "matchExpressions": [{"key": [], "operator": "In", "values": 3}]}, [{"matchExpressions": [{"values": None}]}], [{"effect": "NoSchedule"}],
)  # fmt: skip
GENERAL = (
    "labels", "phase", "node", "namespace", "replicas", "ready_replicas", "ready", "type", "class",
    "pod_labels", "status", "hard", "storage_class", "subjects", "tolerations", "min_available",
    "max_unavailable", "internal_traffic_policy", "env.MODE", "data.mode",
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.check)
def test_facts_of_any_shape_never_raise(tmp_path: Path, case: Case):
    """Observed material may say anything; a check that does not understand it says nothing."""
    town = Town(SEEDS[0])
    case.fault(town)
    full = snapshot_of(topology_of(town, tmp_path))
    raw = {one: _raw(full, one) for one in full.entities}
    check = next(check for check in registry() if check.name == case.check)
    for field in {*check.needs, *GENERAL}:
        for shape in ODD:
            odd = {
                one: {**facts, field: json.dumps(shape)} if field in facts else facts
                for one, facts in raw.items()
            }
            state = Snapshot([*full.entities.values()], full.edges, lambda odd=odd: odd, full.now)  # type: ignore[misc]
            list(check.findings(state))
