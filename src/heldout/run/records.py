"""One attempt as plain data: the landing file, the ledger's rows, and back again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from heldout.agent.footprint import footprint
from heldout.agent.trace import Step, Trace
from heldout.errors import StoreError
from heldout.interface import Submission
from heldout.judge.verdict import Verdict
from heldout.run.plan import Outcome
from heldout.signatures.records import Spent
from heldout.store import Scrubber
from heldout.store.blobs import Dictionary, blob_row

Record = dict[str, Any]
VERSION = 1
_SHORT = 300
"""A text shorter than this stays where it is; a longer one is stored once, by its hash."""
_REF = "\x00blob:"
_ID = re.compile(r'"([a-z]-[0-9a-f]{8}|l-[0-9]+)"')
_TRACE = tuple(field.name for field in fields(Trace))
_STEP = tuple(field.name for field in fields(Step))


def trace_plain(trace: Trace) -> dict[str, Any]:
    """A trace as plain data."""
    plain = {name: getattr(trace, name) for name in _TRACE}
    plain["steps"] = [{name: getattr(step, name) for name in _STEP} for step in trace.steps]
    plain["submission"] = trace.submission.as_dict()
    return plain


def trace_from_plain(plain: Mapping[str, Any]) -> Trace:
    """Rebuild a trace from :func:`trace_plain`."""
    steps = tuple(
        Step(**{**step, "shown_ids": tuple(step["shown_ids"])}) for step in plain["steps"]
    )
    return Trace(
        **{
            **plain,
            "messages": tuple(plain["messages"]),
            "steps": steps,
            "submission": Submission.from_dict(plain["submission"]),
        }
    )


def dump_record(record: Record, scrub: Scrubber) -> str:
    """The landing file's text, free of secrets."""
    return scrub(json.dumps(record, ensure_ascii=True, separators=(",", ":")))


def load_record(text: str | bytes, where: str) -> Record:
    """Read a landing file; a foreign or damaged one is a :class:`StoreError`."""
    try:
        record = json.loads(text)
        if record["version"] != VERSION:
            raise ValueError(f"version {record['version']}")
        outcome_from_record(record)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreError(
            f"a landing file cannot be read ({type(error).__name__})",
            where=where,
            mend="Move it away; its investigation is then played again by 'heldout resume'",
        ) from error
    return dict(record)


def outcome_from_record(record: Record) -> Outcome:
    """The outcome that a record describes."""
    verdict = record["verdict"]
    return Outcome(
        incident=record["incident"],
        arm=record["arm"],
        repeat=record["repeat"],
        attempt=record["attempt"],
        verdict=Verdict(
            verdict["result"],
            verdict["reasoning"],
            verdict["judge"],
            verdict["criteria"],
            Spent(**verdict.get("spent", {})),
        ),
        trace=trace_from_plain(record["trace"]) if record["trace"] else None,
        reason=record["reason"],
    )


def long_texts(record: Record) -> list[str]:
    """The tool answers of a record, first seen first: what a world's dictionary is made of."""
    steps = record["trace"]["steps"] if record["trace"] else []
    return list(dict.fromkeys(step["answer"] for step in steps if len(step["answer"]) > _SHORT))


def record_rows(record: Record, dictionary: Dictionary | None) -> dict[str, list[dict[str, Any]]]:
    """The ledger's rows of one record, to be committed together."""
    slot = {name: record[name] for name in ("run", "incident", "arm", "repeat", "attempt")}
    blobs: dict[bytes, dict[str, Any]] = {}
    trace, spent = record["trace"], record["spent"]
    packed: bytes | None = None
    if trace:
        packed = _pack(trace, dictionary, blobs)
    submission = trace["submission"] if trace else {}
    row = {
        **slot,
        **{name: record[name] for name in ("seed", "model", "brain", "reason", "detail")},
        **{name: record[name] for name in ("started", "ended", "served_model", "replayed")},
        "stop_reason": trace["stop_reason"] if trace else None,
        "steps": len(trace["steps"]) if trace else 0,
        **spent,
        "root_cause_entity": submission.get("root_cause_entity"),
        "root_cause_change": submission.get("root_cause_change"),
        "trace": packed,
        **(_counts(trace) if trace else {}),
    }
    verdict = record["verdict"]
    verdict_row = {
        **slot,
        "judge": verdict["judge"],
        "result": verdict["result"],
        "reasoning": verdict["reasoning"],
        "criteria_json": verdict["criteria"],
        **spent_columns(Spent(**verdict.get("spent", {}))),
        "at": record["ended"],
    }
    return {
        "blobs": list(blobs.values()),
        "investigations": [row],
        "verdicts": [verdict_row],
    }


def _counts(trace: dict[str, Any]) -> dict[str, int]:
    """How it worked, in the ledger's columns."""
    counted = footprint(trace_from_plain(trace))
    return {
        "change_searches": counted.searches,
        "early_searches": counted.early,
        "repeated_calls": counted.repeated,
        "cited_ids": counted.cited,
        "shown_ids": counted.shown,
    }


def spent_columns(spent: Spent) -> dict[str, Any]:
    """What judging cost, as a verdict's columns."""
    return {
        "calls": spent.calls,
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "usd": spent.usd,
    }


def _pack(
    trace: dict[str, Any], dictionary: Dictionary | None, blobs: dict[bytes, dict[str, Any]]
) -> bytes:
    """Store a trace: long texts by hash, then the rest as one blob; returns that blob's hash."""

    def refer(value: Any) -> Any:
        if isinstance(value, str):
            if len(value) <= _SHORT and not value.startswith(_REF):
                return value
            blob = blob_row(value, dictionary)
            blobs[blob["hash"]] = blob
            return _REF + blob["hash"].hex()
        if isinstance(value, list | tuple):
            return [refer(one) for one in value]
        if isinstance(value, dict):
            return {key: refer(one) for key, one in value.items()}
        return value

    steps = []
    for step in trace["steps"]:
        short = {**step}
        if list(step["shown_ids"]) == _ids(step["answer"]):
            short["shown_ids"] = None  # As the answer's own text says; see _ids.
        steps.append(short)
    text = json.dumps(refer({**trace, "steps": steps}), ensure_ascii=True, separators=(",", ":"))
    whole = blob_row(text, dictionary)
    blobs[whole["hash"]] = whole
    return bytes(whole["hash"])


def unpack(packed: bytes, texts: Callable[[list[bytes]], dict[bytes, str]]) -> Trace:
    """Read back a trace by its blob's hash; ``texts`` reads blobs."""
    plain = json.loads(texts([packed])[packed])
    wanted: list[bytes] = []

    def collect(value: Any) -> None:
        if isinstance(value, str):
            if value.startswith(_REF):
                wanted.append(bytes.fromhex(value.removeprefix(_REF)))
        elif isinstance(value, list | dict):
            for one in value.values() if isinstance(value, dict) else value:
                collect(one)

    collect(plain)
    found = texts(wanted)

    def resolve(value: Any) -> Any:
        if isinstance(value, str):
            if value.startswith(_REF):
                return found[bytes.fromhex(value.removeprefix(_REF))]
            return value
        if isinstance(value, list):
            return [resolve(one) for one in value]
        if isinstance(value, dict):
            return {key: resolve(one) for key, one in value.items()}
        return value

    plain = resolve(plain)
    for step in plain["steps"]:
        if step["shown_ids"] is None:
            step["shown_ids"] = _ids(step["answer"])
    return trace_from_plain(plain)


def _ids(answer: str) -> list[str]:
    """The ids in an answer, each once, in order."""
    return list(dict.fromkeys(_ID.findall(answer)))
