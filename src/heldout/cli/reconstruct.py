"""``heldout reconstruct``: a public fault suite as states to be scored, never tuned on."""

from __future__ import annotations

from typing import Annotated

import typer

from heldout.cli.options import Project

SUITES = "sregym-lite"
"""Named here so that the help needs to load none of them; a test holds it to what there is."""


def reconstruct(
    suite: Annotated[str, typer.Argument(help=f"Which suite: {SUITES}.")],
    into_set: Annotated[
        str,
        typer.Option("--into-set", metavar="SET", help="Keep it as this set, all of it held out."),
    ],
    tier: Annotated[
        str,
        typer.Option(
            "--tier",
            help="What was captured: graph (objects and changes), logs (events and logs too), "
            "metrics (series too).",
        ),
    ] = "metrics",
    names: Annotated[
        str, typer.Option("--names", help="The suite's own names (verbatim), or others (renamed).")
    ] = "verbatim",
    alerted: Annotated[
        bool, typer.Option("--alerted", help="Tell one alert; else only the application.")
    ] = False,
    project: Project = None,
) -> None:
    """Build a public suite's faults as states of small estates; no cluster runs, nothing is read.

    Its scores compare with other runs on the same set alone, never with the suite's own.
    """
    from heldout.pipeline.reconstructing import Wanted
    from heldout.pipeline.reconstructing import reconstruct as run
    from heldout.settings import load_settings
    from heldout.terminal import clean

    wanted = Wanted(suite, into_set, tier, names, alerted)
    typer.echo(clean(run(load_settings(project), wanted)))


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("reconstruct", no_args_is_help=True)(reconstruct)
