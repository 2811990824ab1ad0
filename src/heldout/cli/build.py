"""``heldout build``: make the worlds and truths of a set from its specs, or a new set."""

from __future__ import annotations

from typing import Annotated

import typer

from heldout.cli.options import Project, SetName


def build(
    set_name: SetName = "",
    every: Annotated[bool, typer.Option("--all", help="Every set of the project.")] = False,
    make: Annotated[
        str, typer.Option("--make", metavar="NAME", help="Draw, validate and freeze a new set.")
    ] = "",
    traps: Annotated[int, typer.Option("--traps", help="With --make: trap incidents.", min=0)] = 24,
    controls: Annotated[
        int, typer.Option("--controls", help="With --make: controls, a quarter without a change.")
    ] = 8,
    seed: Annotated[int, typer.Option("--seed", help="With --make.", min=0)] = 1,
    rehash: Annotated[
        bool, typer.Option("--rehash", help="Pin the set anew to what this release makes.")
    ] = False,
    workers: Annotated[int, typer.Option("--workers", help="Processes.", min=1, max=64)] = 2,
    validate: Annotated[
        bool, typer.Option("--validate", help="Also run the validity checks with their twins.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
    project: Project = None,
) -> None:
    """Make and verify worlds, or draw a new set.

    What is missing is made from its spec and every digest is checked; the last line counts.
    After --rehash results from before do not compare: it is another data set of the same name.
    """
    from heldout.build import SetPlan, build_everything, make_set
    from heldout.build import rehash as pin_anew
    from heldout.errors import UsageError
    from heldout.settings import load_settings
    from heldout.split import HeldoutAccess, declare_process

    if make and (every or rehash or set_name):
        raise UsageError("--make makes a new set", mend="Leave --set, --all and --rehash out")
    declare_process("build")
    settings = load_settings(project)
    lines: list[str] = []
    if make:
        unchanged = controls // 4
        plan = SetPlan(
            make, seed=seed, traps=traps, onset_controls=controls - unchanged, no_change=unchanged
        )
        lines += make_set(settings, plan, workers=workers).lines()
    elif rehash:
        changed = pin_anew(settings, set_name or settings.set, HeldoutAccess())
        lines.append(f"{changed} incidents pinned anew; earlier results do not compare")
    name = None if every else make or set_name or settings.set
    lines.append(build_everything(settings, name, workers=workers, validate=validate))
    if not quiet:
        typer.echo("\n".join(lines))


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("build")(build)
