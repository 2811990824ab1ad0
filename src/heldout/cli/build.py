"""``heldout build``: the worlds of a set from its specs, a new set, or variants of an incident."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heldout.cli.options import BaseUrl, Project, SetName

if TYPE_CHECKING:
    from heldout.build.measuring import Yardstick
    from heldout.settings import Settings
    from heldout.terminal import ProgressLine


def build(
    set_name: SetName = "",
    every: Annotated[bool, typer.Option("--all", help="Every set of the project.")] = False,
    validate: Annotated[
        bool,
        typer.Option("--validate", help="Also run the validity gate: every incident, its twins."),
    ] = False,
    make: Annotated[
        str,
        typer.Option("--make", metavar="NAME", help="Draw, validate, split and freeze a new set."),
    ] = "",
    shape: Annotated[
        str,
        typer.Option(
            "--plan",
            metavar="PLAN",
            help="With --make: prod_hard, demo, onset_control or classic; default: that of NAME, "
            "else prod_hard.",
        ),
    ] = "",
    traps: Annotated[
        int | None,
        typer.Option("--traps", help="With --make: trap incidents; default: the plan's.", min=0),
    ] = None,
    controls: Annotated[
        int | None,
        typer.Option(
            "--controls", help="With --make: controls of all the plan's kinds together.", min=0
        ),
    ] = None,
    scale: Annotated[
        float, typer.Option("--scale", help="With --make: size of each estate, 0.1 to 1.5.")
    ] = 1.0,
    seed: Annotated[int, typer.Option("--seed", help="With --make or --base.", min=0)] = 1,
    harden_against: Annotated[
        str,
        typer.Option(
            "--harden-against",
            metavar="MODEL",
            help="With --make: raise what this model solves nearly always, then label the set.",
        ),
    ] = "",
    rounds: Annotated[
        int, typer.Option("--rounds", help="With --harden-against: at most.", min=0, max=10)
    ] = 3,
    repeats: Annotated[
        int,
        typer.Option(
            "--repeats",
            help="With --harden-against: investigations per incident and measurement.",
            min=1,
            max=25,
        ),
    ] = 5,
    max_usd: Annotated[
        float | None, typer.Option("--max-usd", help="With --harden-against: cap in USD.")
    ] = None,
    base_url: BaseUrl = "",
    vary: Annotated[
        tuple[str, int] | None,
        typer.Option(
            "--vary",
            metavar="ID N",
            help="N variants of an incident: other names, values, times, decoys and topology.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="With --vary: folder of the variants; default: <set>-vary-<ID>"),
    ] = None,
    base: Annotated[
        str,
        typer.Option(
            "--base",
            metavar="imported:WORLD",
            help="Graft faults onto an imported world and append them to the set.",
        ),
    ] = "",
    faults: Annotated[
        str,
        typer.Option("--faults", metavar="A,B|all", help="With --base: which; all that fit."),
    ] = "",
    side: Annotated[
        str,
        typer.Option(
            "--side",
            help="With --base: train or test, where a fault's group is new; its siblings' side "
            "is never left.",
        ),
    ] = "",
    rehash: Annotated[
        bool, typer.Option("--rehash", help="Pin the set anew to what this release makes.")
    ] = False,
    workers: Annotated[int, typer.Option("--workers", help="Processes.", min=1, max=64)] = 2,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
    project: Project = None,
) -> None:
    """Make and verify worlds, draw a new set, vary an incident, or graft faults onto an import.

    What is missing is made from its spec and every digest is checked; the last line counts valid
    incidents. A finding of the validity gate ends with code 3. After --rehash results from before
    do not compare: it is another data set of the same name.
    """
    from heldout.build import build_everything, make_set, plan_for
    from heldout.build import rehash as pin_anew
    from heldout.build import vary as make_variants
    from heldout.errors import GateRejected
    from heldout.settings import load_settings
    from heldout.split import HeldoutAccess, declare_process
    from heldout.terminal import ProgressLine

    _check_words(make, vary is not None, every, rehash, set_name)
    _check_base(base, bool(make), vary is not None, every, rehash)
    _need("--base", bool(base), faults, side)
    _need("--make", bool(make), shape, traps is not None, controls is not None, harden_against)
    _need("--vary", vary is not None, out is not None)
    declare_process("build")
    settings = load_settings(project)
    show = ProgressLine(quiet=quiet)
    lines: list[str] = []
    if make:
        plan = plan_for(make, shape, seed=seed, traps=traps, controls=controls, scale=scale)
        against = None
        if harden_against:
            against = _yardstick(settings, make, harden_against, show)
            against.repeats, against.base_url, against.max_usd = repeats, base_url, max_usd
        lines += make_set(
            settings, plan, workers=workers, against=against, rounds=rounds, say=show
        ).lines()
    elif vary is not None:
        made = make_variants(
            settings, set_name or settings.set, vary[0], vary[1], into=out, workers=workers
        )
        if not quiet:
            typer.echo(f"{vary[1]} variants of {vary[0]} in {made}")
        return
    elif base:
        from heldout.pipeline.intake import Overlay, overlay

        lines += overlay(settings, Overlay(base, faults, set_name or settings.set, side, seed))
    elif rehash:
        changed = pin_anew(settings, set_name or settings.set, HeldoutAccess())
        lines.append(f"{changed} incidents pinned anew; earlier results do not compare")
    name = None if every else make or set_name or settings.set
    built = build_everything(settings, name, workers=workers, validate=validate)
    if not quiet:
        typer.echo("\n".join([*lines, *built.lines]))
    if built.findings:
        raise GateRejected(
            f"{len(built.findings)} findings of the validity gate, the first: {built.findings[0]}",
            mend="Discard the incident, or make the set anew",
        )


def _check_words(make: str, vary: bool, every: bool, rehash: bool, set_name: str) -> None:
    from heldout.errors import UsageError

    if make and (every or rehash or set_name or vary):
        raise UsageError(
            "--make makes a new set", mend="Leave --set, --all, --vary and --rehash out"
        )
    if vary and (every or rehash):
        raise UsageError(
            "--vary is about one incident of one set", mend="Leave --all and --rehash out"
        )


def _check_base(base: str, *others: bool) -> None:
    from heldout.errors import UsageError

    if base and any(others):
        raise UsageError(
            "--base appends to one set", mend="Leave --make, --vary, --all and --rehash out"
        )


def _need(option: str, given: bool, *words: object) -> None:
    """Refuse words that mean nothing without ``option``."""
    from heldout.errors import UsageError

    if not given and any(words):
        raise UsageError(
            f"that needs {option}", mend="'heldout build --help' says what goes with it"
        )


def _yardstick(settings: Settings, name: str, model: str, show: ProgressLine) -> Yardstick:
    from heldout.brain import load_brain
    from heldout.build.measuring import Yardstick
    from heldout.llm import ModelName
    from heldout.pipeline.progress import progress_words

    return Yardstick(
        settings,
        name,
        str(ModelName.parse(model)),
        load_brain(settings.brain),
        show=lambda what, state: show(f"{name}: {what}, {progress_words(state)}"),
    )


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("build")(build)
