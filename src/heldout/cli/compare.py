"""``heldout compare``: two stored runs, paired by incident."""

from __future__ import annotations

from typing import Annotated

import typer

from heldout.cli.options import Project


def compare(
    first: Annotated[str, typer.Argument(metavar="RUN_A", help="Run, or RUN:ARM.")],
    second: Annotated[str, typer.Argument(metavar="RUN_B", help="Run, or RUN:ARM.")],
    fail_on_harm: Annotated[
        bool, typer.Option("--fail-on-harm", help="Exit 3 when the second is worse.")
    ] = False,
    project: Project = None,
) -> None:
    """Compare two stored runs, paired by incident.

    Prints fixed, broken, both, neither, exact McNemar and the cost.
    """
    from heldout.pipeline import compare_by_name
    from heldout.settings import load_settings

    typer.echo(compare_by_name(load_settings(project), first, second, fail_on_harm=fail_on_harm))


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("compare")(compare)
