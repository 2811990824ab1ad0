"""``heldout resume``: go on with what was stopped, or play more repeats of a run."""

from __future__ import annotations

from typing import Annotated

import typer

from heldout.cli.options import MaxSeconds, MaxTokens, MaxUsd, Project, Workers


def resume(
    what: Annotated[
        str,
        typer.Argument(
            metavar="[JOB_OR_RUN]",
            help="By its id's beginning; default: the newest job, else run, that was stopped.",
        ),
    ] = "",
    repeats: Annotated[
        int | None,
        typer.Option("--repeats", help="Give a run so many in all; never a score.", min=1, max=25),
    ] = None,
    max_usd: MaxUsd = None,
    max_tokens: MaxTokens = None,
    max_seconds: MaxSeconds = None,
    workers: Workers = 1,
    take_over: Annotated[
        bool,
        typer.Option("--take-over", help="Play here what shards elsewhere have not finished."),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    project: Project = None,
) -> None:
    """Go on with a stopped job or run, paying for nothing twice.

    The options are for runs of 'heldout run'; a job keeps what it was asked for.
    """
    from heldout.errors import UsageError
    from heldout.pipeline import Spending, resume_job, resume_run
    from heldout.settings import load_settings
    from heldout.terminal import ProgressLine

    progress = ProgressLine(quiet=quiet)
    capped = (max_usd, max_tokens, max_seconds) != (None,) * 3
    asked = capped or repeats is not None or workers > 1 or take_over
    if asked and not what:
        raise UsageError("these options need the run that they are for", mend="Name it")
    job = None if asked else resume_job(project, what, progress=progress)
    if job is not None:
        typer.echo(job.text)
        return
    done = resume_run(
        load_settings(project),
        what,
        repeats=repeats,
        spending=Spending(max_usd, max_tokens, max_seconds),
        workers=workers,
        take_over=take_over,
        say=progress,
    )
    typer.echo(done.text)
    if not done.valid:
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("resume")(resume)
