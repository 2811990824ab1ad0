"""``heldout ingest``: read real material and, if asked, graft an incident onto it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from heldout.cli.options import Project

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@group.command("kubernetes")
def kubernetes(
    path: Annotated[Path, typer.Argument(help="File or folder of manifests or dumps.")],
    graft: Annotated[
        str, typer.Option("--graft", metavar="SET", help="Append an incident to this set.")
    ] = "",
    side: Annotated[
        str, typer.Option("--side", help="train or test, for a new group; default: the smaller.")
    ] = "",
    fault: Annotated[
        str, typer.Option("--fault", help="Which fault; default: one that fits.")
    ] = "",
    seed: Annotated[int, typer.Option("--seed", help="Another number, another incident.")] = 1,
    project: Project = None,
) -> None:
    """Read Kubernetes manifests; nothing in them is executed and secret values are replaced.

    With --graft a generated fault with its traps is laid over the real topology and appended to a
    set of the project.
    """
    from heldout.errors import UsageError
    from heldout.pipeline.intake import Graft, ingest_kubernetes
    from heldout.settings import load_settings
    from heldout.terminal import clean

    sides: dict[str, Literal["train", "test"]] = {"train": "train", "test": "test"}
    if side and side not in sides:
        raise UsageError(f"no side '{side}'", mend="Say train or test")
    settings = load_settings(project) if graft else None
    wanted = Graft(graft, sides.get(side), fault, seed) if graft else None
    typer.echo(clean(ingest_kubernetes(settings, path, wanted)))


@group.callback()
def ingest() -> None:
    """Read real material and graft incidents onto it."""


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.add_typer(group, name="ingest")
