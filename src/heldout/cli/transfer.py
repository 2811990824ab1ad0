"""``heldout transfer``: what a brain tuned for one model is worth to another."""

from __future__ import annotations

from typing import Annotated, Any

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
    mode: Annotated[
        list[str] | None,
        typer.Option("--mode", help="How one model calls tools: MODEL=json; repeatable."),
    ] = None,
    wire: Annotated[
        list[str] | None,
        typer.Option("--wire", help="How one model is asked: MODEL=responses; repeatable."),
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
    from typing import get_args

    from heldout.errors import UsageError
    from heldout.pipeline.transferring import transfer_cost, transfer_now, transfer_of
    from heldout.settings import Mode, Wire, load_settings
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
        base_urls=_by_model("--base-url", base_url),
        modes=_by_model("--mode", mode, get_args(Mode)),
        wires=_by_model("--wire", wire, get_args(Wire)),
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


def _by_model(option: str, words: list[str] | None, known: tuple[str, ...] = ()) -> dict[str, Any]:
    """What one option says of single models, each as MODEL=VALUE."""
    from heldout.errors import UsageError

    found = {}
    for word in words or []:
        model, sign, value = word.partition("=")
        if not sign or not value:
            raise UsageError(f"{option}: '{word[:80]}' names no model", mend="Write it MODEL=VALUE")
        if known and value not in known:
            raise UsageError(
                f"{option}: there is no '{value[:80]}'", mend=f"Take one of {', '.join(known)}"
            )
        found[model] = value
    return found


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("transfer")(transfer)
