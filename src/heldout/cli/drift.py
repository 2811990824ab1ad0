"""``heldout drift``: what runs without being declared, and what is not as it was declared."""

from __future__ import annotations

from typing import Annotated

import typer


def drift(
    world: Annotated[
        str, typer.Argument(metavar="WORLD", help="A world: a name in the project, or a folder.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    rows: Annotated[int, typer.Option("--rows", help="Lines of each list.", min=0)] = 20,
    max_share: Annotated[
        float | None,
        typer.Option(
            "--max-share",
            help="Exit 3 where a larger share than this (0 to 1) of what runs is not declared.",
            min=0.0,
            max=1.0,
        ),
    ] = None,
    fail_on_drift: Annotated[
        bool,
        typer.Option("--fail-on-drift", help="Exit 3 where a field differs or something is gone."),
    ] = False,
) -> None:
    """Compare what Terraform declares in a world with what runs in it.

    The share of running resources without a counterpart, by account and kind; fields that both
    sides tell and tell differently; declared resources that do not run. Exits 0 whatever it finds,
    unless one of the two options makes it a check.
    """
    import json

    from heldout.errors import ComparisonFailed
    from heldout.graph.reconciliation import reconcile, rendered
    from heldout.pipeline.ingesting import open_world
    from heldout.terminal import clean

    found = reconcile(open_world(world))
    text = json.dumps(found.plain(), indent=1) if as_json else rendered(found, rows=rows)
    typer.echo(clean(text))
    share = found.share
    if max_share is not None and share is not None and share > max_share:
        raise ComparisonFailed(
            f"{100 * share:.1f} % of what runs is not declared, {100 * max_share:.1f} % may be",
            where=world,
            mend="Declare what is missing, or raise --max-share",
        )
    if fail_on_drift and found.drifted:
        raise ComparisonFailed(
            "something is not as it was declared",
            where=world,
            mend="Apply, or write down what runs; --json lists all of it",
        )


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("drift")(drift)
