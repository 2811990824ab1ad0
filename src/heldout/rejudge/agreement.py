"""How far the judges of one run agree: exact, models, people, over its stored verdicts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from heldout.rejudge.override import PERSON
from heldout.stats import Interval, cohen_kappa
from heldout.store import Ledger, queries
from heldout.store.queries import InvestigationRow, VerdictRow
from heldout.terminal import visible
from heldout.transcript import counted, require_open

JUDGES = ("exact", "llm", PERSON)
SHOWN = 20
"""Disagreements that a text lists."""


@dataclass(frozen=True, slots=True)
class PairOfJudges:
    """Two judges over what both judged; ``differing``: (incident, arm, repeat, one, two)."""

    one: str
    two: str
    both: int
    agreed: int
    kappa: Interval
    differing: tuple[tuple[str, str, int, str, str], ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """The judges of a run: how many verdicts of each, in pairs, and the newest beside the first.

    ``own`` and ``newest`` count pass, fail and invalid over the investigations that count.
    """

    run: str
    verdicts: Mapping[str, int]
    pairs: tuple[PairOfJudges, ...]
    own: Mapping[str, int]
    newest: Mapping[str, int]


def agreement_of(ledger: Ledger, run: str) -> Agreement:
    """Compare the newest valid verdict of each judge, by investigation.

    Of a scored run this needs a score that has ended.
    """
    row = queries.run(ledger, run)
    require_open(ledger, row)
    rows = [one for one in counted(ledger, queries.investigations(ledger, row.run)) if one.verdicts]
    newest = {judge: {_key(one): _by(one, judge) for one in rows} for judge in JUDGES}
    return Agreement(
        run=row.run,
        verdicts={
            judge: sum(given is not None for given in newest[judge].values()) for judge in JUDGES
        },
        pairs=tuple(_pair(newest, *two) for two in combinations(JUDGES, 2)),
        own=Counter(one.verdicts[0].result for one in rows),
        newest=Counter(one.verdicts[-1].result for one in rows),
    )


def agreement_text(found: Agreement) -> str:
    """The agreement for people; the run's own figures first."""
    lines = [
        f"run {found.run}",
        f"own verdicts (what every figure rests on): {_counts(found.own)}",
        f"newest opinions: {_counts(found.newest)}",
        "verdicts: " + ", ".join(f"{judge} {found.verdicts[judge]}" for judge in JUDGES),
    ]
    told = [pair for pair in found.pairs if pair.both]
    for pair in told:
        kappa = pair.kappa
        figure = (
            "kappa unknown: one of them always said the same"
            if math.isnan(kappa.value)
            else f"kappa {kappa.value:.2f} ({kappa.low:.2f} to {kappa.high:.2f})"
        )
        lines.append(f"{pair.one} and {pair.two}: agree on {pair.agreed} of {pair.both}, {figure}")
        lines += [
            f"  {visible(incident, 60)} {visible(arm, 30)} repeat {repeat}: {pair.one} {one}, "
            f"{pair.two} {two}"
            for incident, arm, repeat, one, two in pair.differing[:SHOWN]
        ]
        if len(pair.differing) > SHOWN:
            lines.append(f"  and {len(pair.differing) - SHOWN} more")
    if not told:
        lines.append(
            "no investigation has two judges; 'heldout judge again' or 'override' adds one"
        )
    return "\n".join(lines)


def _key(row: InvestigationRow) -> tuple[str, str, int]:
    return row.incident, row.arm, row.repeat


def _by(row: InvestigationRow, judge: str) -> str | None:
    given: Sequence[VerdictRow] = [
        one for one in row.verdicts if one.judge == judge and one.result in ("pass", "fail")
    ]
    return given[-1].result if given else None


def _pair(
    newest: Mapping[str, Mapping[tuple[str, str, int], str | None]], one: str, two: str
) -> PairOfJudges:
    both = []
    for key, first in newest[one].items():
        second = newest[two][key]
        if first is not None and second is not None:
            both.append((key, first, second))
    return PairOfJudges(
        one=one,
        two=two,
        both=len(both),
        agreed=sum(first == second for _, first, second in both),
        kappa=cohen_kappa([(first, second) for _, first, second in both]),
        differing=tuple((*key, first, second) for key, first, second in both if first != second),
    )


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{counts.get(name, 0)} {name}" for name in ("pass", "fail", "invalid"))
