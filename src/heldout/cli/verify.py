"""``heldout verify``: whether trajectories of the repair environment are what its code gives."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def verify(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files of trajectories.")],
) -> None:
    """Play each trajectory again and compare observations, chain and grade.

    What was altered is named and is exit 3. A row of another version, or one that this machine
    cannot play, is neither proved nor altered: exit 1.
    """
    from heldout.errors import ComparisonFailed, HeldoutError
    from heldout.repair.verifying import verify_file
    from heldout.split import declare_process
    from heldout.terminal import clean

    # A row may be of the held-out half; what is said of one is whether it is true, never a figure.
    declare_process("rejudge")
    counts = {"proved": 0, "altered": 0, "other version": 0, "not played": 0}
    for path in files:
        for one in verify_file(path):
            counts[one.status] += 1
            typer.echo(clean(f"{one.where}  {one.task or '?'}  {one.status}"))
            for finding in one.findings:
                typer.echo(clean(f"    {finding}"))
    typer.echo(", ".join(f"{count} {status}" for status, count in counts.items() if count))
    if counts["altered"]:
        raise ComparisonFailed(
            f"{counts['altered']} trajectories are not what the code gives",
            mend="Take them out, or play their tasks again",
        )
    if counts["other version"] or counts["not played"]:
        raise HeldoutError(
            "not every trajectory could be played again",
            mend="Verify with the version that is named, on a machine with user namespaces",
        )


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("verify")(verify)
