"""``heldout transfer``: what a brain tuned for one model is worth to another."""

from __future__ import annotations

from typing import Annotated

import typer

from heldout.cli.options import Project, SetName


def transfer(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            help="Models to play; default: all that were tuned here and have an overlay."
        ),
    ] = None,
    tuned_for: Annotated[
        list[str] | None,
        typer.Option(
            "--tuned-for",
            help="Model whose tuned brain is a row; repeatable; default: the models' own.",
        ),
    ] = None,
    train: Annotated[
        bool, typer.Option("--train", help="Play the train half: no look, and no evidence.")
    ] = False,
    plan: Annotated[
        bool, typer.Option("--plan", help="Say what it costs and could show; spend nothing.")
    ] = False,
    set_name: SetName = "",
    repeats: Annotated[
        int | None,
        typer.Option("--repeats", help="Investigations per incident and brain.", min=1, max=25),
    ] = None,
    base_url: Annotated[
        list[str] | None,
        typer.Option("--base-url", help="Endpoint of one model: MODEL=URL; repeatable."),
    ] = None,
    max_usd: Annotated[
        float | None, typer.Option("--max-usd", help="Cap of the whole table.", min=0.0)
    ] = None,
    resume: Annotated[str, typer.Option("--resume", help="Go on with a table by its id.")] = "",
    show: Annotated[
        str, typer.Option("--show", help="Show a finished table by its id, or 'newest'.")
    ] = "",
    form: Annotated[str, typer.Option("--form", help="text, json or markdown.")] = "text",
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    project: Project = None,
) -> None:
    """Play each tuned brain with each model, as a table.

    One interleaved job for each model on the held-out half, and one look at it for each model.
    A cell holds what was tuned for one model against the shared brain, with the column's model.
    """
    import json

    from heldout.errors import UsageError
    from heldout.pipeline.transferring import transfer_cost, transfer_now, transfer_of
    from heldout.settings import load_settings
    from heldout.terminal import ProgressLine
    from heldout.transfer import Asked

    if form not in ("text", "json", "markdown"):
        raise UsageError(f"--form: there is no '{form}'", mend="Take text, json or markdown")
    settings = load_settings(project)
    asked = Asked(
        models=tuple(models or ()),
        owners=tuple(tuned_for or ()),
        half="train" if train else "test",
        set=set_name,
        repeats=repeats or 0,
        base_urls=_endpoints(base_url or []),
        max_usd=max_usd,
    )
    if plan:
        typer.echo(transfer_cost(settings, asked))
        return
    if show:
        done = transfer_of(settings, "" if show == "newest" else show)
    else:
        done = transfer_now(settings, asked, resume=resume, say=ProgressLine(quiet=quiet))
    if form == "json":
        typer.echo(json.dumps(done.plain, indent=2))
        return
    typer.echo(done.markdown if form == "markdown" else done.text)
    if form == "text":
        typer.echo(f"Page: {done.page}")


def _endpoints(words: list[str]) -> dict[str, str]:
    from heldout.errors import UsageError

    found = {}
    for word in words:
        model, sign, url = word.partition("=")
        if not sign or not url:
            raise UsageError(f"--base-url: '{word[:80]}' names no model", mend="Write it MODEL=URL")
        found[model] = url
    return found


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("transfer")(transfer)
