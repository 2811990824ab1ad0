"""``heldout report``: write the HTML report of a job or a score and print it as text."""

from __future__ import annotations

from typing import Annotated

import typer

from heldout.cli.options import Project


def report(
    of: Annotated[
        str, typer.Argument(help="Job or score, by its id's beginning; default: the newest.")
    ] = "",
    project: Project = None,
) -> None:
    """Write the report as one HTML file and as text."""
    from heldout.pipeline import report_of
    from heldout.settings import load_settings

    text, path = report_of(load_settings(project), of)
    typer.echo(text)
    typer.echo(f"Report: {path}")


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("report")(report)
