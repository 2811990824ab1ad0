"""Production against simulation: does an incident that was answered wrongly there fail here too?

Each line of a JSONL file is one investigation of production: the incident that it became here (or
its draft, or its report's file name), the agent's answer, and whether that was right.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from heldout.compare import final_outcomes, named_arm
from heldout.errors import IngestError, SplitViolation, UsageError
from heldout.floors.bm25 import words
from heldout.intake.drafts import states
from heldout.intake.production import Line, Word, read_lines
from heldout.interface import Submission
from heldout.llm import ModelName
from heldout.run.history import outcomes
from heldout.run.plan import Outcome
from heldout.settings import Settings
from heldout.stats.agreement import cohen_kappa
from heldout.stats.rates import Interval, wilson
from heldout.store import Ledger, queries
from heldout.store.queries import RunRow
from heldout.terminal import visible
from heldout.transcript import require_open

FEWEST, SHARE = 3, 0.6
"""Two wrong answers say the same where so large a share of the shorter one's telling words, and at
least so many of them, stand in the other."""
_PLAIN = frozenset(
    words(
        "a an and are as at be because been before but by can did do does for from had has have in "
        "into is it its no not of on or so that the their then there this to was were when which "
        "while with after cause caused root change changed service error errors failed failing "
        "failure issue"
    )
)


@dataclass(frozen=True, slots=True)
class Matched:
    """One incident: how production and simulation ended, of how many tries each.

    ``same_wrong`` is the share of failing simulated tries that gave production's wrong answer;
    ``None`` where not both failed, or where an answer says too little to compare.
    """

    incident: str
    production: Word
    simulated: Word
    tries: tuple[int, int]
    same_wrong: float | None = None


@dataclass(frozen=True, slots=True)
class Fidelity:
    """The comparison. ``unmatched`` are (line, incident, why); ``runs`` what was compared with."""

    model: str
    file_digest: str
    matched: tuple[Matched, ...]
    unmatched: tuple[tuple[int, str, str], ...] = ()
    runs: tuple[str, ...] = ()
    id: str = field(default="")

    @property
    def agreement(self) -> Interval:
        """Share of incidents on which both ended alike (Wilson)."""
        return _rate(sum(one.production == one.simulated for one in self.matched),
                     len(self.matched))  # fmt: skip

    @property
    def kappa(self) -> Interval:
        """Cohen's kappa of the two verdicts."""
        return cohen_kappa([(one.production, one.simulated) for one in self.matched])

    @property
    def compared(self) -> list[float]:
        """Of each incident that both failed and whose answers can be compared: the share alike."""
        return [one.same_wrong for one in self.matched if one.same_wrong is not None]

    @property
    def same_wrong(self) -> Interval:
        """Share of those incidents on which most failing tries give production's wrong answer."""
        return _rate(sum(one > 0.5 for one in self.compared), len(self.compared))

    def plain(self) -> dict[str, Any]:
        """Plain data for the ledger and for ``--json``; what is not known is ``None``."""
        cells = {f"{a}/{b}": 0 for a in ("pass", "fail") for b in ("pass", "fail")}
        for one in self.matched:
            cells[f"{one.production}/{one.simulated}"] += 1
        return {
            "fidelity": self.id, "model": self.model, "evidence": _evidence(self.model),
            "file_digest": self.file_digest, "runs": list(self.runs), "cells": cells,
            "agreement": _plain(self.agreement), "kappa": _plain(self.kappa),
            "same_wrong": {**_plain(self.same_wrong), "compared": len(self.compared)},
            "incidents": [asdict(one) for one in self.matched],
            "unmatched": [
                {"line": line, "incident": name, "why": why} for line, name, why in self.unmatched
            ],
        }  # fmt: skip

    def _constant(self) -> str:
        """A word where kappa can be nothing but 0: one of the two never varies."""
        sides = ({one.production for one in self.matched}, {one.simulated for one in self.matched})
        if sides[0] == sides[1] or min(map(len, sides)) > 1:
            return ""
        return "; one of the two always ends alike, so it is 0 whatever the other does"

    def lines(self) -> list[str]:
        """For people; the first line says what it is evidence of."""
        n, both = len(self.matched), sum(one.production == one.simulated == "fail"
                                         for one in self.matched)  # fmt: skip
        said = [f"fidelity of {self.model} ({_evidence(self.model)}): {n} incidents matched"]
        said.append(f"  agreement   {_shown(self.agreement, percent=True)}")
        said.append(f"  kappa       {_shown(self.kappa)}{self._constant()}")
        said.append(
            f"  same wrong  {_shown(self.same_wrong, percent=True)}, of {len(self.compared)} "
            f"comparable of {both} that both failed"
        )
        for one in self.matched:
            alike = "" if one.same_wrong is None else f", same wrong answer {one.same_wrong:.0%}"
            differs = "" if one.production == one.simulated else "  differs"
            said.append(
                f"  {visible(one.incident, 40):<14} production {one.production} of {one.tries[0]}, "
                f"simulated {one.simulated} of {one.tries[1]}{alike}{differs}"
            )
        said += [
            f"  line {line}: {visible(name, 60) or '(no incident)'} cannot be matched: {why}"
            for line, name, why in self.unmatched
        ]
        return said


def _rate(hits: int, n: int) -> Interval:
    return wilson(hits, n) if n else Interval(math.nan, 0.0, 1.0, "Wilson")


def _evidence(model: str) -> str:
    return "mechanism test" if ModelName.parse(model).is_simulated else "real model"


def _plain(one: Interval) -> dict[str, Any]:
    value = None if math.isnan(one.value) else round(one.value, 4)
    return {"value": value, "low": round(one.low, 4), "high": round(one.high, 4)}


def _shown(one: Interval, *, percent: bool = False) -> str:
    if math.isnan(one.value):
        return "not known"
    form = "{:.0%}" if percent else "{:.2f}"
    return f"{form.format(one.value)} ({form.format(one.low)} to {form.format(one.high)})"


def measure(
    settings: Settings, ledger: Ledger, path: Path, *, model: str = "", run: str = ""
) -> Fidelity:
    """Compare a file of production verdicts with what the ledger holds.

    Simulated verdicts are those of ``run`` (``RUN`` or ``RUN:ARM``), else of the model's newest
    finished runs of one arm. Runs over the held-out half count only when their score has ended. A
    file without a single usable line is an :class:`IngestError`, a ledger without a run that may
    be read a :class:`UsageError`.
    """
    lines, bad = read_lines(path)
    if not lines:
        raise IngestError(
            f"no line of it is a verdict of production ({bad[0][2] if bad else 'it is empty'})",
            where=str(path),
            mend='Give each line {"incident": ..., "answer": ..., "verdict": "pass" or "fail"}',
        )
    chosen = [named_arm(ledger, run)] if run else _newest(ledger, model or settings.models.agent)
    played, used = _played(ledger, chosen, closed_raises=bool(run))
    if not used:
        raise UsageError(
            "no finished run is there to compare with",
            where=f"model {model or settings.models.agent}",
            mend="Play the incidents with 'heldout run', or name a run with --run",
        )
    asked = chosen[0][0].model if run else (model or settings.models.agent)
    matched, unmatched = _matched(lines, _incidents(settings), played)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    own = hashlib.sha256("\0".join([digest, asked, *used]).encode()).hexdigest()[:8]
    return Fidelity(
        asked, digest, tuple(matched), tuple(sorted([*bad, *unmatched])), tuple(used), f"f-{own}"
    )


def _newest(ledger: Ledger, model: str) -> list[tuple[RunRow, str]]:
    """A model's finished runs of one arm, the newest first."""
    return [
        (row, str(row.manifest["arms"][0]["name"]))
        for row in reversed(queries.runs(ledger, model=model))
        if row.status == "finished" and len(row.manifest["arms"]) == 1
    ]


def _played(
    ledger: Ledger, chosen: Iterable[tuple[RunRow, str]], *, closed_raises: bool
) -> tuple[dict[str, list[Outcome]], list[str]]:
    """Valid outcomes by incident, each of the newest run that played it, and the runs used."""
    played: dict[str, list[Outcome]] = {}
    used: list[str] = []
    for row, arm in chosen:
        try:
            require_open(ledger, row)
        except SplitViolation:
            if closed_raises:
                raise
            continue
        fresh: dict[str, list[Outcome]] = defaultdict(list)
        for one in final_outcomes(outcomes(ledger, row.run)).get(arm, []):
            if one.verdict.result != "invalid" and one.incident not in played:
                fresh[one.incident].append(one)
        if fresh:
            used.append(row.run)
        played |= fresh
    return played, used


def _incidents(settings: Settings) -> dict[str, tuple[str, ...]]:
    """The incidents that a draft, or the file name of its report, became."""
    found: dict[str, tuple[str, ...]] = {}
    for one in reversed(states(settings)):
        if one.incidents:
            found[one.draft] = found[one.report] = one.incidents
    return found


def _matched(
    lines: Sequence[Line],
    became: Mapping[str, tuple[str, ...]],
    played: Mapping[str, list[Outcome]],
) -> tuple[list[Matched], list[tuple[int, str, str]]]:
    by_name: dict[str, list[Line]] = {}
    for line in lines:
        by_name.setdefault(line.incident, []).append(line)
    matched, unmatched = [], []
    for name, given in by_name.items():
        ids = became.get(name, (name,))
        tries = [one for incident in ids for one in played.get(incident, ())]
        if not tries:
            why = "no run holds a valid verdict on it"
            unmatched += [(line.number, name, why) for line in given]
            continue
        production = _majority([line.verdict for line in given])
        simulated = _majority(["pass" if one.verdict.result == "pass" else "fail"
                               for one in tries])  # fmt: skip
        alike = None
        if production == simulated == "fail":
            alike = _alike(
                [line.answer for line in given if line.verdict == "fail"],
                [one for one in tries if one.verdict.result == "fail"],
            )
        matched.append(Matched(name, production, simulated, (len(given), len(tries)), alike))
    return matched, unmatched


def _majority(verdicts: Sequence[Word]) -> Word:
    """What most say; a tie is a fail, as it is unsolved elsewhere."""
    return "pass" if 2 * verdicts.count("pass") > len(verdicts) else "fail"


def _alike(answers: Sequence[Any], tries: Sequence[Outcome]) -> float | None:
    """Share of failing tries whose answer is one of production's; ``None`` if none says enough."""
    told = [one for one in answers if one]
    found = []
    for attempt in tries:
        if attempt.trace is None:
            continue
        said = [same_answer(one, attempt.trace.submission) for one in told]
        known = [one for one in said if one is not None]
        if known:
            found.append(any(known))
    return sum(found) / len(found) if found else None


def same_answer(answer: Any, submission: Submission) -> bool | None:
    """Whether production's answer and a submission say the same; ``None`` if one says too little.

    An answer that names an entity or change by id is compared by it. Anything else is compared by
    its telling words, since another world spells its names differently.
    """
    if isinstance(answer, Mapping):
        for key in ("root_cause_change", "root_cause_entity"):
            own = getattr(submission, key)
            if answer.get(key) and own:
                return bool(answer[key] == own)
        answer = answer.get("mechanism") or answer.get("answer") or ""
    one = {word for word in words(str(answer)) if word not in _PLAIN}
    two = {word for word in words(submission.mechanism) if word not in _PLAIN}
    if min(len(one), len(two)) < FEWEST:
        return None
    shared = len(one & two)
    return shared >= FEWEST and shared / min(len(one), len(two)) >= SHARE
