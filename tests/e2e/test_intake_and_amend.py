"""Real material becomes an incident, and an amended proposal is gated and measured again."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from tests.e2e.conftest import heldout
from tests.real import real

from heldout.brain import load_brain
from heldout.split import read_split
from heldout.store import Ledger
from heldout.store.queries import proposals

ROOT = Path(__file__).resolve().parents[2]

SERVICE = """
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: shop, labels: {{app: {name}}}}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      containers:
      - name: server
        image: registry.example.com/{name}:1.4.2
        env: [{env}]
        resources: {{limits: {{memory: 256Mi}}, requests: {{memory: 128Mi}}}}
---
apiVersion: v1
kind: Service
metadata: {{name: {name}, namespace: shop}}
spec: {{selector: {{app: {name}}}, ports: [{{port: 80, targetPort: 8080}}]}}
---
"""


def manifests(folder: Path) -> Path:
    """Three services of our own that call each other, and a file that is a template."""
    folder.mkdir()
    chain = ("larkspur", "quillfeed", "mossgate")
    for name, target in zip(chain, (*chain[1:], ""), strict=True):
        env = f'{{name: {target.upper()}_ADDR, value: "{target}:80"}}' if target else ""
        (folder / f"{name}.yaml").write_text(SERVICE.format(name=name, env=env))
    (folder / "chart.yaml").write_text("kind: Deployment\nmetadata: {name: {{ .Values.x }}}\n")
    return folder


def graft(project: Path, source: Path) -> str:
    """Lay an incident over ``source``, play it once, and return what was said."""
    said = heldout(project, "ingest", "kubernetes", str(source), "--graft", "grafted",
                   "--side", "train").stdout  # fmt: skip
    assert "grafted incident" in said
    split = read_split(project / "datasets" / "grafted")
    assert (len(split.train), len(split.test)) == (1, 0)
    played = heldout(project, "run", "--set", "grafted", "--repeats", "1", "--quiet").stdout
    assert "of 1 incidents" in played
    assert "0 invalid" in played
    return said


def test_an_incident_is_grafted_onto_manifests(project: Path, tmp_path: Path):
    """Our own manifests are read, a template is skipped by name, and the incident can be played."""
    said = graft(project, manifests(tmp_path / "yaml"))
    assert "chart.yaml: templated, skipped" in said
    heldout(project, "build", "--set", "grafted", "--validate")


def test_a_grafted_world_can_be_made_again(project: Path, tmp_path: Path):
    """The topology is kept with the set: a lost world comes back byte for byte."""
    graft(project, manifests(tmp_path / "yaml"))
    shutil.rmtree(project / ".heldout" / "worlds")
    assert "1 valid incidents" in heldout(project, "build", "--set", "grafted").stdout


@pytest.mark.real
def test_an_incident_is_grafted_onto_a_public_demo(project: Path):
    """The microservices demo, as its authors wrote it, carries an incident too."""
    source = real("kubernetes", "microservices-demo", "release")
    assert "40 objects" in graft(project, source)


@pytest.mark.slow
def test_an_amended_proposal_is_gated_measured_and_replaces_the_old(project: Path):
    """A person's patch becomes a proposal of its own; a leaking one is refused and changes nothing."""
    tuned = heldout(project, "tune", "--repeats", "1", "--target", "base", "--quiet").stdout
    found = re.search(r"heldout review (p-\w+)", tuned)
    assert found, tuned
    old = found.group(1)
    who = ("--name", "kim", "--reason", "shorter")

    alert = next((project / "datasets" / "incidents" / "alerts").glob("*.md")).read_text()
    service = alert.split("Service: ")[1].splitlines()[0]
    patch = project / "amend.json"

    def write(text: str) -> None:
        op = {"file": "method.md", "action": "append", "text": text}
        patch.write_text(json.dumps({"ops": [op], "reason": "r"}))

    write(f"Start with {service}.")
    refused = heldout(project, "review", old, "--amend", "amend.json", *who, check=False)
    assert refused.returncode == 3, refused.stderr
    assert old in heldout(project, "review").stdout

    write("Say in one sentence how the change explains the failure.")
    before = load_brain(project / "brain").hash
    said = heldout(project, "review", old, "--amend", "amend.json", *who).stdout
    assert f"Amended {old} into p-" in said
    assert load_brain(project / "brain").hash == before
    with Ledger.open(project / ".heldout" / "ledger.duckdb", read_only=True) as ledger:
        waiting = proposals(ledger, waiting=True)
    assert [row.evidence["amends"] for row in waiting] == [old]
    assert "Say in one sentence" in waiting[0].diff
    new = waiting[0].proposal
    heldout(project, "review", new, "--accept", *who)
    assert "Say in one sentence" in (project / "brain" / "method.md").read_text()
