"""``heldout run``: play train incidents with one brain, to look or to compare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heldout.cli.options import (
    BaseUrl,
    InterfaceName,
    MaxSeconds,
    MaxTokens,
    MaxUsd,
    Mode,
    Model,
    Project,
    SetName,
    Share,
    Wire,
    Workers,
)


def run(
    model: Model = "",
    brain: Annotated[
        Path | None, typer.Option("--brain", help="Brain folder; default: the brain in use.")
    ] = None,
    base_url: BaseUrl = "",
    mode: Mode = "",
    wire: Wire = "",
    tools: Annotated[
        str,
        typer.Option("--tools", help="Packs of tools: native, core, kubectl, promql, git (a,b)."),
    ] = "",
    agent_command: Annotated[
        str, typer.Option("--agent-command", help="Program that plays the agent, with its words.")
    ] = "",
    set_name: SetName = "",
    interface: InterfaceName = "",
    repeats: Annotated[
        int | None, typer.Option("--repeats", help="Investigations per incident.", min=1, max=25)
    ] = None,
    incident: Annotated[
        list[str] | None, typer.Option("--incident", help="Only this one; repeatable.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Default: heldout.toml's.")] = None,
    max_usd: MaxUsd = None,
    max_tokens: MaxTokens = None,
    max_seconds: MaxSeconds = None,
    workers: Workers = 1,
    shards: Annotated[
        int | None,
        typer.Option(
            "--shards", help="Play nothing: cut it for 'heldout work' elsewhere.", min=1, max=1000
        ),
    ] = None,
    share: Share = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    project: Project = None,
) -> None:
    """Play the train half once more with one brain.

    Prints what was solved, coverage, and the run's id, which 'heldout compare' takes. Stopped or at
    a cap, 'heldout resume' goes on with it.
    """
    from heldout.environments import playing_in
    from heldout.errors import UsageError
    from heldout.pipeline import Playing, Spending, cut_train, play_train
    from heldout.settings import load_settings
    from heldout.terminal import ProgressLine

    asked = Playing(
        model=model,
        brain=brain,
        base_url=base_url,
        mode=mode,
        wire=wire,
        tools=tools,
        agent_command=agent_command,
        set=set_name,
        repeats=repeats,
        incidents=tuple(incident or ()),
        seed=seed,
        spending=Spending(max_usd, max_tokens, max_seconds),
        workers=workers,
    )
    both = shards is not None and workers > 1
    if both or (share is not None and shards is None):
        raise UsageError(
            "--shards and --share cut a run for other processes, --workers plays it with its own",
            mend="Give --shards with --share, or --workers alone",
        )
    settings = playing_in(load_settings(project), interface)
    if shards is not None:
        typer.echo(cut_train(settings, asked, shards, share).text)
        return
    done = play_train(settings, asked, ProgressLine(quiet=quiet))
    typer.echo(done.text)
    if not done.valid:
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("run")(run)
