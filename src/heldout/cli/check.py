"""``heldout check``: run the gate over a brain or a patch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heldout.cli.options import BaseUrl, Model, Project, SetName

if TYPE_CHECKING:
    from heldout.settings import Settings


def check(
    target: Annotated[
        Path | None,
        typer.Argument(
            help="Brain folder, edit (JSON) or unified diff; default: the brain in use."
        ),
    ] = None,
    base: Annotated[
        Path | None,
        typer.Option("--base", help="Brain that was there before; only what is new rejects."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    behaviour: Annotated[
        bool,
        typer.Option("--behaviour", help="Probe with the model, on train, instead of reading."),
    ] = False,
    model: Model = "",
    base_url: BaseUrl = "",
    set_name: SetName = "",
    split: Annotated[
        str,
        typer.Option("--split", metavar="SET", help="Guard a frozen split instead of a brain."),
    ] = "",
    project: Project = None,
) -> None:
    """Check a brain or a patch for facts of an incident.

    Exit 3 when it is refused; a gate that cannot run refuses (exit 1). With --behaviour the model
    is asked: with the alert alone, under other names, without each added line; and canaries are
    looked for everywhere. With --split nothing of one side of a set may stand on the other.
    """
    from heldout.brain import load_brain
    from heldout.errors import UsageError
    from heldout.gate import check_brain, check_patch, render
    from heldout.settings import load_settings

    settings = load_settings(project)
    if split:
        if target or base or behaviour:
            raise UsageError("--split looks at no brain", mend="Leave the other words out")
        _guard(settings, split, as_json)
        return
    if behaviour:
        from heldout.pipeline.probing import Probing, check_behaviour
        from heldout.terminal import ProgressLine

        asked = Probing(target, base, model, set_name, base_url)
        probed = check_behaviour(settings, asked, ProgressLine(quiet=as_json))
        typer.echo(json.dumps(probed.plain(), indent=1) if as_json else probed.text())
        raise typer.Exit(0 if probed.passed else 3)
    path = target or settings.brain
    if not path.exists():
        raise UsageError("no such file or folder", where=str(path), mend="Name a brain or a patch")
    if path.is_dir():
        report = check_brain(settings, path, base=load_brain(base) if base else None)
    else:
        report = check_patch(settings, path, base or settings.brain)
    typer.echo(json.dumps(report.plain(), indent=1) if as_json else render(report))
    if not report.passed:
        raise typer.Exit(3)


def _guard(settings: Settings, set_name: str, as_json: bool) -> None:
    from heldout.build.guard import check_split
    from heldout.split import HeldoutAccess, declare_process

    declare_process("build")
    report = check_split(settings, set_name, HeldoutAccess(), workers=2)
    typer.echo(json.dumps(report.plain(), indent=1) if as_json else report.text())
    if not report.passed:
        raise typer.Exit(3)


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("check")(check)
