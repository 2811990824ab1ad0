"""``cloud-opsbench``: a copy of Cloud-OpsBench that the user has, read where it lies.

Its licence is not stated, so nothing of it is part of this project. Its cases hold no change and no
healthy control. They are halved by cause and never at random: a memory of cases alone, without any
reasoning, is right in 63 % of an unseen half that was drawn at random, and in none by cause.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from heldout.graph.tools.page import iso
from heldout.ingest.cases.case import Recorded, Skipped, truth
from heldout.ingest.cases.kubectl.snapshot import into, now_of
from heldout.ingest.draft import WorldDraft
from heldout.ingest.importer import ImportOptions
from heldout.ingest.objects import mapping
from heldout.ingest.reading import Unreadable, documents_of
from heldout.truth import Truth
from heldout.truth.specs import Origin

FILE = "metadata.json"
_KINDS: Mapping[str, tuple[str, ...]] = {
    "app": ("Deployment", "StatefulSet", "DaemonSet", "K8sService", "Service", "Pod", "ReplicaSet"),
    "node": ("Node",), "namespace": ("Namespace", "ResourceQuota"),
}  # fmt: skip
SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "db_read_only": ("db_readonly_mode", "read-only", "readonly", "read only"),
    "gateway_misroute": ("gateway_misrouted", "misroute", "misrouted", "wrong route", "route"),
}
"""Causes that the answer list shown to agents spells otherwise than the labels."""
ALSO: Mapping[str, tuple[str, ...]] = {"gateway_misroute": ("ts-gateway-service",)}
"""Where the label names who is missed, what differs may be named as well."""
_HOLLOW = frozenset({"pod", "service", "node", "app", "incorrect", "invalid", "wrong", "error",
                     "missing", "failure", "mismatch", "exceeded", "of", "in"})  # fmt: skip


class CloudOpsBench:
    """A frozen cluster for each case: recorded answers, logs, metrics and alerts."""

    name = "cloud-opsbench"
    reads = "a copy of Cloud-OpsBench's cases"
    halves = True
    origin: Origin = "recorded"
    source = "Cloud-OpsBench (licence not stated; supplied by the user)"

    def cases(self, path: Path, options: ImportOptions) -> Iterator[Recorded | Skipped]:
        """Every folder with metadata, by name."""
        for folder in sorted({one.parent for one in path.rglob(FILE)}):
            yield _read(folder, path, folder.relative_to(path).as_posix())


def _read(folder: Path, root: Path, key: str) -> Recorded | Skipped:
    try:
        said = _json(folder / FILE, root)
        cache = _json(folder / "tool_cache.json", root)
    except Unreadable as problem:
        return Skipped(key, problem.detail)
    result = mapping(said.get("result"))
    sort, _, name = str(result.get("fault_object") or "").partition("/")
    cause = str(result.get("root_cause") or "")
    if sort == "service":
        return Skipped(key, "its labels are those of the older repository; never mix the two")
    if sort not in _KINDS or not name or not cause or not cache:
        return Skipped(key, "it names no object, no cause, or holds no recorded answer")
    namespace = str(said.get("namespace") or "default")
    draft = WorldDraft(name="recorded")
    now = now_of(cache)
    into(draft, folder, root, cache, namespace, now)
    found = _truth(draft, sort, name, cause)
    if found is None:
        draft.close()
        return Skipped(key, f"nothing named {name[:60]} is in its recorded state")
    at = max(now, draft.latest or 0)
    draft.gap("changes", "", at - 14 * 86_400_000_000, at, "no change history was recorded")
    asked = re.sub(r"\s+", " ", str(said.get("query") or "Something is wrong")).strip()[:1000]
    return Recorded(
        key=key,
        alert=f"# {asked}\n\nFired at {iso(at)}\nNamespace: {namespace}\n",
        kind="trap",
        domain=str(result.get("fault_taxonomy") or "kubernetes").lower().replace("_", " ")[:40],
        family=cause,
        group=f"cloudopsbench/{cause}",
        truth=found,
        draft=draft,
        now=at,
    )


def _truth(draft: WorldDraft, sort: str, name: str, cause: str) -> Truth | None:
    names = (name, *ALSO.get(cause, ()))
    entities = [
        one
        for kind in _KINDS[sort]
        for one in draft.find(kind=kind)
        if any(_is_called(draft.title(one), wanted, kind) for wanted in names)
    ]
    if not entities:
        return None
    words = [word for word in cause.split("_") if word not in _HOLLOW] or cause.split("_")
    terms: tuple[tuple[str, ...], ...] = tuple((word,) for word in words)
    if cause in SPELLINGS:
        terms = ((cause, *SPELLINGS[cause]),)
    return truth(entities[0], cause.replace("_", " "), terms, accepted=tuple(entities))


def _is_called(title: str, wanted: str, kind: str) -> bool:
    made = kind in ("Pod", "ReplicaSet") and title.startswith(f"{wanted}-")
    return title == wanted or made or kind == "ResourceQuota"


def _json(path: Path, root: Path) -> Mapping[str, Any]:
    if not path.is_file():
        raise Unreadable("unreadable, skipped", f"{path.name} is missing")
    return mapping(next(iter(documents_of(path, root)), None))


CASES = CloudOpsBench()
