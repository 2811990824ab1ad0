"""A log record as JSON gives it: time, level, text and place by the names that loggers use.

Fields that are none of these, nor the carrier's, stay with the text as ``key=value``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from heldout.ingest.redaction import Redactor, is_secret_name
from heldout.ingest.telemetry.levels import level_of
from heldout.ingest.telemetry.places import NAMING, Place, place_of
from heldout.ingest.telemetry.stamps import moment

_TIMES = (
    "@timestamp", "timestamp", "time", "ts", "timeunixnano", "__realtime_timestamp", "eventtime",
    "datetime", "asctime", "_time", "date", "t", "attributes.timestamp", "timestamp_ms",
    "observedtimeunixnano", "receivetimestamp", "created_at", "ingestiontime",
)  # fmt: skip
_TEXTS = (
    "message", "msg", "log", "textpayload", "@message", "body", "body.stringvalue", "short_message",
    "jsonpayload.message", "jsonpayload.msg", "attributes.message", "line", "text", "event",
)  # fmt: skip
_LEVELS = (
    "level", "severity", "log.level", "loglevel", "log_level", "levelname", "level_name", "lvl",
    "severitytext", "severity_text", "severitynumber", "severity_number", "jsonpayload.level",
    "attributes.status", "priority", "status",
)  # fmt: skip
_TRACES = (
    "stack_trace", "stacktrace", "error.stack_trace", "exception.stacktrace", "exc_info", "stack",
    "err.stack", "error.stack", "exception",
)  # fmt: skip
_ENVELOPE = frozenset(
    (
        "stream", "_p", "logtag", "flags", "tag", "insertid", "logname", "ecs.version", "offset",
        "input.type", "log.offset", "log.file.path", "filename", "@version", "ptr", "eventid",
        "data_stream.type", "source_type", "v",
    )
)  # fmt: skip
_ENVELOPES = (
    "kubernetes.", "docker.", "agent.", "container.", "cloud.", "host.", "k8s.", "resource.",
    "labels.", "fields.", "_", "orchestrator.", "data_stream.",
)  # fmt: skip
_MOST_FIELDS = 200
_DEEPEST = 6
_LONGEST_FIELD = 400
_LONGEST_FIELDS = 2_000
_SIMPLE = (str, int, float, bool)


class Record(NamedTuple):
    """What one record says; ``text`` is the message alone, ``more`` what stands beside it."""

    ts: int | None
    level: str | None
    text: str
    more: str
    place: Place


def record_of(body: Mapping[str, Any], redactor: Redactor) -> Record:
    """Read one record; ``text`` and ``more`` are empty where it says nothing."""
    source = body.get("_source")
    flat = flattened(source if isinstance(source, dict) else body)
    times = (moment(flat.get(key)) for key in _TIMES)
    ts = next((one for one in times if one is not None), None)
    levels = (level_of(flat.get(key), key) for key in _LEVELS)
    level = next((one for one in levels if one is not None), None)
    said = next((key for key in _TEXTS if isinstance(flat.get(key), str)), "")
    names = {key: str(value) for key, value in flat.items() if _names(key)}
    trace = next((key for key in _TRACES if isinstance(flat.get(key), str)), "")
    left_out = {said, trace, *_TIMES, *_LEVELS}
    more = " ".join(_rest(flat, left_out, redactor))[:_LONGEST_FIELDS]
    if trace and flat[trace]:
        more = f"{more}\n{flat[trace]}" if more else f"\n{flat[trace]}"
    return Record(ts, level, str(flat[said]) if said else "", more, place_of(names))


@lru_cache(maxsize=4096)
def _names(key: str) -> bool:
    return key in NAMING or key in ("tag", "filename", "log.file.path")


def _rest(flat: Mapping[str, Any], left_out: set[str], redactor: Redactor) -> Iterator[str]:
    for key, value in flat.items():
        if key in left_out or not _counts(key) or value in (None, ""):
            continue
        text = value if isinstance(value, str) else orjson.dumps(value).decode()
        if _is_secret(key):
            text = redactor.placeholder(text)
        yield f"{key}={text[:_LONGEST_FIELD]}"


@lru_cache(maxsize=4096)
def _counts(key: str) -> bool:
    """Whether a field belongs to what was said, not to where and how it was carried."""
    return not (key in NAMING or key in _ENVELOPE or key.startswith(_ENVELOPES))


@lru_cache(maxsize=4096)
def _is_secret(key: str) -> bool:
    return is_secret_name(key)


def flattened(body: Mapping[str, Any]) -> dict[str, Any]:
    """Nested fields side by side: keys in lower case, joined by dots; lists of texts as JSON.

    Attributes as OpenTelemetry lists them (``key``, ``value``) become fields of their own.
    """
    found: dict[str, Any] = {}
    _flatten("", body, found, 0)
    return found


def _flatten(prefix: str, value: Any, found: dict[str, Any], depth: int) -> None:
    if len(found) >= _MOST_FIELDS:
        return
    if isinstance(value, dict) and depth < _DEEPEST:
        for key, inner in value.items():
            _flatten(
                f"{prefix}.{key}".lower() if prefix else str(key).lower(), inner, found, depth + 1
            )
    elif isinstance(value, list) and value and depth < _DEEPEST and all(map(_is_attribute, value)):
        for one in value:
            _flatten(str(one["key"]).lower(), _any_value(one["value"]), found, depth + 1)
    elif value is None or isinstance(value, _SIMPLE):
        found.setdefault(prefix, value)
    else:
        found.setdefault(prefix, orjson.dumps(value, default=str).decode()[:_LONGEST_FIELD])


def _is_attribute(one: Any) -> bool:
    return isinstance(one, dict) and {"key", "value"} == one.keys()


def _any_value(value: Any) -> Any:
    """What an OpenTelemetry value wraps."""
    if isinstance(value, dict) and len(value) == 1:
        key, inner = next(iter(value.items()))
        if key in ("stringValue", "intValue", "doubleValue", "boolValue"):
            return inner
    return value
