"""What benches that play whole runs share: cases without worlds, and a judge without questions."""

from __future__ import annotations

import time
from pathlib import Path

from heldout.incident import Incident
from heldout.interface import Submission
from heldout.judge.verdict import Verdict
from heldout.settings import Settings
from heldout.split import Case
from heldout.truth import Truth, write_truth


def bench_cases(settings: Settings, count: int) -> tuple[Case, ...]:
    """Cases with a truth each, as a run reads it, and no world."""
    found = []
    for number in range(count):
        name = f"i-{number:04}"
        truth = Truth(
            incident=name, culprit_entity="e-1", culprit_change="c-1", culprit_field="size",
            accepted_entities=("e-1",), accepted_changes=("c-1",), mechanism="pool lowered",
            mechanism_terms=(("pool",),), trigger="load", affected=(), unaffected=(), chain=(),
            decoys=(), near_misses=(), recommended_fix="raise it", canary=f"canary-{number:016x}",
        )  # fmt: skip
        path = settings.truths / f"{name}.json"
        digest = write_truth(truth, path)
        incident = Incident(name, "bench", f"# Alert {number}", Path(f"w{number}"), f"w{number}")
        found.append(
            Case(
                incident, "train", "trap", "config", "family", (), f"g{number}", "simulated",
                path, digest,
            )
        )  # fmt: skip
    return tuple(found)


def judge_by_word(submission: Submission, truth: Truth) -> Verdict:
    """Pass for a complete answer."""
    return Verdict("pass" if submission.complete else "fail", "it is complete", "bench")


class Clock:
    """Wall and CPU seconds of this process since it was made."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        """(wall, CPU) so far."""
        return time.perf_counter() - self._wall, time.process_time() - self._cpu
