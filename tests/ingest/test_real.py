"""Real manifests, where they are at hand; they are never part of the project."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.graph.conformance import ask, check_conformance
from tests.ingest.manifests import written
from tests.real import real

from heldout.graph import WorldInterface
from heldout.ingest.kubernetes import Imported, read, topology

NOW = 1_772_625_600_000_000
pytestmark = pytest.mark.real


def findings(imported: Imported, folder: Path) -> list[str]:
    """Health findings of an import."""
    written(imported, folder / "w", NOW)
    rows = ask(WorldInterface().open(str(folder / "w"), 1), "check_health")["rows"]
    return [f"{row['check']} {row['entity_name']}" for row in rows]


def test_a_public_demo_shop_is_healthy_and_connected(tmp_path: Path):
    """Twelve Deployments with their Services, sixteen declared calls, no finding."""
    imported = read(real("kubernetes", "microservices-demo/release"))
    assert imported.report.kinds["Deployment"] == imported.report.kinds["Service"] == 12
    found = topology(imported)
    names = {one.id: one.name for one in found.entities}
    calls = {(names[e.src], names[e.dst]) for e in found.edges if e.predicate == "calls"}
    assert len(calls) == 16
    assert ("checkoutservice", "productcatalogservice") in calls
    assert findings(imported, tmp_path) == []
    check_conformance(tmp_path / "w")


def test_go_templates_are_skipped_by_file():
    """Nine files hold template expressions; the other nine are read or hold no object."""
    outcomes = read(real("kubernetes", "flux-templated")).report.outcomes()
    assert outcomes["templated, skipped"] == 9
    assert sum(outcomes.values()) == 18


@pytest.mark.parametrize(
    ("folder", "objects"),
    [
        ("typed-lists", 128),
        ("support-bundle", 42),
        ("k9s", 34),
        ("kube-prometheus", 81),
        ("fault-demos", 44),
    ],
)
def test_dumps_of_many_shapes_give_their_objects(folder: str, objects: int):
    """Typed lists, items without kind, bare live objects: the counts are those of the sources."""
    report = read(real("kubernetes", folder)).report
    assert sum(report.kinds.values()) == objects
    assert report.outcomes() == {"read": len(report.files)}


@pytest.mark.parametrize(
    "folder", ["kube-prometheus", "argocd/core-health", "insights-archive", "k9s"]
)
def test_real_objects_raise_no_false_alarm(tmp_path: Path, folder: str):
    """No check fires on manifests and dumps that are known to be in order."""
    assert findings(read(real("kubernetes", folder)), tmp_path) == []
