"""``python -m bench.recall [--scale SHARE] [--print]``: measure, print, write the page."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from bench.recall.disguises import words
from bench.recall.facts import read_facts
from bench.recall.prose import blocks, plain_incident, refused, sentences
from bench.recall.table import prose_lines, recall_table, write_page
from bench.recall.trials import Bench, Class, classes
from heldout.errors import HeldoutError
from heldout.gate.engine import Engine
from heldout.gate.material import read_sources
from heldout.gate.vocabulary import load_vocabulary
from heldout.settings import Settings, load_settings
from heldout.split import HeldoutAccess, declare_process

SHOWN = 3
"""Missed trials of a class that are printed."""
REAL = Path(__file__).resolve().parents[3] / "shared" / "real"


def reports_folder() -> Path | None:
    """The reports of real incidents, ``None`` where there are none on this machine."""
    folder = Path(os.environ.get("HELDOUT_REAL_DATA") or REAL) / "incident_reports"
    return folder if folder.is_dir() else None


def tier_of(engine: Engine, name: str) -> str:
    """What the gate makes of a name; empty where its inventory lacks it."""
    held = engine.inventory.names.get("".join(words(name)))
    return held.tier if held else ""


def measured(settings: Settings, scale: float) -> list[Class]:
    """Every class, printed as it is done."""
    sources = read_sources(settings, HeldoutAccess())
    facts = read_facts((one.world, one.alert, one.read_truth()) for one in sources)
    engine = Engine(settings)
    bench = Bench(engine)
    rows = []
    for row in classes(facts, partial(tier_of, engine), scale):
        rows.append(bench.run(row))
        state = "" if row.holds else "  below its floor"
        print(f"{row.group:14}{row.name:32}{len(row.trials):5}{row.recall:8.3f}{state}", flush=True)
        for trial in row.missed[:SHOWN] if row.floor is not None else ():
            print(f"{'':14}missed {trial.fact!r} as {trial.told!r}")
    return rows


def false_positives(settings: Settings, folder: Path) -> list[str]:
    """The table over real reports, with and without services of plain words."""
    given = blocks(sentences(folder))
    found = [
        refused(Engine(settings, also=also), given)
        for also in ((), (plain_incident(load_vocabulary()),))
    ]
    for one in (one for part in found for one in part):
        for finding in one.findings:
            print(f"refused: {finding.rule} {finding.matched!r}")
    return prose_lines(len(given), *found)


def run(arguments: Sequence[str]) -> int:
    """Measure all; 1 where a floor is missed or nothing is built."""
    parser = argparse.ArgumentParser(prog="python -m bench.recall", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the trials, to look")
    parser.add_argument("--print", action="store_true", help="leave the page as it is")
    asked = parser.parse_args(arguments)
    declare_process("gate")
    try:
        settings = load_settings(None)
        rows = measured(settings, asked.scale)
        folder = reports_folder()
        prose = ["No reports of real incidents on this machine: false positives not measured."]
        prose = false_positives(settings, folder) if folder else prose
    except HeldoutError as error:
        print(f"error: {error.sentence()}", file=sys.stderr)
        return error.exit_code
    body = [*recall_table(rows), "", *prose]
    if asked.print:
        print("\n".join(body))
    else:
        write_page(body, "python -m bench recall")
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
