"""A frozen cluster as recorded answers by call, with its logs, metrics and alerts beside them."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from heldout.ingest import kubernetes
from heldout.ingest.cases.kubectl.described import KINDS, described
from heldout.ingest.cases.kubectl.tables import documents, event, items, listed
from heldout.ingest.draft import WorldDraft
from heldout.ingest.moments import moment
from heldout.ingest.objects import K8sObject, mapping, sequence
from heldout.ingest.reading import Unreadable, documents_of
from heldout.ingest.telemetry.grid import Tally, even_runs
from heldout.ingest.telemetry.levels import level_in
from heldout.ingest.telemetry.recording import Line
from heldout.ingest.telemetry.stamps import Clock
from heldout.ingest.telemetry.text import head_of

SECOND = 1_000_000
OTHERWISE = 1_760_000_000 * SECOND
MAX_BYTES = 64 * 1024 * 1024
_TOLD = ("GetServiceDependencies", "CheckServiceConnectivity", "CheckNodeServiceStatus",
         "GetClusterConfiguration", "GetErrorLogs")  # fmt: skip
"""Tools whose answers are kept as their lines: results of probes that nobody can make now."""


def now_of(cache: Mapping[str, Any]) -> int:
    """When a snapshot was taken, in microseconds."""
    return moment(cache.get("collection_timestamp")) or OTHERWISE


def into(
    draft: WorldDraft, folder: Path, root: Path, cache: Mapping[str, Any], namespace: str, now: int
) -> None:
    """Put a snapshot into a draft. Singular and plural kinds tell of the same objects, once."""
    found = list(_objects(cache, namespace, now))
    # What was described has a status and more fields than a row of a listing: it comes first.
    ranked = sorted(found, key=lambda pair: pair[0])
    objects = [_redacted(item, draft) for _, item in ranked]
    kubernetes.into(
        draft, kubernetes.of_objects(objects, name="cluster"), cluster="cluster", derives=False
    )
    raw = folder / "raw_data"
    draft.log_lines(_lines(draft, cache, _read(raw / "logs.json", root), namespace, now))
    _metrics(draft, raw / "metrics.csv")
    _alerts(draft, _read(raw / "alert.json", root), now)


def _redacted(item: K8sObject, draft: WorldDraft) -> K8sObject:
    body = draft.redactor.object(dict(item.body), is_secret=item.kind == "Secret")
    return K8sObject(item.kind, item.api_version, item.namespace, item.name, body)


def _read(path: Path, root: Path) -> Any:
    if not path.is_file() or path.is_symlink() or path.stat().st_size > MAX_BYTES:
        return None
    try:
        return next(iter(documents_of(path, root)), None)
    except Unreadable:
        return None


def _calls(cache: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], Any]]:
    """Tool, arguments, answer of every recorded call; a key that is none is left out."""
    for key, answer in cache.items():
        tool, colon, text = key.partition(":")
        try:
            args = json.loads(text) if colon else {}
        except ValueError:
            continue
        if isinstance(args, dict):
            yield tool, args, answer


def _kind(args: Mapping[str, Any]) -> str:
    return next((KINDS[word.lower()] for word in args.values()
                 if isinstance(word, str) and word.lower() in KINDS), "")  # fmt: skip


def _objects(cache: Mapping[str, Any], namespace: str, now: int) -> Iterator[tuple[int, K8sObject]]:
    number = 0
    for tool, args, answer in _calls(cache):
        text, kind = answer if isinstance(answer, str) else "", _kind(args)
        if tool == "DescribeResource" and kind and text:
            seen = described(kind, text)
            if seen is None:
                continue
            yield from ((0, item) for item in items(seen.body))
            for age, type_, reason, message in seen.events:
                number += 1
                about = (kind, seen.body["metadata"])
                at = now - age * SECOND
                yield from ((0, one) for one in event(number, at, (type_, reason, message), about))
        elif tool == "GetResources" and kind and text:
            place = str(args.get("namespace") or namespace)
            yield from ((2, item) for item in listed(text, kind, place))
        elif tool == "GetAppYAML" and text:
            yield from ((1, item) for item in documents(text))


def _lines(
    draft: WorldDraft, cache: Mapping[str, Any], logs: Any, namespace: str, now: int
) -> Iterator[Line]:
    for name, said in mapping(logs).items():
        lines = said.splitlines() if isinstance(said, str) else [str(one) for one in sequence(said)]
        yield from _told(_speaker(draft, str(name), namespace), lines, now)
    for tool, args, answer in _calls(cache):
        if tool in _TOLD and answer not in (None, "", [], {}):
            text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
            words = " ".join(str(value) for value in args.values())
            speaker = draft.entity("CustomResource", tool, name=tool)
            yield from _told(speaker, [f"{words}: {line}" for line in text.splitlines()], now)


def _told(speaker: str, lines: list[str], now: int) -> Iterator[Line]:
    clock = Clock(now)
    for number, line in enumerate(lines):
        if line.strip():
            head = head_of(line, clock)
            at = head.ts or now - (len(lines) - number) * 1000
            yield at, speaker, head.level or level_in(line) or "INFO", head.text or line


def _speaker(draft: WorldDraft, name: str, namespace: str) -> str:
    """The workload whose lines they are; ``name.previous`` and sidecars are that workload's too."""
    own = name.partition(".")[0]
    for kind in ("Deployment", "StatefulSet", "DaemonSet"):
        found = draft.find(kind=kind, name=own)
        if found:
            return found[0]
    return draft.entity(
        "Deployment", f"{namespace}/{own}", name=own, facts={"namespace": namespace}
    )


def _metrics(draft: WorldDraft, path: Path) -> None:
    if not path.is_file() or path.is_symlink() or path.stat().st_size > MAX_BYTES:
        return
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        rows = list(csv.DictReader(file))
    moments = [moment(row.get("time")) for row in rows]
    for column in rows[0] if rows else ():
        own, dash, metric = column.rpartition("-")
        if not dash or column == "time":
            continue
        pairs = [(at, value) for at, row in zip(moments, rows, strict=True)
                 if at is not None and (value := _number(row.get(column))) is not None]  # fmt: skip
        if not pairs:
            continue
        about = draft.find(kind="Node", name=own) or [_speaker(draft, own, "default")]
        times = np.array([at for at, _ in pairs], dtype=np.int64)
        for run in even_runs(times, np.array([value for _, value in pairs]), Tally()):
            draft.series(about[0], metric, "", run.t0, run.step_s, run.values)


def _number(text: Any) -> float | None:
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def _alerts(draft: WorldDraft, said: Any, now: int) -> None:
    for number, one in enumerate(sequence(said)):
        row = mapping(one)
        text = json.dumps(one, ensure_ascii=False, sort_keys=True)[:500]
        name = str(row.get("service") or row.get("service_name") or "")
        about = draft.find(kind="Deployment", name=name) if name else []
        rule = str(row.get("alert") or row.get("type") or row.get("metric") or "alert")
        at = moment(row.get("start_time") or row.get("time")) or now
        draft.alert(f"alert\x1f{number}", at, rule, entity=next(iter(about), ""), text=text)
