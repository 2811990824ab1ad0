"""Does what was learnt on one model help another? Written into docs/how-to/second-model.md.

Each model is tuned in one project from the same shared brain, what was proposed is accepted by
policy, and one table is played on the held-out half of ``prod_hard``.
"""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime
from pathlib import Path

from bench.figures import machine
from heldout.edit import edit_from_plain
from heldout.pipeline import Job, run_stages
from heldout.pipeline.transferring import transfer_now, transfer_of
from heldout.review import AUTO, Reviewer, accept
from heldout.scaffold import make_project
from heldout.settings import FILE, Settings, load_settings
from heldout.store import Ledger
from heldout.store.queries import jobs, proposals
from heldout.transfer import Asked

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "how-to" / "second-model.md"
MARKS = re.compile(r"(<!-- second-model: [^\n]*-->\n).*?(<!-- end -->)", re.DOTALL)
PATIENCE = "\n[tune]\nmax_rounds = 16\ncandidates = 5\nmax_screen = 480\n"
"""For a model that follows little of what it is told, so that a small effect can be shown."""
MODELS = {"sim/anchored@low": "", "sim/scattered@high": PATIENCE, "sim/scattered@low": PATIENCE}
COMMAND = "python -m bench second_model"


def main() -> None:
    """Tune, accept and play in a scratch project, then rewrite the page between its marks."""
    home = ROOT / ".heldout" / "second-model"
    shutil.rmtree(home, ignore_errors=True)
    make_project(home, with_set="prod_hard")
    plain, made = (home / FILE).read_text(encoding="utf-8"), []
    for model, limits in MODELS.items():
        (home / FILE).write_text(plain + limits, encoding="utf-8")
        made.append(run_stages(Job(project=str(home), model=model)).tuned.proposal)
    (home / FILE).write_text(plain, encoding="utf-8")
    settings = load_settings(home)
    with Ledger.open(settings.ledger) as ledger:
        for proposal in filter(None, made):
            accept(settings, ledger, proposal, Reviewer(AUTO, "accepted by policy 'auto'"))
    transfer_now(settings, Asked(models=tuple(MODELS)))
    write(settings)


def write(settings: Settings) -> None:
    """Put the newest table of a project into the page, and print it."""
    done = transfer_of(settings)
    with Ledger.open(settings.ledger, read_only=True) as ledger:
        lines = [_tuned(ledger, model) for model in MODELS]
    text = "\n".join(
        [
            *lines,
            "",
            done.markdown,
            "",
            f"*{datetime.now(UTC):%Y-%m-%d}, {machine()}; `{COMMAND}` plays it anew.*",
            "",
        ]
    )
    old = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(MARKS.sub(lambda m: m.group(1) + text + m.group(2), old), encoding="utf-8")
    print(text)


def _tuned(ledger: Ledger, model: str) -> str:
    """What tuning for one model came to, as a line of a list."""
    ended = jobs(ledger, kind="tune", model=model)
    found = [row for row in proposals(ledger, model=model) if row.decision is not None]
    if not found:
        times = "once" if len(ended) == 1 else f"{len(ended)} times"
        return f"- `{model}`, tuned {times}: no edit passed the screen, so it has no overlay."
    kept = [edit_from_plain(one["edit"]) for one in found[0].edits or []]
    lines = sum(len(edit.added_lines()) for edit in kept)
    edits = "one edit" if len(kept) == 1 else f"{len(kept)} edits"
    return f"- `{model}`: {edits}, {lines} lines, accepted into its overlay."
