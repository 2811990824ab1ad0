"""What a GitOps controller rolled out: the history that an application keeps of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from heldout.ingest.changes.people import People
from heldout.ingest.changes.record import Change, ClusterTarget
from heldout.ingest.moments import moment
from heldout.ingest.objects import mapping, sequence


def is_application(document: Any) -> bool:
    """Whether a document is an application of Argo CD."""
    return (
        isinstance(document, Mapping)
        and document.get("kind") == "Application"
        and str(document.get("apiVersion") or "argoproj.io").startswith("argoproj.io")
    )


def rollouts(document: Mapping[str, Any], people: People, cluster: str = "") -> Iterator[Change]:
    """Each deployment of an application: its revision, when, and who asked for it."""
    metadata = mapping(document.get("metadata"))
    name, namespace = str(metadata.get("name") or ""), str(metadata.get("namespace") or "")
    target = ClusterTarget("GitOpsApplication", namespace, name, cluster)
    for entry in sequence(mapping(document.get("status")).get("history")):
        one = mapping(entry)
        at = moment(one.get("deployedAt"))
        if at is None or not name:
            continue
        source = mapping(one.get("source")) or mapping(next(iter(sequence(one.get("sources"))), {}))
        asked = mapping(one.get("initiatedBy"))
        actor = (
            people.person("argocd")
            if asked.get("automated") or not asked.get("username")
            else people.person(str(asked["username"]))
        )
        revision = str(one.get("revision") or "")
        yield Change(
            f"argocd\x1f{namespace}/{name}\x1f{one.get('id')}\x1f{at}",
            at,
            "deploy",
            actor.name,
            actor.kind,
            "cicd",
            f"{name} rolled out at {revision[:12] or 'an unknown revision'}",
            (target,),
            repo=str(source.get("repoURL") or ""),
            commit=revision,
        )
