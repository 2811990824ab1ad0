"""``heldout release`` and ``heldout revert``: put a brain into service, or an earlier one back."""

from __future__ import annotations

from typing import Annotated

import typer

from heldout.cli.options import Model, Name, Project, Reason


def release(
    name: Name,
    reason: Reason,
    model: Model = "",
    force: Annotated[
        bool, typer.Option("--force", help="Release without a score, or against it.")
    ] = False,
    project: Project = None,
) -> None:
    """Put the brain in use into service.

    It must have been scored for the model without harm.
    """
    from heldout.review import Reviewer
    from heldout.review import release as release_brain
    from heldout.settings import load_settings
    from heldout.store import Ledger

    settings = load_settings(project)
    with Ledger.open(settings.ledger) as ledger:
        done = release_brain(
            settings,
            ledger,
            Reviewer(name, reason),
            model=model or settings.models.agent,
            force=force,
        )
    rests = f"score {done.score[:8]}: {done.outcome}" if done.score else "no score"
    typer.echo(f"Released {done.brain[:12]} ({rests})")


def revert(
    brain: Annotated[str, typer.Argument(help="Hash of the brain to put back, or its beginning.")],
    name: Name,
    reason: Reason,
    model: Annotated[
        str, typer.Option("--model", help="Put back this model's overlay only, and nothing else.")
    ] = "",
    project: Project = None,
) -> None:
    """Put an earlier brain back.

    The brain in use is kept, so that this can be undone.
    """
    from heldout.review import Reviewer
    from heldout.review import revert as put_back
    from heldout.settings import load_settings
    from heldout.store import Ledger

    settings = load_settings(project)
    with Ledger.open(settings.ledger) as ledger:
        done = put_back(settings, ledger, Reviewer(name, reason), brain, model=model)
    typer.echo(f"The brain in use is now {done.brain[:12]}")


def register(app: typer.Typer) -> None:
    """Add the verbs to the command."""
    app.command("release")(release)
    app.command("revert")(revert)
