"""``heldout show``: one investigation as a transcript, or two of them side by side."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from heldout.cli.options import Project

if TYPE_CHECKING:
    from heldout.store import Ledger
    from heldout.transcript import Wanted


def show(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Run, or RUN:ARM, by its beginning.")],
    incident: Annotated[
        str, typer.Argument(metavar="INCIDENT", help="Incident; without one all are listed.")
    ] = "",
    repeat: Annotated[
        int | None, typer.Option("--repeat", help="Which repeat, from 0; default: the first.")
    ] = None,
    arm: Annotated[str, typer.Option("--arm", help="Arm, where the run has several.")] = "",
    diff: Annotated[
        str,
        typer.Option("--diff", metavar="RUN_B", help="Another run (or RUN:ARM) beside it."),
    ] = "",
    full: Annotated[bool, typer.Option("--full", help="Shorten nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    project: Project = None,
) -> None:
    """Show an investigation: alert, calls and answers, diagnosis, verdicts, cost.

    With --diff two investigations of the incident stand side by side, the first different tool
    call is marked, and then comes what each found. What was played on the held-out half can be
    read when its score has ended.
    """
    from heldout.errors import UsageError
    from heldout.settings import load_settings
    from heldout.store import Ledger
    from heldout.transcript import Wanted

    if not incident and (diff or repeat is not None or arm):
        raise UsageError(
            "which incident?", mend=f"'heldout show {run}' alone lists those of the run"
        )
    settings = load_settings(project)
    with Ledger.open(settings.ledger, read_only=True) as ledger:
        if not incident:
            typer.echo(_listed(ledger, run, as_json))
            return
        wanted = [Wanted(run, incident, arm, repeat)]
        wanted += [Wanted(diff, incident, "" if ":" in diff else arm, repeat)] if diff else []
        typer.echo(_shown(ledger, wanted, full, as_json))


def _shown(ledger: Ledger, wanted: list[Wanted], full: bool, as_json: bool) -> str:
    from heldout.transcript import (
        difference_plain,
        find,
        page_width,
        side_by_side,
        transcript,
        transcript_plain,
    )

    found = [find(ledger, one) for one in wanted]
    if as_json:
        plain = transcript_plain(*found) if len(found) == 1 else difference_plain(*found)
        return json.dumps(plain, indent=1)
    if len(found) == 1:
        return transcript(*found, full=full, width=page_width())
    return side_by_side(*found, full=full, width=page_width())


def _listed(ledger: Ledger, name: str, as_json: bool) -> str:
    from heldout.store import queries
    from heldout.transcript import counted, listing, page_width, require_open, slot_plain

    run = queries.run(ledger, name.partition(":")[0])
    require_open(ledger, run)
    rows = counted(ledger, queries.investigations(ledger, run.run))
    if as_json:
        return json.dumps([slot_plain(row) for row in rows], indent=1)
    return listing(run, rows, page_width())


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("show")(show)
