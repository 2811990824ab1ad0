"""From a running image back to the commit and pull request that it was built from.

Images carry a commit's id as their tag, within it, or as a label of the workload. It joins where
exactly one commit that was imported begins with it; whichever of the two was imported first.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from heldout.graph.ontology import WORKLOADS
from heldout.ingest.draft import WorldDraft
from heldout.ingest.objects import mapping

_TAG = re.compile(r":([\w][\w.-]{0,127})(?:@sha256:[0-9a-f]+)?$")
_ID = re.compile(r"(?<![0-9a-z])[0-9a-f]{7,40}(?![0-9a-z])")
_LABELS = ("org.opencontainers.image.revision", "app.kubernetes.io/version", "git-commit", "commit")
CONFIDENCE = 0.9


def join_images(draft: WorldDraft) -> int:
    """Say of each workload and pod which commit its image is; how many were joined."""
    commits = {
        str(row["commit"]): (str(row["repo"]), str(row["pr"]))
        for row in draft.change_rows()
        if row["commit"]
    }
    ordered = sorted(commits)
    joined = 0
    for kind in (*WORKLOADS, "Pod"):
        for entity in draft.find(kind=kind):
            found = {one for said in _said(draft, entity) if (one := _commit(said, ordered))}
            if len(found) == 1:
                commit = found.pop()
                _say(draft, entity, commit, *commits[commit])
                joined += 1
    if joined:
        draft.report.joined["image and commit"] = joined
    return joined


def _said(draft: WorldDraft, entity: str) -> Iterator[str]:
    """Whatever of an entity may hold a commit's id."""
    images = [draft.value(entity, "image"), *mapping(draft.value(entity, "images")).values()]
    for image in images:
        tag = _TAG.search(image) if isinstance(image, str) else None
        if tag:
            yield from _ID.findall(tag[1])
    labels = mapping(draft.value(entity, "labels"))
    for name in _LABELS:
        yield from _ID.findall(str(labels.get(name, "")))


def _commit(said: str, ordered: Sequence[str]) -> str:
    """The one commit that begins so, empty where it is none or not one alone."""
    at = bisect_left(ordered, said)
    found = [one for one in ordered[at : at + 2] if one.startswith(said)]
    return found[0] if len(found) == 1 else ""


def _say(draft: WorldDraft, entity: str, commit: str, repo: str, pull: str) -> None:
    def fact(field: str, value: str) -> None:
        draft.fact(entity, field, value, provenance="inferred", confidence=CONFIDENCE, source="git")

    fact("image_commit", commit)
    if pull:
        fact("image_pull_request", pull)
    if repo:
        name = repo.rsplit("/", 1)[-1]
        source = draft.entity("Repository", repo, name=name, provenance="inferred", source="git")
        draft.edge(
            entity, "built_from", source, provenance="inferred", confidence=CONFIDENCE, source="git"
        )
