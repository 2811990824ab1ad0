"""A run as a log of Inspect, so that its viewer opens it: one sample an investigation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import heldout
from heldout.agent.prompt import MALFORMED
from heldout.agent.toolbox import read_arguments
from heldout.errors import UsageError
from heldout.export.lines import Guard
from heldout.export.source import Exported, Source
from heldout.store.queries import RunRow, VerdictRow

SCORER = "heldout"
_VALUES = {"pass": "C", "fail": "I"}
_LIMITS = {
    "max_steps": "message",
    "max_tokens": "token",
    "max_seconds": "working",
    "max_usd": "cost",
}


class InspectLog:
    """The JSON form of Inspect's log, samples last, so that it is written in one pass."""

    name = "inspect"

    def write(self, source: Source, path: Path, guard: Guard) -> int:
        """Write the file and return how many samples it has."""
        if len(source.runs) != 1:
            raise UsageError("a log holds one run", mend="Name one --run")
        run = source.runs[0]
        head = guard.text(_head(run, *_counts(source)), "export, log")
        count = 0
        with path.open("w", encoding="utf-8") as file:
            file.write(head.removesuffix("}") + ',"samples":[')
            for sample in _samples(source, run):
                file.write(("," if count else "") + guard.text(sample, f"export, sample {count}"))
                count += 1
            file.write("]}\n")
        return count


def _counts(source: Source) -> tuple[int, int, int]:
    """Samples, those that are valid, those that passed."""
    results = [row.verdict.result if row.valid else "invalid" for row in source.investigations()]
    return len(results), len(results) - results.count("invalid"), results.count("pass")


def _head(run: RunRow, samples: int, valid: int, passed: int) -> dict[str, Any]:
    incidents = sorted({str(case["incident"]) for case in run.cases})
    repeats = int(run.manifest["repeats"])
    return {
        "version": 2,
        "status": "success" if run.status in ("finished", "capped") else "error",
        "eval": {
            "eval_id": run.run,
            "run_id": run.run,
            "created": _time(run.started),
            "task": f"heldout/{run.set}",
            "task_id": run.run,
            "task_version": 0,
            "task_attribs": {},
            "task_args": {},
            "dataset": {
                "name": run.set,
                "samples": len(incidents),
                "sample_ids": incidents,
                "shuffled": False,
            },
            "model": run.model,
            "model_args": {},
            "config": {"epochs": repeats, "epochs_reducer": ["mode"]},
            "packages": {"heldout": heldout.__version__},
            "metadata": {"side": "train", "purpose": run.purpose, "pins": run.manifest["pins"]},
        },
        "plan": {"name": "heldout", "steps": [], "config": {}},
        "results": {
            "total_samples": samples,
            "completed_samples": valid,
            "scores": [_score(valid, passed)],
        },
        "stats": {
            "started_at": _time(run.started),
            "completed_at": _time(run.status_at),
            "model_usage": {},
        },
    }


def _score(valid: int, passed: int) -> dict[str, Any]:
    metrics = {"accuracy": {"name": "accuracy", "value": passed / valid}} if valid else {}
    return {
        "name": SCORER,
        "scorer": SCORER,
        "scored_samples": valid,
        "params": {},
        "metrics": metrics,
    }


def _samples(source: Source, run: RunRow) -> Iterator[dict[str, Any]]:
    several = len(run.manifest["arms"]) > 1
    for one in source.investigations():
        yield _sample(one, f"{one.row.incident}:{one.row.arm}" if several else one.row.incident)


def _sample(one: Exported, name: str) -> dict[str, Any]:
    row, trace = one.row, one.trace
    usage = {
        "input_tokens": row.input_tokens - row.cached_tokens,
        "output_tokens": row.output_tokens,
        "total_tokens": row.input_tokens + row.output_tokens,
        "input_tokens_cache_read": row.cached_tokens,
        "reasoning_tokens": row.reasoning_tokens or 0,
    }
    messages = list(_messages(trace.messages, row.model)) if trace else []
    sample: dict[str, Any] = {
        "id": name,
        "epoch": row.repeat + 1,
        "input": str(one.case.get("alert", "")),
        "target": "",
        "messages": messages,
        "output": _output(messages, row.model, usage),
        "scores": {SCORER: _verdict(one.verdict, one)} if one.valid else {},
        "metadata": one.provenance(),
        "store": {},
        "events": [],
        "model_usage": {row.model: usage},
        "started_at": _time(row.started),
        "completed_at": _time(row.ended),
        "total_time": (row.ended - row.started) / 1e6,
        "working_time": row.seconds,
        "uuid": f"{row.run}-{name}-{row.repeat}",
        "attachments": {},
    }
    if not one.valid:
        said = f"{row.reason}: {row.detail}"
        sample["error"] = {"message": said, "traceback": "", "traceback_ansi": ""}
    if row.stop_reason in _LIMITS:
        most = one.run.manifest["limits"][row.stop_reason]
        sample["limit"] = {"type": _LIMITS[row.stop_reason], "limit": most}
    return sample


def _verdict(verdict: VerdictRow, one: Exported) -> dict[str, Any]:
    said = one.trace.submission if one.trace else None
    named = [said.root_cause_entity or "none", said.root_cause_change or "none"] if said else []
    return {
        "value": _VALUES.get(verdict.result, "N"),
        "answer": " / ".join(named),
        "explanation": verdict.reasoning,
        "metadata": {"judge": verdict.judge, "criteria": dict(verdict.criteria)},
    }


def _output(messages: list[dict[str, Any]], model: str, usage: dict[str, int]) -> dict[str, Any]:
    last = next((one for one in reversed(messages) if one["role"] == "assistant"), None)
    if last is None:
        return {"model": model, "choices": [], "usage": usage}
    stop = "tool_calls" if last.get("tool_calls") else "stop"
    choices = [{"message": last, "stop_reason": stop}]
    return {"model": model, "choices": choices, "usage": usage}


def _messages(messages: Any, model: str) -> Iterator[dict[str, Any]]:
    functions: dict[str, str] = {}
    for index, message in enumerate(messages):
        plain = {
            "id": f"m{index}",
            "role": message["role"],
            "content": message.get("content") or "",
        }
        if message["role"] == "assistant":
            plain |= {"source": "generate", "model": model}
            calls = [_call(call) for call in message.get("tool_calls") or []]
            functions |= {call["id"]: call["function"] for call in calls}
            plain |= {"tool_calls": calls} if calls else {}
        elif message["role"] == "tool":
            call_id = str(message.get("tool_call_id", ""))
            plain |= {"tool_call_id": call_id, "function": functions.get(call_id, "")}
        yield plain


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call["function"]
    arguments = read_arguments(function["arguments"])
    plain = {"id": str(call["id"]), "function": function["name"], "type": "function"}
    if arguments is None or MALFORMED in arguments:
        written = arguments[MALFORMED] if arguments else function["arguments"]
        return {**plain, "arguments": {"written": written}, "parse_error": MALFORMED}
    return {**plain, "arguments": arguments}


def _time(at: int) -> str:
    """Microseconds as ISO 8601 with a zone."""
    return datetime.fromtimestamp(at / 1e6, UTC).isoformat()
