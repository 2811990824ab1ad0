"""``heldout judge``: further opinions on stored runs, and how good a judge is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heldout.cli.options import Name, Project, Reason

if TYPE_CHECKING:
    from heldout.judge import JudgeChoice
    from heldout.settings import Settings

group = typer.Typer(
    help="Judge again, override, calibrate, and compare judges.", no_args_is_help=True
)

By = Annotated[str, typer.Option("--by", help="exact or llm; default: heldout.toml's.")]
JudgeModel = Annotated[
    list[str] | None,
    typer.Option("--model", help="Judging model; repeatable, several are a panel."),
]
JudgeUrl = Annotated[
    str, typer.Option("--base-url", help="OpenAI-compatible endpoint of the judging models.")
]
Run = Annotated[str, typer.Argument(metavar="RUN", help="Run, by its id's beginning.")]


def again(
    run: Run,
    by: By = "",
    model: JudgeModel = None,
    base_url: JudgeUrl = "",
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    project: Project = None,
) -> None:
    """Judge a stored run again, without playing it.

    Verdicts are added, never replaced; the run's figures stay those of its first. A scored run can
    be judged again when its score has ended.
    """
    import asyncio

    from heldout.judge.calibration import standing
    from heldout.rejudge import judge_again
    from heldout.rejudge.again import ROLE
    from heldout.settings import load_settings
    from heldout.split import declare_process
    from heldout.store import Ledger, queries
    from heldout.terminal import ProgressLine, clean

    declare_process(ROLE)
    settings = load_settings(project)
    choice = _choice(settings, by, model, base_url)
    line = ProgressLine(quiet=quiet)
    with Ledger.open(settings.ledger) as ledger:
        done = asyncio.run(
            judge_again(
                settings,
                ledger,
                run,
                choice,
                concurrency=settings.run.concurrency,
                on_progress=lambda done, total: line(f"{done} of {total} judged"),
            )
        )
        agent = queries.run(ledger, done.run).model
        notes = standing(ledger, choice, agent)
    typer.echo(clean("\n".join([*notes, _again_text(done)])))
    if done.invalid and not done.judged + done.kept:
        raise typer.Exit(1)


def override(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Run, or RUN:ARM.")],
    incident: Annotated[str, typer.Argument(metavar="INCIDENT", help="Incident of the run.")],
    result: Annotated[str, typer.Option("--result", help="pass or fail.")],
    name: Name,
    reason: Reason,
    repeat: Annotated[
        int | None, typer.Option("--repeat", help="Which repeat, from 0; default: the first.")
    ] = None,
    arm: Annotated[str, typer.Option("--arm", help="Arm, where the run has several.")] = "",
    project: Project = None,
) -> None:
    """Add your own verdict on one investigation, with name and reason.

    The run's figures stay those of its first verdicts; yours is shown beside them.
    """
    from heldout.rejudge import override as overridden
    from heldout.settings import load_settings
    from heldout.store import Ledger
    from heldout.terminal import clean
    from heldout.transcript import Wanted

    settings = load_settings(project)
    with Ledger.open(settings.ledger) as ledger:
        wanted = Wanted(run, incident, arm, repeat)
        given: Any = result
        done = overridden(ledger, wanted, given, name=name, reason=reason)
    typer.echo(
        clean(
            f"{done.incident} {done.arm} repeat {done.repeat}: {done.before}, now also "
            f"{done.result} (run {done.run})"
        )
    )


def calibrate(
    by: By = "",
    model: JudgeModel = None,
    base_url: JudgeUrl = "",
    labels: Annotated[
        Path | None,
        typer.Option("--labels", help="Your own labelled answers (JSON lines); default: ours."),
    ] = None,
    project: Project = None,
) -> None:
    """Measure a judge on labelled answers: kappa with its interval, confusion by class.

    The result is kept, bound to the judge's prompts, code and models.
    """
    import asyncio

    from heldout.judge import require_judge
    from heldout.judge.calibration import calibration_text, keep
    from heldout.judge.labels import built_in, labels_from
    from heldout.settings import load_settings
    from heldout.store import Ledger
    from heldout.terminal import clean

    settings = load_settings(project)
    choice = _choice(settings, by, model, base_url)
    require_judge(choice)
    known = labels_from(labels) if labels else built_in()
    with Ledger.open(settings.ledger) as ledger:  # First: what was paid for must be kept.
        found = asyncio.run(_calibrated(settings, choice, known))
        keep(ledger, choice, known, found)
    typer.echo(clean(calibration_text(choice.words(), found)))
    if found.invalid == found.answers:
        raise typer.Exit(1)


async def _calibrated(settings: Settings, choice: JudgeChoice, labels: Any) -> Any:
    from heldout.judge import judge_exact, open_judge
    from heldout.judge.calibration import calibrate as measure

    if choice.by == "exact":
        return await measure(judge_exact, labels)
    concurrency = settings.run.concurrency
    panel = open_judge(choice, concurrency=concurrency, prices=settings.prices)
    try:
        return await measure(panel, labels, concurrency=concurrency)
    finally:
        await panel.aclose()


def agreement(run: Run, project: Project = None) -> None:
    """Compare the stored verdicts of exact judge, models and people on one run."""
    from heldout.rejudge import agreement_of, agreement_text
    from heldout.settings import load_settings
    from heldout.store import Ledger
    from heldout.terminal import clean

    settings = load_settings(project)
    with Ledger.open(settings.ledger, read_only=True) as ledger:
        typer.echo(clean(agreement_text(agreement_of(ledger, run))))


def _choice(settings: Settings, by: str, models: list[str] | None, base_url: str) -> JudgeChoice:
    """The judge that was asked for; what was left out is heldout.toml's."""
    from heldout.errors import UsageError
    from heldout.judge import JudgeChoice

    own = settings.judge
    wanted = by or ("llm" if models else own.by)
    if wanted == "exact":
        if models:
            raise UsageError("the exact judge asks no model", mend="Leave --model out")
        return JudgeChoice()
    if wanted != "llm":
        raise UsageError(f"there is no judge '{by}'", mend="Say exact or llm")
    return JudgeChoice("llm", tuple(models or own.models), base_url or own.base_url, own.wire)


def _again_text(done: Any) -> str:
    import math

    usd = "unknown" if done.spent.usd is None else f"{done.spent.usd:.4f}"
    kappa = done.kappa
    figure = (
        "unknown"
        if math.isnan(kappa.value)
        else f"{kappa.value:.2f} ({kappa.low:.2f} to {kappa.high:.2f})"
    )
    lines = [
        f"run {done.run} judged again by {done.judge}: {done.judged} new verdicts, {done.kept} "
        f"there already, {done.invalid} without a verdict · {done.spent.calls} calls, {usd} USD",
        f"first verdicts (the run's figures): {done.own[0]} passed, {done.own[1]} failed",
        f"this judge: {done.new[0]} passed, {done.new[1]} failed · kappa {figure}",
    ]
    lines += [
        f"  {one.incident} {one.arm} repeat {one.repeat}: {one.before}, now {one.now}"
        for one in done.changed[:40]
    ]
    if len(done.changed) > 40:
        lines.append(f"  and {len(done.changed) - 40} more")
    if done.why_invalid:
        lines.append(f"no verdict, for example: {done.why_invalid}")
    return "\n".join(lines)


for command in (again, override, calibrate, agreement):
    group.command(command.__name__)(command)


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.add_typer(group, name="judge")
