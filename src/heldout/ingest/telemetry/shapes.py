"""JSON that holds log lines in a frame: Loki, CloudWatch, Elasticsearch, OpenTelemetry, lists.

A frame is unfolded into records, one after the other, whether it is a document of any size or one
line of many.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import IO, Any, NamedTuple

from heldout.ingest.streaming import items

_LISTS = (
    "item", "logs.item", "records.item", "entries.item", "hits.hits.item", "data.item",
    "events.item", "logEvents.item", "value.item", "results.item",
)  # fmt: skip
_FRAMES = (
    ("logs",), ("records",), ("entries",), ("hits", "hits"), ("data", "result"), ("data",),
    ("events",),
)  # fmt: skip
_STREAMS = ("data.result.item", "streams.item")
_OTEL = ("resourceLogs.item",)
_HEADS = ("logGroup", "logStream", "logGroupName", "logStreamName")
_WANTED = frozenset(
    {
        *_LISTS,
        *_OTEL,
        *_HEADS,
        *(f"{one}.{part}" for one in _STREAMS for part in ("stream", "labels", "values.item")),
    }
)


class Framed(NamedTuple):
    """A record, and the fields that its frame says of it and its neighbours.

    Of Loki the body is the nanoseconds and the text of a line.
    """

    body: Mapping[str, Any] | tuple[Any, str]
    around: Mapping[str, Any]


def framed(stream: IO[bytes]) -> Iterator[Framed]:
    """The records of a document; :class:`~heldout.ingest.reading.Unreadable` as it comes to it."""
    around: dict[str, Any] = {}
    for path, value in items(stream, _WANTED):
        if path in _HEADS:
            around[path] = value
        elif path in _OTEL:
            yield from _otel(value)
        elif path.endswith((".stream", ".labels")) and isinstance(value, dict):
            around = dict(value)
        elif path.endswith(".values.item"):
            yield from _loki(value, around)
        elif isinstance(value, dict):
            yield from unfolded(value, around)


def unfolded(body: Mapping[str, Any], around: Mapping[str, Any] | None = None) -> Iterator[Framed]:
    """A record as it is, or the records of the frame that it turns out to be."""
    around = around or {}
    listed = _listed(body)
    if isinstance(body.get("logEvents"), list):
        head = {**around, **{key: body[key] for key in _HEADS if isinstance(body.get(key), str)}}
        yield from (Framed(one, head) for one in body["logEvents"] if isinstance(one, dict))
    elif isinstance(body.get("streams"), list):
        for one in body["streams"]:
            yield from _stream(one)
    elif isinstance(body.get("values"), list) and isinstance(body.get("stream"), dict):
        yield from _stream(body)
    elif isinstance(body.get("resourceLogs"), list):
        for one in body["resourceLogs"]:
            yield from _otel(one)
    elif isinstance(body.get("labels"), dict) and isinstance(body.get("line"), str):
        yield Framed(body, {**around, **body["labels"]})  # logcli --output=jsonl
    elif listed is not None:
        for one in listed:
            yield from unfolded(one, around)
    else:
        yield Framed(body, around)


def _listed(body: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The records that a small frame lists, ``None`` where it is no frame."""
    for path in _FRAMES:
        value: Any = body
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            return value
    return None


def _stream(one: Any) -> Iterator[Framed]:
    if isinstance(one, dict) and isinstance(one.get("values"), list):
        labels = one.get("stream")
        for value in one["values"]:
            yield from _loki(value, labels if isinstance(labels, dict) else {})


def _loki(value: Any, labels: Mapping[str, Any]) -> Iterator[Framed]:
    """One line of a stream: nanoseconds and text, and perhaps structured metadata."""
    if isinstance(value, list) and len(value) >= 2 and isinstance(value[1], str):
        more = value[2] if len(value) > 2 and isinstance(value[2], dict) else {}
        yield Framed((value[0], value[1]), {**labels, **more} if more else labels)


def _otel(one: Any) -> Iterator[Framed]:
    if not isinstance(one, dict):
        return
    resource = one.get("resource")
    attributes = resource.get("attributes") if isinstance(resource, dict) else None
    around = {"attributes": attributes} if attributes else {}
    for scope in one.get("scopeLogs") or one.get("instrumentationLibraryLogs") or ():
        records = scope.get("logRecords") if isinstance(scope, dict) else None
        for record in records if isinstance(records, list) else ():
            if isinstance(record, dict):
                yield Framed(record, around)
