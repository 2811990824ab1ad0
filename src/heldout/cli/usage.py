"""``heldout usage``: how agents used the tools, and what the graph or the tools should gain."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from heldout.cli.options import Project


def usage(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Run, by its id's beginning.")],
    rows: Annotated[int, typer.Option("--rows", help="Rows shown of each measure.", min=1)] = 8,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    project: Project = None,
) -> None:
    """Count how a run's agents used what they were offered, by verdict and arm.

    What was asked for and is not offered, what came back empty, how far searches reach, what was
    repeated, cited or invented; and what the graph or the tools should gain from it.
    """
    from heldout.settings import load_settings
    from heldout.store import Ledger
    from heldout.transcript import page_width
    from heldout.usage import render_usage, usage_plain
    from heldout.usage import usage as usage_of

    settings = load_settings(project)
    with Ledger.open(settings.ledger, read_only=True) as ledger:
        found = usage_of(ledger, run, settings.root)
    if as_json:
        typer.echo(json.dumps(usage_plain(found), indent=1))
    else:
        typer.echo(render_usage(found, rows=rows, width=page_width()))


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("usage")(usage)
