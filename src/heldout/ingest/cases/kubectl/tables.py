"""Tables and events as kubectl prints them, as the objects that they tell of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from heldout.graph.tools.page import iso
from heldout.ingest.objects import K8sObject, objects_in
from heldout.ingest.reading import Unreadable, parse_text

_ROW = re.compile(r"^(?:(\S+)\s+)?(\S+)\s+(\d+/\d+)\s+(\S+)\s+(\d+)(?:\s+\([^)]*\))?\s+(\S+)")
_PHASES = ("Running", "Pending", "Succeeded", "Failed")


def columns(text: str) -> list[dict[str, str]]:
    """The rows of a table as kubectl prints it, by the words of its head.

    A cell begins where its head does, or where the text before it has spilled over, two blanks
    apart; without a head there are no rows.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines or not re.match(r"[A-Z][A-Z0-9_()%/-]*(\s|$)", lines[0]):
        return []
    heads = re.split(r"\s{2,}", lines[0].strip())
    found = []
    for line in lines[1:]:
        cells = re.split(r"\s{2,}", line.strip(), maxsplit=len(heads) - 1)
        if len(cells) == len(heads):
            found.append(dict(zip(heads, cells, strict=True)))
    return found


def items(body: Mapping[str, Any]) -> Iterator[K8sObject]:
    """An object's body as an object; nothing for one that is none."""
    yield from (found.item for found in objects_in(dict(body), "") if found.item is not None)


def documents(text: str) -> Iterator[K8sObject]:
    """The objects in YAML or JSON as kubectl prints it; text of another kind holds none."""
    try:
        found = parse_text(text, is_json=False)
    except Unreadable:
        return
    for document in found:
        yield from (one.item for one in objects_in(document, "") if one.item is not None)


def event(
    number: int, at: int, said: tuple[str, str, str], about: tuple[str, Mapping[str, str]]
) -> Iterator[K8sObject]:
    """An Event: when (microseconds), its type, reason and message, and the object it is about."""
    kind, where = about
    yield from items(
        {
            "apiVersion": "v1", "kind": "Event",
            "metadata": {"name": f"event-{number}", "namespace": where.get("namespace") or ""},
            "involvedObject": {"kind": kind, **where},
            "type": said[0], "reason": said[1], "message": said[2],
            "lastTimestamp": iso(at),
        }
    )  # fmt: skip


def listed(text: str, kind: str, namespace: str) -> Iterator[K8sObject]:
    """Rows of a listing: names, and of pods their phase, readiness and restarts."""
    if kind != "Pod":
        for row in columns(text):
            name = row.get("NAME", "")
            if name and "/" not in name:
                metadata = {"name": name, "namespace": row.get("NAMESPACE") or namespace}
                yield from items({"apiVersion": "v1", "kind": kind, "metadata": metadata})
        return
    for line in text.splitlines():
        match = _ROW.match(line.strip())
        if not match or match[2] == "NAME":
            continue
        ready, _, of = match[3].partition("/")
        phase = match[4] if match[4] in _PHASES else ""
        state = {"running": {}} if phase else {"waiting": {"reason": match[4]}}
        yield from items(
            {
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": match[2], "namespace": match[1] or namespace},
                "spec": {"containers": [{"name": "main"}]},
                "status": {
                    "phase": phase or "Pending",
                    "containerStatuses": [
                        {"name": "main", "ready": ready == of, "restartCount": int(match[5]),
                         "state": state}
                    ],
                },
            }
        )  # fmt: skip
