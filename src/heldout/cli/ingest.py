"""``heldout ingest``: read real material into a world, or graft an incident onto it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from heldout.cli.options import Project

KINDS = "alerts, aws, changes, kubernetes, logs, metrics, terraform"
"""Named here so that the help needs to load none of them; a test holds it to what there is."""
CASES = "cloud-opsbench, holmes, opensre"
"""The kinds that hold incidents."""


def ingest(
    kind: Annotated[
        str,
        typer.Argument(help=f"What the material is: {KINDS}; with incidents: {CASES}."),
    ],
    path: Annotated[Path, typer.Argument(help="File or folder.")],
    into: Annotated[
        str,
        typer.Option(
            "--into",
            metavar="WORLD",
            help="Keep it as a world: a name in the project, or a folder; one that is there "
            "already is added to.",
        ),
    ] = "",
    into_set: Annotated[
        str,
        typer.Option(
            "--into-set",
            metavar="SET",
            help="Of material that holds incidents: keep them as a set, all of it held out or "
            "halved by cause.",
        ),
    ] = "",
    strict: Annotated[
        bool, typer.Option("--strict", help="Write nothing unless everything could be read.")
    ] = False,
    cluster: Annotated[
        str, typer.Option("--cluster", help="Cluster of what does not name its own.")
    ] = "",
    account: Annotated[
        str, typer.Option("--account", help="Account of what does not name its own.")
    ] = "",
    now: Annotated[
        str,
        typer.Option("--now", help="When the world stands, ISO 8601; default: the latest moment."),
    ] = "",
    format_: Annotated[
        str, typer.Option("--format", help="How it is written, where that cannot be seen.")
    ] = "",
    names: Annotated[
        bool, typer.Option("--names", help="Keep people's names instead of pseudonyms.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The report as JSON.")] = False,
    graft: Annotated[
        str,
        typer.Option(
            "--graft", metavar="SET", help="kubernetes: append a grafted incident to this set."
        ),
    ] = "",
    side: Annotated[
        str, typer.Option("--side", help="With --graft: train or test; default: the smaller.")
    ] = "",
    fault: Annotated[
        str, typer.Option("--fault", help="With --graft: which fault; default: one that fits.")
    ] = "",
    seed: Annotated[int, typer.Option("--seed", help="With --graft: another one.")] = 1,
    project: Project = None,
) -> None:
    """Read real material; nothing in it is executed and secret values are replaced.

    Without --into only the report is printed. With --graft a generated fault with its traps is
    laid over a real topology and appended to a set of the project.
    """
    from heldout.errors import UsageError
    from heldout.ingest.importer import ImportOptions
    from heldout.pipeline.ingesting import Ingest, moment_of
    from heldout.pipeline.ingesting import ingest as run
    from heldout.pipeline.intake import Graft, ingest_kubernetes
    from heldout.settings import load_settings
    from heldout.terminal import clean

    if graft:
        sides: dict[str, Literal["train", "test"]] = {"train": "train", "test": "test"}
        if side and side not in sides:
            raise UsageError(f"no side '{side}'", mend="Say train or test")
        if kind != "kubernetes" or into:
            raise UsageError(
                "--graft goes with kubernetes alone and without --into",
                mend="Write a world first, then: heldout build --base imported:WORLD",
            )
        wanted = Graft(graft, sides.get(side), fault, seed)
        typer.echo(clean(ingest_kubernetes(load_settings(project), path, wanted)))
        return
    options = ImportOptions(
        cluster=cluster,
        account=account,
        format=format_,
        now=moment_of(now),
        strict=strict,
        names=names,
    )
    typer.echo(clean(run(Ingest(kind, path, into, into_set, as_json), options, project)))


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("ingest", no_args_is_help=True)(ingest)
