"""Tables of the ledger as Parquet, one file a table, without the held-out half."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from heldout.export.lines import Guard
from heldout.export.source import Source
from heldout.store.parquet import write_parquet
from heldout.store.queries import RunRow

Row = Mapping[str, Any]
_SLOT = {
    "run": "VARCHAR", "incident": "VARCHAR", "arm": "VARCHAR", "repeat": "INTEGER",
    "attempt": "INTEGER",
}  # fmt: skip
TABLES: Mapping[str, Mapping[str, str]] = {
    "runs": {
        "run": "VARCHAR", "job": "VARCHAR", "purpose": "VARCHAR", "set": "VARCHAR",
        "model": "VARCHAR", "status": "VARCHAR", "repeats": "INTEGER", "manifest_json": "VARCHAR",
        "started": "BIGINT", "ended": "BIGINT",
    },
    "cases": {
        "run": "VARCHAR", "incident": "VARCHAR", "set": "VARCHAR", "side": "VARCHAR",
        "kind": "VARCHAR", "domain": "VARCHAR", "family": "VARCHAR", "origin": "VARCHAR",
        "world": "VARCHAR", "alert": "VARCHAR",
    },
    "investigations": {
        **_SLOT, "seed": "BIGINT", "model": "VARCHAR", "served_model": "VARCHAR",
        "brain": "VARCHAR", "reason": "VARCHAR", "detail": "VARCHAR", "stop_reason": "VARCHAR",
        "calls": "INTEGER", "replayed": "INTEGER", "steps": "INTEGER", "input_tokens": "BIGINT",
        "cached_tokens": "BIGINT", "output_tokens": "BIGINT", "reasoning_tokens": "BIGINT",
        "usd": "DOUBLE", "seconds": "DOUBLE",
        "root_cause_entity": "VARCHAR", "root_cause_change": "VARCHAR",
        "submission_json": "VARCHAR", "started": "BIGINT", "ended": "BIGINT", "heldout": "VARCHAR",
    },
    "verdicts": {
        **_SLOT, "judge": "VARCHAR", "result": "VARCHAR", "reasoning": "VARCHAR",
        "criteria_json": "VARCHAR", "author": "VARCHAR", "at": "BIGINT",
    },
    "steps": {
        **_SLOT, "step": "INTEGER", "tool": "VARCHAR", "args_json": "VARCHAR", "answer": "VARCHAR",
        "is_error": "BOOLEAN", "seconds": "DOUBLE",
    },
}  # fmt: skip
"""Columns and types of each file. Times are microseconds since the epoch, UTC."""


class Tables:
    """A folder of Parquet files: what was played, what was called, what was said of it.

    Looks, scores, proposals and jobs stay in the ledger: they tell of the held-out half.
    """

    name = "parquet"

    def write(self, source: Source, path: Path, guard: Guard) -> int:
        """Write the folder and return how many investigations it holds."""
        path.mkdir()
        made: Mapping[str, Iterable[Row]] = {
            "runs": map(_run, source.runs),
            "cases": (row for run in source.runs for row in _cases(run)),
            "investigations": _investigations(source),
            "verdicts": _verdicts(source),
            "steps": _steps(source),
        }
        counts = {
            name: write_parquet(path / f"{name}.parquet", TABLES[name], _checked(rows, guard))
            for name, rows in made.items()
        }
        return counts["investigations"]


def _checked(rows: Iterable[Row], guard: Guard) -> Iterator[Row]:
    for row in rows:
        guard.text(dict(row), "export, parquet")
        yield row


def _run(row: RunRow) -> Row:
    return {
        "run": row.run,
        "job": row.job,
        "purpose": row.purpose,
        "set": row.set,
        "model": row.model,
        "status": row.status,
        "repeats": row.manifest["repeats"],
        "manifest_json": json.dumps(row.manifest, sort_keys=True),
        "started": row.started,
        "ended": row.status_at,
    }


def _cases(run: RunRow) -> Iterator[Row]:
    for case in run.cases:
        yield {**case, "run": run.run, "world": case.get("digest")}


def _investigations(source: Source) -> Iterator[Row]:
    for one in source.investigations():
        plain = {name: getattr(one.row, name, None) for name in TABLES["investigations"]}
        said = json.dumps(one.trace.submission.as_dict()) if one.trace else None
        version = one.provenance()["heldout"]
        yield {**plain, "submission_json": said, "heldout": version}


def _verdicts(source: Source) -> Iterator[Row]:
    for one in source.investigations():
        for verdict in one.row.verdicts:
            plain = {name: getattr(verdict, name, None) for name in TABLES["verdicts"]}
            criteria = json.dumps(verdict.criteria, sort_keys=True)
            yield {**plain, **_slot(one.row), "criteria_json": criteria}


def _steps(source: Source) -> Iterator[Row]:
    for one in source.investigations():
        for step in one.trace.steps if one.trace else ():
            yield {
                **_slot(one.row),
                "step": step.index,
                "tool": step.tool,
                "args_json": json.dumps(step.args, sort_keys=True),
                "answer": step.answer,
                "is_error": step.is_error,
                "seconds": float(step.seconds),
            }


def _slot(row: Any) -> Row:
    return {name: getattr(row, name) for name in _SLOT}
