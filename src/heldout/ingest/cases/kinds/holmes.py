"""``holmes``: HolmesGPT's evaluation fixtures, a question or an alert with recorded answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from heldout.graph.tools.page import iso
from heldout.ingest.cases.case import Recorded, Skipped
from heldout.ingest.cases.holmes import world
from heldout.ingest.cases.holmes.truths import NOT_DIAGNOSES, NOT_IN_IT, key_of, truth_of
from heldout.ingest.draft import WorldDraft
from heldout.ingest.importer import ImportOptions
from heldout.ingest.moments import moment
from heldout.ingest.objects import mapping
from heldout.ingest.reading import Unreadable, documents_of
from heldout.truth.specs import Kind, Origin

CASE = "test_case.yaml"
_FINDING = ("title", "description", "subject_type", "subject_name", "subject_namespace",
            "subject_node", "cluster", "priority", "aggregation_key")  # fmt: skip


class Holmes:
    """Cases with a cause to be named; shell commands in them are never run."""

    name = "holmes"
    reads = "HolmesGPT's evaluation fixtures"
    halves = False
    origin: Origin = "recorded"
    source = "HolmesGPT/holmesgpt, tests/llm/fixtures, Apache-2.0"

    def cases(self, path: Path, options: ImportOptions) -> Iterator[Recorded | Skipped]:
        """Every folder with a test case, by name."""
        for folder in sorted({one.parent for one in path.rglob(CASE)}):
            key = folder.relative_to(path).as_posix()
            why = NOT_DIAGNOSES.get(folder.name) or NOT_IN_IT.get(folder.name)
            yield Skipped(key, why) if why else _read(folder, path, key)


def _read(folder: Path, root: Path, key: str) -> Recorded | Skipped:
    try:
        said = mapping(next(iter(documents_of(folder / CASE, root)), None))
        issue = _json(folder / "issue_data.json", root)
        request = _json(folder / "investigate_request.json", root)
    except Unreadable as problem:
        return Skipped(key, problem.detail)
    required = said.get("expected_output")
    statements = [str(one) for one in (required if isinstance(required, list) else [required])]
    fired = moment(issue.get("starts_at")) or moment(issue.get("creation_date"))
    material = world.material_of(folder, fired)
    draft = WorldDraft(name="recorded")
    count = world.into(draft, folder, material, str(issue.get("cluster") or "cluster"))
    if not count and not material.said:
        draft.close()
        return Skipped(key, "it holds neither recordings nor manifests")
    wanted = key_of(folder.name, statements)
    truth = truth_of(wanted, statements, draft)
    if truth is None:
        draft.close()
        return Skipped(key, "nothing that its answer names is in its material")
    kind: Kind = "trap" if wanted.at else "no_fault"
    now = max(material.now, draft.latest or 0)
    return Recorded(
        key=key,
        alert=alert_text(_prompt(said), issue, request, now),
        kind=kind,
        domain="kubernetes",
        family=wanted.group,
        group=f"holmes/{wanted.group}",
        truth=truth,
        draft=draft,
        now=now,
    )


def _json(path: Path, root: Path) -> Mapping[str, Any]:
    """What a file holds; one that is not there or empty holds nothing."""
    try:
        return mapping(next(iter(documents_of(path, root)), None)) if path.is_file() else {}
    except Unreadable:
        return {}


def _prompt(said: Mapping[str, Any]) -> str:
    asked = said.get("user_prompt")
    return str(asked[0] if isinstance(asked, list) and asked else asked or "")


def alert_text(prompt: str, issue: Mapping[str, Any], request: Mapping[str, Any], now: int) -> str:
    """What the agent is told: an alert where the case has one, else the question that is asked."""
    subject = mapping(request.get("subject"))
    title = str(issue.get("title") or request.get("title") or "A question")
    service = str(issue.get("subject_name") or subject.get("name") or "")
    lines = [f"# {_line(title)}", "", f"Fired at {iso(now)}"]
    if service:
        lines.append(f"Service: {_line(service)}")
    lines.append("")
    told = [f"{name}: {_line(str(issue[name]))}" for name in _FINDING if issue.get(name)]
    if not told:
        told = [_line(str(request[name])) for name in ("description",) if request.get(name)]
        told += [f"{key}: {_line(str(value))}" for key, value in subject.items()
                 if value and not isinstance(value, dict | list)]  # fmt: skip
    return "\n".join([*lines, *([_line(prompt)] if prompt else []), *told]) + "\n"


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()[:2000]


CASES = Holmes()
