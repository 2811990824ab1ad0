"""Incidents on imported estates."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.simulate.small import small_spec

from heldout.build.validity import Subject, findings
from heldout.errors import SpecError
from heldout.graph import write_world
from heldout.graph.topology import Topology, TopologyEdge, TopologyEntity, TopologyFact
from heldout.simulate import graft


def estate(calls: bool = True) -> Topology:
    """Three services on their Deployments, as an importer would hand them over."""
    entities, edges, facts = [], [], []
    names = ("storefront", "basket", "pricing")
    for number, name in enumerate(names):
        service, deployment = f"e-0000000{number}", f"e-0000001{number}"
        entities += [
            TopologyEntity(service, "Service", name, f"Service/ns/{name}", "one"),
            TopologyEntity(deployment, "Deployment", name, f"Deployment/ns/{name}", "one"),
        ]
        edges.append(TopologyEdge(service, "runs_on", deployment))
        facts += [
            TopologyFact(deployment, "memory_limit", "300Mi"),
            TopologyFact(deployment, "memory_request", "180Mi"),
            TopologyFact(deployment, "cpu_limit", "200m"),
            TopologyFact(deployment, "image", f"registry/{name}:v1"),
        ]
        if number and calls:
            edges.append(TopologyEdge(f"e-0000000{number - 1}", "calls", service))
    return Topology(tuple(entities), tuple(edges), tuple(facts), name="shop")


def _spec():
    return replace(small_spec("memory_ceiling", knobs={"events": 300}), origin="overlay")


def test_an_imported_estate_keeps_its_entities_and_gets_an_incident(tmp_path: Path):
    """Ids, facts and edges stay; the fault takes the estate's own values; the gate is content."""
    made = graft(estate(), _spec())
    write_world(made.tables, tmp_path / "world")
    assert {f"e-0000000{n}" for n in range(3)} <= set(made.tables.columns["entity"]["id"])
    assert made.truth.culprit_field == "memory_limit"
    assert "from 300Mi to 180Mi" in made.truth.chain[0]
    assert findings(Subject(_spec(), made)) == []


def test_the_other_cause_twin_works_on_an_imported_estate():
    """Same alert, another cause."""
    base, twin = graft(estate(), _spec()), graft(estate(), _spec(), variant="other_cause")
    assert base.alert == twin.alert
    assert base.truth.culprit_change != twin.truth.culprit_change


def test_an_estate_without_calls_is_refused():
    """Negative control: nothing could lead from an alert to a cause."""
    with pytest.raises(SpecError, match="no service calls"):
        graft(estate(calls=False), _spec())
