"""A running image leads to the commit and pull request that it was built from, where one alone fits."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.graph import read_tables
from heldout.ingest.draft import WorldDraft
from heldout.ingest.images import join_images
from heldout.ingest.importer import ImportOptions
from heldout.pipeline.ingesting import Ingest, ingest

SHA = "3f2c1ab9d0e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8"
OTHER = "3f2c1abaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"


def joined(image: str, *commits: str, labels: dict[str, str] | None = None) -> Any:
    """The commit that is found for a workload's image."""
    with WorldDraft() as draft:
        shop = draft.entity("Deployment", "c/shop/web", facts={"image": image, "labels": labels})
        for commit in commits:
            draft.change(
                commit, 1, "deploy", source="git", summary=commit[:7], commit=commit,
                repo="acme/web", pr="#812",
            )  # fmt: skip
        join_images(draft)
        return draft.value(shop, "image_commit")


@pytest.mark.parametrize(
    ("image", "commits", "found"),
    [
        (f"registry/web:{SHA}", [SHA], SHA),
        (f"registry/web:{SHA[:7]}", [SHA], SHA),
        (f"registry:5000/web:main-{SHA[:10]}-20260310", [SHA], SHA),
        (f"registry/web:v2@sha256:{SHA}{SHA[:24]}", [SHA], None),
        (f"registry/web:{SHA[:7]}", [SHA, OTHER], None),
        (f"registry/web:{SHA[:8]}", [SHA, OTHER], SHA),
        (f"registry/web:{SHA[:6]}", [SHA], None),
        ("registry/web:1.4.2", [SHA], None),
        (f"{SHA[:7]}/web", [SHA], None),
        (f"registry/web:x{SHA[:7]}", [SHA], None),
    ],
)
def test_a_tag_that_is_one_commit_alone_joins(image: str, commits: list[str], found: str | None):
    """Whole or short, also within a tag; a digest, two candidates and other words do not."""
    assert joined(image, *commits) == found


def test_a_label_joins_and_a_contradiction_does_not():
    """The image's revision as a label counts; where tag and label differ nothing is said."""
    label = {"org.opencontainers.image.revision": SHA}
    assert joined("registry/web:1.4", SHA, labels=label) == SHA
    assert joined(f"registry/web:{OTHER[:9]}", SHA, OTHER, labels=label) is None


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_image_is_read_or_left(image: str):
    """Hostile text ends nothing."""
    assert joined(image, SHA) in (None, SHA)


def test_whichever_is_imported_first(tmp_path: Path):
    """Objects then commits, or commits then objects: the same facts, and the repository behind them."""
    repo = tmp_path / "web"
    repo.mkdir()
    (repo / "app.py").write_text("print(1)\n")

    def git(*words: str) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", *words]
        return subprocess.run(command, cwd=repo, check=True, capture_output=True, text=True).stdout

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "Serve pages (#812)")
    commit = git("rev-parse", "HEAD").strip()
    objects = tmp_path / "objects.json"
    web = {"containers": [{"name": "web", "image": f"registry.example.com/web:{commit[:12]}"}]}
    objects.write_text(json.dumps({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"template": {"metadata": {"labels": {"app": "web"}}, "spec": web}},
    }))  # fmt: skip
    found = []
    for order in (("kubernetes", "changes"), ("changes", "kubernetes")):
        world = tmp_path / order[0]
        for kind in order:
            path = objects if kind == "kubernetes" else repo
            ingest(Ingest(kind, path, str(world), "", False), ImportOptions(cluster="c"))
        rows = read_tables(world, {"fact": ("field", "value_json"), "edge": ("pred",)})
        facts = {row["field"]: json.loads(row["value_json"]) for row in rows["fact"]}
        found.append((facts["image_commit"], facts["image_pull_request"]))
        assert "built_from" in {row["pred"] for row in rows["edge"]}
    assert found[0] == found[1]
    assert found[0][0] == commit
    assert "812" in found[0][1]
