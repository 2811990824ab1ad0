"""``heldout allow``: sign a name that may stand in a brain although an incident holds it."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from heldout.cli.options import Project


def allow(
    term: Annotated[str, typer.Argument(help="The name, as the gate's finding shows it.")],
    reason: Annotated[str, typer.Option("--reason", help="Why anybody may say it.")],
    owner: Annotated[
        str, typer.Option("--owner", help="Who answers for it: a name in checkers/allowed_signers.")
    ],
    until: Annotated[
        datetime,
        typer.Option("--until", formats=["%Y-%m-%d"], help="Its last day; at most a year ahead."),
    ],
    key: Annotated[Path, typer.Option("--key", help="The owner's private SSH key.")],
    project: Project = None,
) -> None:
    """Sign an exception and add it to checkers/exceptions.toml, for review like code.

    Only names can be excused, never ids, values, dates or sentences. Every report of the gate and
    every score counts the exceptions in force.
    """
    from heldout.gate.exceptions import Allowance, sign_into, utc_day
    from heldout.settings import load_settings

    settings = load_settings(project)
    one = Allowance(term, reason, owner, until.date())
    path = sign_into(settings.checkers, one, key, utc_day())
    typer.echo(f"'{term}' is allowed until {one.expires.isoformat()}; commit {path}")


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("allow")(allow)
