"""``heldout check``: run the gate over a brain or a patch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heldout.cli.options import BaseUrl, Model, Project, SetName

if TYPE_CHECKING:
    from heldout.gate.command import Form
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
    as_sarif: Annotated[
        bool, typer.Option("--sarif", help="Print it as SARIF 2.1.0, for code hosts and editors.")
    ] = False,
    stored: Annotated[
        bool,
        typer.Option("--stored", help="Check every stored proposal again, after new incidents."),
    ] = False,
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

    Exit 0 when it is clean and 3 when it is refused. A brain or patch that cannot be read and a
    gate that cannot run refuse as well (exit 1), words that do not fit end with 2. As JSON or SARIF
    a check that could not be made says so in the place of a report. With --behaviour the model
    is asked: with the alert alone, under other names, without each added line; and canaries are
    looked for everywhere. With --split nothing of one side of a set may stand on the other.
    """
    from heldout.errors import UsageError
    from heldout.settings import load_settings

    settings = load_settings(project)
    if (as_json and as_sarif) or (as_sarif and (split or behaviour or stored)):
        raise UsageError("--sarif stands alone", mend="Leave the other words out")
    if stored and (target or base or behaviour or split):
        raise UsageError("--stored looks at proposals", mend="Leave the other words out")
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
    if stored:
        _recheck(settings, as_json)
        return
    _read(settings, target, base, "sarif" if as_sarif else "json" if as_json else "text")


def _read(settings: Settings, target: Path | None, base: Path | None, form: Form) -> None:
    from heldout.errors import HeldoutError
    from heldout.gate import check_target
    from heldout.gate.command import failure_shown, shown

    try:
        report = check_target(settings, target, base)
    except HeldoutError as error:
        if form != "text":
            typer.echo(failure_shown(error, form))
        raise
    typer.echo(shown(report, form, settings, target))
    if not report.passed:
        raise typer.Exit(3)


def _recheck(settings: Settings, as_json: bool) -> None:
    from heldout.gate import check_stored, render

    found = check_stored(settings)
    if as_json:
        typer.echo(json.dumps([one.plain() for one in found], indent=1))
    else:
        for one in found:
            word = "clean" if one.report.passed else "refused"
            typer.echo(f"proposal {one.proposal} · brain {one.after_hash[:12]} · {word}")
            if not one.report.passed:
                typer.echo(render(one.report))
        typer.echo(f"{len(found)} proposal(s) checked again")
    if not all(one.report.passed for one in found):
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
