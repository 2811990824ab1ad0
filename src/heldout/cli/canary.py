"""``heldout canary``: whether the provider changed the model."""

from __future__ import annotations

from typing import Annotated

import typer

from heldout.cli.options import BaseUrl, Model, Project, SetName


def canary(
    model: Model = "",
    base_url: BaseUrl = "",
    set_name: SetName = "",
    restart: Annotated[
        bool,
        typer.Option("--restart", help="Begin a new series with the brain in use."),
    ] = False,
    fail_on_drift: Annotated[
        bool, typer.Option("--fail-on-drift", help="Exit 3 where something changed.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    project: Project = None,
) -> None:
    """Play a few train incidents with a frozen brain and compare with earlier runs.

    What moves is the provider's doing: pass rate, served model, tokens, seconds of a call. The
    held-out half stays closed.
    """
    from heldout.pipeline import Watching, watch_provider
    from heldout.settings import load_settings
    from heldout.terminal import ProgressLine, clean

    done = watch_provider(
        load_settings(project),
        Watching(model=model, set=set_name, base_url=base_url, restart=restart),
        ProgressLine(quiet=quiet),
    )
    typer.echo(clean(done.text))
    if fail_on_drift:
        done.require()


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("canary")(canary)
