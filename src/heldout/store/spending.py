"""What was spent on a job or a model altogether: investigating, judging, proposing, reading."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from heldout.store.ledger import Ledger
from heldout.store.queries import Cost, cost


def spending(
    ledger: Ledger, *, job: str | None = None, model: str | None = None, since: int = 0
) -> Cost:
    """Everything that a job, a model or all of them cost, from ``since`` on (microseconds, UTC).

    ``total_usd`` is ``None`` as soon as one price is unknown. What ``heldout doctor`` and
    calibrations ask is in no run, so it is not in here.
    """
    paid = cost(ledger, job=job, model=model, since=since)
    paid += proposing(ledger, job=job, model=model, since=since)
    return paid if job is not None else paid + reading(ledger, model=model, since=since)


def reading(ledger: Ledger, *, model: str | None = None, since: int = 0) -> Cost:
    """What models cost that read incident reports; it belongs to no job."""
    rows = ledger.read(
        'SELECT spent_json FROM intake_events WHERE "at" >= ? AND spent_json IS NOT NULL'
        " AND (? IS NULL OR model = ?)",
        [since, model, model],
    )
    return _summed(json.loads(row["spent_json"]) for row in rows)


def proposing(
    ledger: Ledger, *, job: str | None = None, model: str | None = None, since: int = 0
) -> Cost:
    """What reading failures and writing edits cost; it stands beside a job's steps, in no run."""
    rows = ledger.read(
        'SELECT detail_json FROM edit_events WHERE "at" >= ? AND contains(detail_json, \'"spent"\')'
        " AND (? IS NULL OR job = ?)"
        " AND (? IS NULL OR job IN (SELECT job FROM jobs WHERE model = ?))",
        [since, job, job, model, model],
    )
    return _summed(json.loads(row["detail_json"]).get("spent") for row in rows)


def _summed(spent: Iterable[Any]) -> Cost:
    total = Cost(0, 0, 0, 0, 0, 0.0, 0.0)
    for one in spent:
        if isinstance(one, dict):
            total += Cost(
                investigations=0,
                calls=int(one.get("calls", 0)),
                input_tokens=int(one.get("input_tokens", 0)),
                cached_tokens=0,
                output_tokens=int(one.get("output_tokens", 0)),
                usd=one.get("usd"),
                seconds=0.0,
            )
    return total


def month_of(at: int) -> int:
    """The first microsecond of the calendar month, UTC, in which ``at`` lies."""
    day = datetime.fromtimestamp(at / 1e6, UTC)
    first = day.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return int(first.timestamp()) * 1_000_000
