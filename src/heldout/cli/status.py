"""``heldout status``: where each model stands."""

from __future__ import annotations

import typer

from heldout.cli.options import Project


def status(project: Project = None) -> None:
    """Show where each model stands.

    Proposals waiting, last score, looks left, cost, and whether the brain in use is the one scored.
    """
    from heldout.compare.text import table
    from heldout.review import project_status
    from heldout.settings import load_settings
    from heldout.store import Ledger
    from heldout.terminal import clean

    settings = load_settings(project)
    if settings.ledger.is_file():
        with Ledger.open(settings.ledger, read_only=True) as ledger:
            state = project_status(settings, ledger)
    else:
        state = project_status(settings, None)
    typer.echo(
        f"set {state.set}: {state.train} train, {state.test} held out · "
        f"brain in use {state.brain[:12]}"
    )
    if not state.models:
        typer.echo("Nothing has been run yet. Next: heldout tune")
        return
    head = ("model", "waiting", "last score", "looks left", "investigations", "USD", "brain in use")
    rows: list[tuple[str, ...]] = [head]
    for line in state.models:
        scored = "scored" if line.brain_scored else "not scored"
        released = ", released" if line.released == state.brain else ""
        rows.append(
            (
                line.model,
                ", ".join(line.waiting) or "-",
                f"{line.outcome} ({line.last_score[:8]})" if line.last_score else "-",
                f"{line.looks_left} of {line.looks_budget}",
                str(line.investigations),
                "unknown" if line.usd is None else f"{line.usd:.2f}",
                scored + released,
            )
        )
    typer.echo(clean(table(rows)))


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("status")(status)
