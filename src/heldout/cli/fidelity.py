"""``heldout fidelity``: do incidents end in the simulation as they ended in production?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from heldout.cli.options import Model, Project


def fidelity(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help='JSON lines: {"incident", "answer", "verdict": "pass" or "fail"}.'
        ),
    ],
    model: Model = "",
    run: Annotated[
        str, typer.Option("--run", metavar="RUN[:ARM]", help="Compare with this run alone.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    project: Project = None,
) -> None:
    """Compare production's verdicts with the simulated ones, incident by incident.

    An incident is named by its id, by the draft it came from, or by its report's file name.
    Agreement, kappa with its interval, how often the wrong answer is the same one, and what cannot
    be matched. The comparison is kept in the ledger.
    """
    from heldout.intake.fidelity import measure
    from heldout.settings import load_settings
    from heldout.store import Ledger
    from heldout.store.fidelity import record_fidelity
    from heldout.terminal import clean

    settings = load_settings(project)
    with Ledger.open(settings.ledger) as ledger:
        found = measure(settings, ledger, file, model=model, run=run)
        record_fidelity(ledger, found.plain())
    if as_json:
        typer.echo(json.dumps(found.plain(), indent=1))
    else:
        typer.echo(clean("\n".join(found.lines())))


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("fidelity")(fidelity)
