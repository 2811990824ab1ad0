"""``heldout score``: open the held-out half once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heldout.cli.options import BaseUrl, InterfaceName, Model, Project, SetName


def score(
    model: Model = "",
    before: Annotated[
        str,
        typer.Option(
            "--before", help="Brain before, hash or folder; default: the last decision's."
        ),
    ] = "",
    after: Annotated[
        str, typer.Option("--after", help="Brain after, hash or folder; default: the brain in use.")
    ] = "",
    arms: Annotated[
        str,
        typer.Option(
            "--arms",
            help="Further arms, comma-separated: noop, placebo, format, blind, checklist, memory, "
            "evidence; or all that can be made. See docs/how-to/evidence.md.",
        ),
    ] = "noop",
    blind: Annotated[
        str,
        typer.Option(
            "--blind", help="Brain of a blind tuning job; default: the newest of the same budget."
        ),
    ] = "",
    checklist: Annotated[
        Path | None,
        typer.Option("--checklist", help="A person's page of Markdown, as an arm of its own."),
    ] = None,
    nearest: Annotated[
        int,
        typer.Option("--nearest", help="Solved train incidents in a prompt of arm memory."),
    ] = 3,
    set_name: SetName = "",
    interface: InterfaceName = "",
    base_url: BaseUrl = "",
    skip_exhausted: Annotated[
        bool, typer.Option("--skip-exhausted", help="Leave out incidents without looks left.")
    ] = False,
    max_usd: Annotated[float | None, typer.Option("--max-usd", help="Cap of this score.")] = None,
    resume: Annotated[str, typer.Option("--resume", help="Go on with a score by its id.")] = "",
    plan: Annotated[
        bool,
        typer.Option("--plan", help="Only say what it would take and could show; open nothing."),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    project: Project = None,
) -> None:
    """Score before against after on the held-out half.

    It uses up one look at each incident.
    Exit 3: the look budget is exhausted, or the score found harm or is indecisive.
    """
    from heldout.environments import playing_in
    from heldout.pipeline import Scoring, score_now
    from heldout.settings import load_settings
    from heldout.terminal import ProgressLine

    settings = playing_in(load_settings(project), interface)
    asked = Scoring(
        model=model,
        before=before,
        after=after,
        arms=tuple(arm.strip() for arm in arms.split(",") if arm.strip()),
        blind=blind,
        checklist=checklist,
        nearest=nearest,
        set=set_name,
        base_url=base_url,
        skip_exhausted=skip_exhausted,
        max_usd=max_usd,
        resume=resume,
    )
    if plan:
        from heldout.pipeline.planning import scoring_plan

        typer.echo(scoring_plan(settings, asked))
        return
    done = score_now(settings, asked, ProgressLine(quiet=quiet))
    typer.echo(done.text)
    typer.echo(f"Report: {done.report}")
    done.result.require()


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("score")(score)
