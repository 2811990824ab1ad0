"""Play the main job on prod_hard with the simulated models and write its figures into README.md."""

from __future__ import annotations

import os
import platform
import re
from datetime import UTC, datetime
from pathlib import Path

from heldout.compare import Comparison
from heldout.pipeline import run_stages
from heldout.pipeline.demo import demo_job
from heldout.score.result import Score, read_score
from heldout.settings import load_settings
from heldout.store import Ledger
from heldout.store.queries import edit_events, proposals, scores

ROOT = Path(__file__).resolve().parents[1]
MARKS = re.compile(r"(<!-- figures:begin -->\n).*?(<!-- figures:end -->)", re.DOTALL)
WHERE = {"gate": "the leak gate", "form": "their form", "screen": "the screen on train"}
REPEATS = 3
COMMAND = "python -m bench figures"


def main() -> None:
    """Run the job, rewrite the part of README.md between its marks, and print it."""
    job = demo_job(ROOT, repeats=REPEATS, transfer=("sim/scattered@low",), with_set="prod_hard")
    done = run_stages(job)
    settings = load_settings(Path(job.project))
    with Ledger.open(settings.ledger, read_only=True) as ledger:
        found = [read_score(row.result) for row in reversed(scores(ledger, job=done.tuned.job))]
        evidence = proposals(ledger, job=done.tuned.job)[0].evidence if found else {}
        refused = refusals(ledger, done.tuned.job)
    if not found:
        print(done.text)
        return
    text = "\n".join(
        [
            *table(found, evidence),
            "",
            *notes(found[0], refused),
            "",
            f"*{datetime.now(UTC):%Y-%m-%d}, {machine()}, `{COMMAND}`; {REPEATS} repeats; "
            f"tune and both scores took {done.seconds:.0f} s wall, {done.cpu_seconds:.0f} s CPU. "
            "Class of evidence: mechanism test (simulated models, own generator). It shows that "
            "the machinery finds and keeps a real improvement; it says nothing of a real model.*",
            "",
        ]
    )
    path = ROOT / "README.md"
    old = path.read_text(encoding="utf-8")
    path.write_text(MARKS.sub(lambda m: m.group(1) + text + m.group(2), old), encoding="utf-8")
    print(text)


def table(found: list[Score], evidence: dict[str, object]) -> list[str]:
    """Markdown rows: train, the held-out half, the no-op arm, controls, the other model."""
    first = found[0]
    rows = ["| what | before | after | fixed / broken | exact McNemar |", "|---|---|---|---|---|"]
    traps = evidence.get("traps")
    if isinstance(traps, dict):
        train = [one for one in evidence["incidents"] if one["kind"] == "trap"]  # type: ignore[attr-defined,index]
        before, after = (sum(_majority(one[arm]) for one in train) for arm in ("before", "after"))
        rows.append(
            f"| train traps, fresh repeats | {before} of {len(train)} | {after} of {len(train)} | "
            f"{traps['fixed_incidents']} / {traps['broken_incidents']} | - |"
        )
    rows.append(_row(f"**held-out traps**, {first.model}", first.traps))
    rows += [
        _row(f"held-out traps, arm `{name}` against before", arm)
        for name, arm in first.arms.items()
        if name != "after"
    ]
    if first.controls is not None:
        rows.append(_row("held-out controls", first.controls))
    rows += [_row(f"held-out traps, {one.model}, same brain", one.traps) for one in found[1:]]
    return rows


def _majority(results: list[bool]) -> bool:
    return 2 * sum(results) > len(results)


def _row(name: str, pairs: Comparison) -> str:
    before, after = pairs.before, pairs.after
    flips = f"{pairs.count('fixed')} / {pairs.count('broken')}"
    return (
        f"| {name} | {before.solved_count} of {before.incidents} | {after.solved_count} of "
        f"{after.incidents} | {flips} | p = {pairs.p:.2g} |"
    )


def notes(score: Score, refused: dict[str, int]) -> list[str]:
    """What stands beside the table: controls, floors, refused drafts, what could be seen."""
    floors = ", ".join(f"{one.name} {one.traps_solved} of {one.traps}" for one in score.floors)
    listed = ", ".join(f"{count} by {kind}" for kind, count in sorted(refused.items())) or "none"
    return [
        f"- {score.harm.sentence()}",
        f"- Floors on held-out traps, no model: {floors}.",
        f"- Refused drafts: {listed}.",
        f"- {score.detectable.sentence()[:1].upper()}{score.detectable.sentence()[1:]}.",
    ]


def refusals(ledger: Ledger, job: str) -> dict[str, int]:
    """Refused drafts of a job by where they were refused."""
    counted: dict[str, int] = {}
    for event in edit_events(ledger, job=job):
        if event.event == "rejected":
            kind = WHERE.get(str((event.detail or {}).get("by")), "the screen on train")
            counted[kind] = counted.get(kind, 0) + 1
    return counted


def machine() -> str:
    """Cores, architecture and Python, without a name of the machine."""
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
