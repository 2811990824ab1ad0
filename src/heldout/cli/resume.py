"""``heldout resume``: go on with what was killed."""

from __future__ import annotations

from typing import Annotated

import typer

from heldout.cli.options import Project


def resume(
    job: Annotated[
        str, typer.Argument(help="Job, by its id's beginning; default: the newest unfinished.")
    ] = "",
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    project: Project = None,
) -> None:
    """Go on with a stopped job, paying for nothing twice."""
    from heldout.pipeline import resume_job
    from heldout.terminal import ProgressLine

    done = resume_job(project, job, progress=ProgressLine(quiet=quiet))
    typer.echo(done.text)


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("resume")(resume)
