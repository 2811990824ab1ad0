"""A person's own verdict on one investigation: one row more, with name and reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from heldout.errors import UsageError
from heldout.store import Ledger, now_us
from heldout.transcript import Wanted, find

PERSON = "person"
"""The judge named in a person's verdict; the author's name stands beside it."""


@dataclass(frozen=True, slots=True)
class Override:
    """What a person says of one investigation, and what was said before."""

    run: str
    incident: str
    arm: str
    repeat: int
    before: str
    result: str


def override(
    ledger: Ledger, wanted: Wanted, result: Literal["pass", "fail"], *, name: str, reason: str
) -> Override:
    """Append a person's verdict on the investigation that ``wanted`` names.

    The first verdict and every figure that rests on it stay. Of a scored run this needs a score
    that has ended; an invalid investigation has no answer to be judged (:class:`UsageError`).
    """
    name, reason = name.strip(), reason.strip()
    if not name or not reason:
        raise UsageError("a verdict of a person needs who and why", mend="Give --name and --reason")
    if result not in ("pass", "fail"):
        raise UsageError(f"'{result}' is no verdict", mend="Say pass or fail")
    found = find(ledger, wanted)
    row = found.row
    if row.reason or not row.verdicts:
        raise UsageError(
            f"this investigation is invalid ({row.reason or 'no verdict'}); there is no answer",
            where=f"run {row.run}, incident {row.incident}, repeat {row.repeat}",
            mend="Judge one that was finished",
        )
    ledger.append(
        "verdicts",
        [
            {
                "run": row.run,
                "incident": row.incident,
                "arm": row.arm,
                "repeat": row.repeat,
                "attempt": row.attempt,
                "judge": PERSON,
                "result": result,
                "reasoning": reason[:4000],
                "criteria_json": {},
                "author": name[:200],
                "at": now_us(),
            }
        ],
    )
    ledger.flush()
    before = row.verdicts[-1].result
    return Override(row.run, row.incident, row.arm, row.repeat, before, result)
