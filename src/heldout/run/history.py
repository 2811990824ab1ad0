"""What came of a run, read back from the ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import lru_cache, partial
from typing import Any

from heldout.agent.footprint import Footprint, limited
from heldout.agent.trace import Step, Trace
from heldout.interface import Submission
from heldout.judge.verdict import Verdict
from heldout.run.plan import Outcome
from heldout.run.records import unpack
from heldout.store import Ledger, texts
from heldout.store.queries import InvestigationRow, investigations

_READ_LATER = frozenset({"messages", "steps", "submission", "detail", "mode", "counts"})


class TraceReader:
    """Reads traces from an open ledger; keeps the few that were read last."""

    def __init__(self, ledger: Ledger) -> None:
        self.read: Callable[[bytes], Trace] = lru_cache(maxsize=16)(self._read)
        self._texts = partial(texts, ledger)

    def _read(self, packed: bytes) -> Trace:
        return unpack(packed, self._texts)


class StoredTrace(Trace):
    """A trace in the ledger: its figures at hand, its texts read when they are asked for.

    Thousands of outcomes can so be held at once. Reading needs the ledger to be open.
    """

    __slots__ = ("_kept", "_packed", "_reader")

    _reader: TraceReader
    _packed: bytes
    _kept: Footprint | None

    @classmethod
    def of(
        cls, reader: TraceReader, packed: bytes, light: Trace, kept: Footprint | None = None
    ) -> StoredTrace:
        """A stored trace with the figures of ``light`` and the counts that were kept."""
        trace = cls.__new__(cls)
        for field in fields(Trace):
            if field.name not in _READ_LATER:
                object.__setattr__(trace, field.name, getattr(light, field.name))
        object.__setattr__(trace, "_reader", reader)
        object.__setattr__(trace, "_packed", packed)
        object.__setattr__(trace, "_kept", kept)
        return trace

    @property
    def kept(self) -> Footprint | None:
        """Its counts, from its row."""
        return self._kept

    def full(self) -> Trace:
        """The whole trace, read from the ledger."""
        return self._reader.read(self._packed)

    @property
    def messages(self) -> tuple[dict[str, Any], ...]:
        """The conversation, system prompt first."""
        return self.full().messages

    @property
    def steps(self) -> tuple[Step, ...]:
        """The tool calls in order."""
        return self.full().steps

    @property
    def submission(self) -> Submission:
        """The diagnosis."""
        return self.full().submission

    @property
    def detail(self) -> str:
        """More about why it ended."""
        return self.full().detail

    @property
    def mode(self) -> str:
        """How the model was asked."""
        return self.full().mode

    @property
    def counts(self) -> Mapping[str, int]:
        """How often the harness had to step in."""
        return self.full().counts

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trace):
            return NotImplemented
        return _values(self.full()) == _values(
            other.full() if isinstance(other, StoredTrace) else other
        )

    def __repr__(self) -> str:
        # asyncio.run prints the result of its coroutine to itself: that must not read every trace.
        return f"StoredTrace({self._packed.hex()}, {self.stop_reason!r}, calls={self.calls})"

    def __hash__(self) -> int:
        return hash(self._packed)


def _values(trace: Trace) -> tuple[Any, ...]:
    return tuple(getattr(trace, field.name) for field in fields(Trace))


def outcomes(ledger: Ledger, run_id: str, *, newest_verdict: bool = False) -> list[Outcome]:
    """Every attempt of a run, ordered by incident, arm, repeat, attempt.

    The verdict is the run's own; with ``newest_verdict`` the last one given (a second judge's, a
    person's). Messages and steps of the traces are read when they are asked for.
    """
    reader = TraceReader(ledger)
    rows = investigations(ledger, run_id)
    found = []
    rows.reverse()
    while rows:  # As in investigations: never both forms of all of them.
        found.append(outcome_from_row(reader, rows.pop(), newest_verdict))
    return found


def outcome_from_row(
    reader: TraceReader, row: InvestigationRow, newest_verdict: bool = False
) -> Outcome:
    """The outcome of one stored attempt."""
    given = row.verdicts[-1 if newest_verdict else 0]
    result: Any = given.result
    return Outcome(
        incident=row.incident,
        arm=row.arm,
        repeat=row.repeat,
        attempt=row.attempt,
        verdict=Verdict(result, given.reasoning, given.judge, given.criteria),
        trace=_stored(reader, row) if row.trace else None,
        reason=row.reason,
    )


def _stored(reader: TraceReader, row: InvestigationRow) -> Trace:
    stop: Any = row.stop_reason
    light = Trace(
        messages=(),
        steps=(),
        submission=Submission(),
        stop_reason=stop,
        calls=row.calls,
        input_tokens=row.input_tokens,
        cached_tokens=row.cached_tokens,
        output_tokens=row.output_tokens,
        reasoning_tokens=row.reasoning_tokens or 0,
        usd=row.usd,
        seconds=row.seconds,
        served_model=row.served_model,
    )
    return StoredTrace.of(reader, row.trace or b"", light, _kept(row))


def _kept(row: InvestigationRow) -> Footprint | None:
    if row.change_searches is None:
        return None
    return Footprint(
        early=row.early_searches or 0,
        searches=row.change_searches,
        repeated=row.repeated_calls or 0,
        calls=row.steps,
        shown=row.shown_ids or 0,
        cited=row.cited_ids or 0,
        exist=0,
        named=0,
        limited=limited(row.stop_reason),
    )
