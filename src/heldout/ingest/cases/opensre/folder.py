"""The files of one case of opensre's suites: what it has of its own, and what its base lends it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.ingest.objects import mapping
from heldout.ingest.reading import Unreadable, documents_of

METRICS = "aws_cloudwatch_metrics"


@dataclass(frozen=True, slots=True)
class CaseFolder:
    """``scenario`` and ``answer`` as merged with the base's; ``evidence`` by source.

    Only the sources that the case says are available are in it. ``inherited`` counts the files
    that came from the base.
    """

    key: str
    suite: str
    scenario: Mapping[str, Any]
    answer: Mapping[str, Any]
    alert: Mapping[str, Any]
    evidence: Mapping[str, Mapping[str, Any]]
    inherited: int = 0


def read_case(folder: Path, root: Path) -> CaseFolder:
    """Read one case; what cannot be read, or whose base is missing, is :class:`Unreadable`.

    A base lends its metadata, which the case's own overrule, and each evidence file that the case
    lacks. A base of a base is an error, as it is in the suites' own loader.
    """
    own = _one(folder / "scenario.yml", root)
    base, scenario = None, dict(own)
    if own.get("base"):
        base = _base(folder, str(own["base"]))
        lent = _one(base / "scenario.yml", root)
        if lent.get("base"):
            raise Unreadable("unreadable, skipped", f"its base '{base.name}' has a base itself")
        scenario = {**lent, **own}
    evidence: dict[str, Mapping[str, Any]] = {}
    inherited = 0
    for source in scenario.get("available_evidence") or ():
        place = next((one for one in (folder, base) if one and _has(one, str(source))), None)
        if place is not None:
            evidence[str(source)] = _evidence(place, str(source), root)
            inherited += place is base
    return CaseFolder(
        key=folder.relative_to(root).as_posix() if folder != root else folder.name,
        suite="eks" if scenario.get("engine") == "eks" else "rds",
        scenario=scenario,
        answer=_one(folder / "answer.yml", root),
        alert=_one(folder / "alert.json", root),
        evidence=evidence,
        inherited=inherited,
    )


def _base(folder: Path, name: str) -> Path:
    found = folder.parent / name
    if "/" in name or ".." in name or not (found / "scenario.yml").is_file():
        raise Unreadable("unreadable, skipped", f"its base '{name[:60]}' is missing")
    return found


def _has(folder: Path, source: str) -> bool:
    return (folder / f"{source}.json").is_file() or (
        source == METRICS and any(folder.glob(f"{METRICS}_*.json"))
    )


def _evidence(folder: Path, source: str, root: Path) -> Mapping[str, Any]:
    """One source's document; metrics may lie in one file for each series."""
    whole = folder / f"{source}.json"
    if whole.is_file():
        return _one(whole, root)
    parts = [_one(path, root) for path in sorted(folder.glob(f"{source}_*.json"))]
    envelope = next((one for one in parts if "metric_name" not in one), {})
    return {**envelope, "metric_data_results": [one for one in parts if "metric_name" in one]}


def _one(path: Path, root: Path) -> Mapping[str, Any]:
    if not path.is_file():
        raise Unreadable("unreadable, skipped", f"{path.name} is missing")
    found = mapping(next(iter(documents_of(path, root)), None))
    if not found:
        raise Unreadable("unreadable, skipped", f"{path.name} holds no object")
    return found
