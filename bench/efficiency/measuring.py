"""One seed: a project, a job for every arm, one score of what they left."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.efficiency.table import ARMS, SET, Arm, Measured
from heldout.pipeline import Job
from heldout.pipeline.job import Tuned
from heldout.pipeline.progress import SILENT
from heldout.pipeline.stages import build_set, start_score, tune_brain
from heldout.scaffold import make_project
from heldout.score import ScoreRequest
from heldout.score.result import Score, read_score
from heldout.settings import load_settings
from heldout.store import Ledger
from heldout.store.queries import cost, edit_events, jobs, proposals, runs, scores

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = """
[run]
seed = {seed}
repeats = 1

[tune]
recall = false
{arm}
[behaviour]
closed_book = false
rename = 0
ablation = 0
"""
"""Train is played once per look, as GEPA plays it. Probes cost the same whoever wrote a proposal,
so they are left out."""


def measure(seed: int) -> list[Measured]:
    """Every arm at one seed, in the order of the table."""
    with _project() as root:
        plain = (root / "heldout.toml").read_text(encoding="utf-8")
        tuned: dict[str, Tuned] = {}
        for arm in ARMS:
            if arm.of:
                tuned[arm.name] = tuned[arm.of]
                continue
            text = plain + SETTINGS.format(seed=seed, arm=arm.settings)
            (root / "heldout.toml").write_text(text, encoding="utf-8")
            job = Job(project=str(root), strategy=arm.strategy)
            if not tuned:
                build_set(job, SILENT)
            tuned[arm.name] = tune_brain(job, SILENT)
        with Ledger.open(load_settings(root).ledger) as ledger:
            left = {arm.name: _left(ledger, seed, arm, tuned[arm.name]) for arm in ARMS}
        found = {name: brain for name, (_, brain) in left.items()}
        before = next(iter(tuned.values())).before
        score = _score(root, before, found)
        return [_with_gain(one, brain, before, score) for one, brain in left.values()]


@contextmanager
def _project() -> Iterator[Path]:
    """A fresh project in a folder of its own, gone afterwards; worlds are kept between seeds."""
    worlds = Path(tempfile.gettempdir()) / "heldout-bench-efficiency"
    with tempfile.TemporaryDirectory(prefix="heldout-efficiency-") as folder:
        root = Path(folder) / "project"
        make_project(root, with_set=SET)
        for name in ("worlds", "truths"):
            if (worlds / name).is_dir():
                shutil.copytree(worlds / name, root / ".heldout" / name)
        yield root
        for name in ("worlds", "truths"):
            if not (worlds / name).is_dir():
                shutil.copytree(root / ".heldout" / name, worlds / name)


def _left(ledger: Ledger, seed: int, arm: Arm, tuned: Tuned) -> tuple[Measured, str]:
    """What a job spent by purpose, and the brain that it left; the first brain where none."""
    spent = Counter[str]()
    for run in runs(ledger, job=tuned.job):
        spent[run.purpose] += cost(ledger, run=run.run).investigations
    ended = next(row.detail for row in jobs(ledger, kind="tune") if row.job == tuned.job)
    searched = [e.detail for e in edit_events(ledger, job=tuned.job) if e.event == "searched"]
    made = proposals(ledger, job=tuned.job)
    if arm.of:
        played = int(searched[0]["played"])
        solved = max(passed for _, passed in searched[0]["course"])
        brain = str(searched[0]["brain"])
    else:
        played = spent["train"] + spent["screen"]
        solved = int(ended["train"][0])
        brain = made[0].after_hash if made else tuned.before
    one = Measured(
        arm=arm.name,
        seed=seed,
        status="" if arm.of else tuned.status,
        played=played,
        confirming=0 if arm.of else spent["confirm"],
        solved=(solved, int(ended["train"][1])),
    )
    return one, brain


def _score(root: Path, before: str, brains: dict[str, str]) -> tuple[Score, dict[str, str]] | None:
    """One look at the held-out half with each different brain as an arm; which arm is whose."""
    different = list(dict.fromkeys(brain for brain in brains.values() if brain != before))
    if not different:
        return None
    settings = load_settings(root)
    names = {brain: f"brain-{number}" for number, brain in enumerate(different[1:], 1)}
    request = ScoreRequest(
        model=settings.models.agent,
        before=before,
        after=different[0],
        set=settings.set,
        arms=(),
        brains={name: brain for brain, name in names.items()},
        floors=False,
    )
    done = start_score(settings, request, SILENT)
    with Ledger.open(settings.ledger, read_only=True) as ledger:
        row = next(row for row in scores(ledger) if row.score == done.score)
        return read_score(row.result), {different[0]: "after", **names}


def _with_gain(
    one: Measured, brain: str, before: str, scored: tuple[Score, dict[str, str]] | None
) -> Measured:
    """The measurement with what its brain did on held-out traps."""
    if scored is None:
        return one
    score, names = scored
    first = score.traps.before
    if brain == before:
        return one.gained(first.solved_count, first.solved_count, 0, 0, first.incidents)
    pairs: Any = score.traps if names[brain] == "after" else score.arms[names[brain]]
    return one.gained(
        pairs.before.solved_count,
        pairs.after.solved_count,
        pairs.count("fixed"),
        pairs.count("broken"),
        pairs.before.incidents,
    )
