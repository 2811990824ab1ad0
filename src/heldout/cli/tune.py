"""``heldout tune``: the main job, without Prefect."""

from __future__ import annotations

from typing import Annotated

import typer

from heldout.cli.options import BaseUrl, InterfaceName, Model, Project, SetName


def tune(
    model: Model = "",
    proposer: Annotated[
        str, typer.Option("--proposer", help="Model that reads failures and proposes edits.")
    ] = "",
    base_url: BaseUrl = "",
    set_name: SetName = "",
    interface: InterfaceName = "",
    review: Annotated[
        str,
        typer.Option("--review", help="wait for a person, or auto: accept by policy and score."),
    ] = "wait",
    target: Annotated[
        str, typer.Option("--target", help="overlay of this model, or the shared base brain.")
    ] = "overlay",
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy",
            help="How to propose: reflect, lines (for a small model), blind (the placebo) or gepa.",
        ),
    ] = "",
    repeats: Annotated[
        int | None, typer.Option("--repeats", help="Investigations per incident.")
    ] = None,
    rounds: Annotated[int | None, typer.Option("--rounds", help="Rounds at most.")] = None,
    concurrency: Annotated[int | None, typer.Option("--concurrency", help="At once.")] = None,
    max_usd: Annotated[
        float | None, typer.Option("--max-usd", help="Stop once the job has cost so many USD.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", help="Stop tuning after so many tokens.")
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option("--max-seconds", help="Stop tuning after so many seconds.")
    ] = None,
    transfer: Annotated[
        list[str] | None,
        typer.Option("--transfer", help="Score the same brain with this model too; repeatable."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Tune even where nothing is new since the last job.")
    ] = False,
    plan: Annotated[
        bool,
        typer.Option("--plan", help="Only say what it would take and could show; spend nothing."),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    project: Project = None,
) -> None:
    """Tune on the train half and leave a proposal.

    Nothing is written to the brain before somebody accepts it, or the policy auto does.
    """
    from pydantic import ValidationError

    from heldout.errors import UsageError
    from heldout.pipeline import Job, run_stages
    from heldout.terminal import ProgressLine

    try:
        job = Job.model_validate(
            {
                "project": str(project or ""),
                "model": model,
                "proposer": proposer,
                "base_url": base_url,
                "set": set_name,
                "interface": interface,
                "review": review,
                "target": target,
                "strategy": strategy,
                "repeats": repeats,
                "rounds": rounds,
                "concurrency": concurrency,
                "max_usd": max_usd,
                "max_tokens": max_tokens,
                "max_seconds": max_seconds,
                "transfer": tuple(transfer or ()),
                "again": again,
            }
        )
    except ValidationError as error:
        first = error.errors()[0]
        option = str(first["loc"][0] if first["loc"] else "transfer").replace("_", "-")
        raise UsageError(f"--{option}: {first['msg']}", mend="See --help") from error
    if job.review == "form":
        raise UsageError(
            "a form needs Prefect's server", mend="Run flows/tune.py; see docs/how-to/schedule.md"
        )
    if plan:
        from heldout.pipeline.planning import tuning_plan

        typer.echo(tuning_plan(job))
        return
    done = run_stages(job, progress=ProgressLine(quiet=quiet))
    typer.echo(done.text)


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("tune")(tune)
