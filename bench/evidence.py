"""Play every arm of a score on prod_hard with a simulated model, and write the table to the docs.

``python -m bench evidence`` tunes blindly and by failures with the same small budget, accepts the
latter and scores it beside all its rivals. ``python -m bench.evidence PROJECT`` only writes the
table of that project's newest score.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

from bench.figures import machine
from heldout.pipeline import Scoring, score_now
from heldout.pipeline.demo import demo_job
from heldout.pipeline.job import settings_of
from heldout.pipeline.stages import build_set, tune_brain
from heldout.report import gather
from heldout.report.data import EvidenceTable
from heldout.review import Reviewer, accept
from heldout.settings import load_settings
from heldout.store import Ledger

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "how-to" / "evidence.md"
CHECKLIST = Path(__file__).with_name("checklist.md")
SETTINGS = """\
name = "evidence"
set = "prod_hard"
[models]
agent = "sim/anchored@low"
proposer = "sim/proposer"
[run]
repeats = 1
[tune]
max_rounds = 4
max_screen = 60
confirm_repeats = 1
[behaviour]
closed_book = false
rename = 0
ablation = 0
[score]
repeats = 1
"""
"""A budget that two jobs and eight arms can be had for in minutes."""

BY_HAND = (
    "`heldout tune --strategy blind`, `heldout tune`, `heldout score --arms all --checklist "
    "bench/checklist.md` with the settings of `bench/evidence.py`, table by `python -m "
    "bench.evidence PROJECT`"
)
BEGIN, END = "<!-- evidence: written by python -m bench evidence -->", "<!-- end -->"


def main() -> None:
    """Two tuning jobs, one score, one table."""
    job = demo_job(ROOT, repeats=1, with_set="prod_hard")
    (Path(job.project) / "heldout.toml").write_text(SETTINGS, encoding="utf-8")
    job = job.model_copy(update={"review": "wait", "target": "overlay", "strategy": "blind"})
    build_set(job)
    tune_brain(job)
    job = job.model_copy(update={"strategy": "reflect"})
    tuned = tune_brain(job)
    settings = settings_of(job)
    with Ledger.open(settings.ledger) as ledger:
        accept(settings, ledger, tuned.proposal, Reviewer("bench", "to be scored"))
    score_now(settings, Scoring(arms=("all",), checklist=CHECKLIST))
    write_page(Path(job.project), "`python -m bench evidence`")


def write_page(project: Path, command: str = BY_HAND) -> None:
    """Put the table of a project's newest score between its marks, and print it."""
    settings = load_settings(project)
    with Ledger.open(settings.ledger, read_only=True) as ledger:
        data = gather(ledger, settings)
    if data.arms is None or data.score is None:
        raise SystemExit("the newest job of this project has no score")
    score = data.score
    stamp = (
        f"*{datetime.now(UTC):%Y-%m-%d}, {machine()}, {command}; set "
        f"`{score.set}`, two jobs of four rounds, one repeat; the score took "
        f"{score.seconds:.0f} s wall, {score.cpu_seconds:.0f} s CPU. Class of "
        "evidence: mechanism test (a simulated model, own generator). It says nothing of a real "
        "model.*"
    )
    body = "\n".join([stamp, "", *table(data.arms), "", *notes(data.arms)])
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, tail = rest.partition(END)
    PAGE.write_text("\n".join([head + BEGIN, body, END]) + tail, encoding="utf-8")
    print(body)


def table(found: EvidenceTable) -> list[str]:
    """One Markdown row per arm."""
    rows = [
        "| arm | solved | unseen | outside | fixed | broken | p | p adj. | tuned vs it (p) | "
        f"controls broken | bound (margin {found.margin}) | invalid | tokens | USD |",
        "|" + "---|" * 14,
    ]
    for line in found.lines:
        cells = (
            line.name, line.solved, line.unseen, line.outside, line.fixed, line.broken, line.p,
            line.adjusted, line.ahead, line.harmed, line.bound, line.invalid, line.tokens, line.usd,
        )  # fmt: skip
        rows.append("| " + " | ".join(f"**{c}**" if line.main else c for c in cells) + " |")
    return rows


def notes(found: EvidenceTable) -> list[str]:
    """What each arm is, what was not played, and the footer."""
    said = [f"- `{line.name}`: {line.what}." for line in found.lines]
    said += [f"- `{name}` was not played: {why}." for name, why in found.left_out.items()]
    return [*said, "", *(f"{note}\n" for note in found.notes)]


if __name__ == "__main__":
    write_page(Path(sys.argv[1]))
