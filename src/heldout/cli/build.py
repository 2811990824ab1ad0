"""``heldout build``: make the worlds and truths of a set from its specs."""

from __future__ import annotations

from typing import Annotated

import typer

from heldout.cli.options import Project, SetName


def build(
    set_name: SetName = "",
    every: Annotated[bool, typer.Option("--all", help="Every set of the project.")] = False,
    workers: Annotated[int, typer.Option("--workers", help="Processes.", min=1, max=64)] = 2,
    validate: Annotated[
        bool, typer.Option("--validate", help="Also run the validity checks with their twins.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
    project: Project = None,
) -> None:
    """Make what is missing and verify every digest; the last line counts the incidents."""
    from heldout.build import build_everything
    from heldout.settings import load_settings
    from heldout.split import declare_process

    declare_process("build")
    settings = load_settings(project)
    name = None if every else set_name or settings.set
    text = build_everything(settings, name, workers=workers, validate=validate)
    if not quiet:
        typer.echo(text)


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("build")(build)
