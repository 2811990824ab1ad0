"""``heldout export``: runs over train for other tools, and repairs as trajectories."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heldout.cli.options import Project


def export(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND", help="chat, rl, parquet (a folder), inspect or trajectory (repairs)."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="File, or for parquet folder, to write.")],
    run: Annotated[
        list[str] | None,
        typer.Option("--run", help="Run, by its id's beginning; repeatable. parquet: or all."),
    ] = None,
    arm: Annotated[str, typer.Option("--arm", help="Only this arm.")] = "",
    everything: Annotated[
        bool, typer.Option("--all", help="chat: failed investigations too.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
    project: Project = None,
) -> None:
    """Write runs over the train half for other tools, each row with where it comes from.

    A run that holds an incident of the held-out half is refused. The file appears whole or not
    at all.
    """
    from heldout.canaries import read_watch
    from heldout.export import Order
    from heldout.export import export as written
    from heldout.settings import load_settings
    from heldout.store import Ledger

    settings = load_settings(project)
    order = Order(kind, tuple(run or ()), out, arm, everything, force)
    order.format()
    with Ledger.open(settings.ledger, read_only=True) as ledger:
        count = written(settings, ledger, order, read_watch(settings))
    typer.echo(f"{count} investigations written to {out}")


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("export")(export)
