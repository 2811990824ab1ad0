"""``heldout init``: write a fresh project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def init(
    directory: Annotated[Path, typer.Argument(help="New folder of the project.")],
    brain: Annotated[
        Path | None,
        typer.Option("--brain", help="Take over this brain; files without a manifest are frozen."),
    ] = None,
    with_set: Annotated[
        str, typer.Option("--with-set", help="Copy a shipped set, e.g. demo.")
    ] = "",
) -> None:
    """Write a fresh project.

    It holds a brain, checkers, flows, a set, heldout.toml, prefect.yaml and prefect.toml.
    """
    from heldout.scaffold import make_project

    made = make_project(directory, brain=brain, with_set=with_set or None)
    typer.echo(f"Project written to {made.root}")
    if made.frozen:
        typer.echo(f"Frozen (loaded, never tuned): {', '.join(made.frozen)}")
    typer.echo(f"Next: cd {made.root} && heldout tune")


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("init")(init)
