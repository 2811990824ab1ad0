"""``heldout report``: write the HTML report of a job or a score and print it as text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heldout.cli.options import Project


def report(
    of: Annotated[
        str, typer.Argument(help="Job or score, by its id's beginning; default: the newest.")
    ] = "",
    repair: Annotated[
        list[Path] | None,
        typer.Option("--repair", help="File of trajectories to compare agents by; repeatable."),
    ] = None,
    project: Project = None,
) -> None:
    """Write the report as one HTML file and as text.

    With --repair it compares agents and models over tasks of the repair environment instead.
    """
    if repair:
        _repairs(repair, of, project)
        return
    from heldout.pipeline import report_of
    from heldout.settings import load_settings

    text, path = report_of(load_settings(project), of)
    typer.echo(text)
    typer.echo(f"Report: {path}")


def _repairs(files: list[Path], of: str, project: Path | None) -> None:
    from heldout.errors import UsageError
    from heldout.report.repairs import gather_repairs, repairs_text, save_repairs
    from heldout.settings import load_settings
    from heldout.terminal import clean

    if of:
        raise UsageError("a job's report and a comparison are two pages", mend="Ask for one")
    page = gather_repairs(files)
    path = save_repairs(page, load_settings(project).reports)
    typer.echo(clean(repairs_text(page)))
    typer.echo(f"Report: {path}")


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("report")(report)
