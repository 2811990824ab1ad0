"""How an arm worked, beside what it achieved: cost and behaviour.

A share with nothing to count is ``None`` (undefined), never 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from heldout.agent.footprint import Footprint, footprint
from heldout.agent.trace import Trace


@dataclass(frozen=True, slots=True)
class Cost:
    """Means per valid investigation. ``usd`` is ``None`` when any price is unknown."""

    investigations: int
    usd: float | None
    tokens: float
    output_tokens: float
    seconds: float
    calls: float
    steps: float
    total_usd: float | None
    total_tokens: int
    total_seconds: float


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Shares over all valid investigations of an arm, each with its count behind it.

    ``early_searches``: change searches that reach before the day of the incident.
    ``redundant``: tool calls that repeat an earlier call of the same investigation word for word.
    ``evidence_shown``: cited evidence ids that some tool answer had shown.
    ``entities_exist``: entities named in the submission that the world has.
    ``limits``: investigations that ended on a limit instead of a submission.
    """

    early_searches: float | None
    change_searches: int
    redundant: float | None
    tool_calls: int
    evidence_shown: float | None
    evidence_cited: int
    entities_exist: float | None
    entities_named: int
    limits: float | None
    investigations: int


def cost(traces: Sequence[Trace], tool_calls: int) -> Cost:
    """What an arm's valid investigations took, ``tool_calls`` of them in all."""
    n = max(1, len(traces))
    prices = [trace.usd for trace in traces]
    known = [price for price in prices if price is not None]
    usd = sum(known) if len(known) == len(prices) else None
    tokens = sum(trace.input_tokens + trace.output_tokens for trace in traces)
    seconds = sum(trace.seconds for trace in traces)
    return Cost(
        investigations=len(traces),
        usd=None if usd is None else usd / n,
        tokens=tokens / n,
        output_tokens=sum(trace.output_tokens for trace in traces) / n,
        seconds=seconds / n,
        calls=sum(trace.calls for trace in traces) / n,
        steps=tool_calls / n,
        total_usd=usd,
        total_tokens=tokens,
        total_seconds=seconds,
    )


class Footprints:
    """Counts footprints, each trace once: reading one back from a ledger is not free.

    ``known`` gives, per incident, the entity ids and names of its world; without it the share of
    named entities that exist is undefined.
    """

    def __init__(self, known: Mapping[str, frozenset[str]] | None = None) -> None:
        self._known = known or {}
        self._counted: dict[int, tuple[Trace, Footprint]] = {}

    def of(self, incident: str, trace: Trace) -> Footprint:
        """The footprint of one trace."""
        held = self._counted.get(id(trace))
        if held is None:
            # The trace is kept with its counts, so that no other one can get its id meanwhile.
            held = (trace, footprint(trace, self._known.get(incident)))
            self._counted[id(trace)] = held
        return held[1]


def behaviour(footprints: Iterable[Footprint]) -> Behaviour:
    """Shares over an arm's valid investigations."""
    every = list(footprints)
    searches, calls = sum(f.searches for f in every), sum(f.calls for f in every)
    cited, named = sum(f.cited for f in every), sum(f.named for f in every)
    return Behaviour(
        early_searches=_share(sum(f.early for f in every), searches),
        change_searches=searches,
        redundant=_share(sum(f.repeated for f in every), calls),
        tool_calls=calls,
        evidence_shown=_share(sum(f.shown for f in every), cited),
        evidence_cited=cited,
        entities_exist=_share(sum(f.exist for f in every), named),
        entities_named=named,
        limits=_share(sum(f.limited for f in every), len(every)),
        investigations=len(every),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
