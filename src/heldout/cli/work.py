"""``heldout work``: play one shard of a run that was cut, without the ledger."""

from __future__ import annotations

from typing import Annotated

import typer

from heldout.cli.options import BaseUrl, Project, Share


def work(
    run: Annotated[
        str, typer.Argument(metavar="[RUN]", help="By its id's beginning; default: the only one.")
    ] = "",
    shard: Annotated[
        str, typer.Option("--shard", help="Which one, as 2/4: the second of four.")
    ] = "1/1",
    share: Share = None,
    base_url: BaseUrl = "",
    agent_command: Annotated[
        str, typer.Option("--agent-command", help="Program that plays the agent, with its words.")
    ] = "",
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    project: Project = None,
) -> None:
    """Play one shard of a run that 'heldout run --shards' cut, on any machine.

    Leaves files in the shared folder and writes no ledger; 'heldout resume' brings them in.
    Stopped, the same command goes on. An endpoint or a program of the run must be named here too,
    by heldout.toml or an option.
    """
    from heldout.pipeline import Working, work_shard
    from heldout.settings import load_settings
    from heldout.terminal import ProgressLine

    done = work_shard(
        load_settings(project),
        Working(run, shard, share, base_url, agent_command),
        ProgressLine(quiet=quiet),
    )
    typer.echo(done.text)
    if not done.valid:
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("work")(work)
