"""The ``heldout`` command: registers the verbs and turns errors into one line and an exit code."""

from __future__ import annotations

import os
import sys
import traceback

import typer

from heldout import __version__
from heldout.cli import (
    allow,
    build,
    canary,
    check,
    compare,
    doctor,
    drift,
    export,
    fidelity,
    health,
    ingest,
    init,
    intake,
    judge,
    reconstruct,
    release,
    report,
    resume,
    review,
    score,
    serve,
    show,
    status,
    transfer,
    tune,
    usage,
    verify,
    work,
)
from heldout.cli import (
    run as run_verb,
)
from heldout.errors import HeldoutError

app = typer.Typer(
    name="heldout",
    help="Tune an AI SRE agent's brain on half of a set of incidents; prove it on the other half.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

VERBS = (init, doctor, build, ingest, reconstruct, intake, run_verb, work, tune, resume, check,
         allow, review, release, score, transfer, canary, drift, health, report, compare, fidelity,
         judge, show, usage, export, verify, serve, status)  # fmt: skip
for module in VERBS:
    module.register(app)


def _version(value: bool) -> None:
    if value:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    """Exit codes: 0 done, 1 tool error, 2 usage, 3 gate, comparison or look budget not passed."""


def run() -> None:
    """Entry point of the console script."""
    try:
        app()
    except HeldoutError as error:
        _fail(error.sentence(), error.exit_code)
    except KeyboardInterrupt:
        _fail("stopped; 'heldout resume' goes on from here", 130)
    except Exception as error:  # noqa: BLE001 - the outermost boundary: no user sees a traceback
        if os.environ.get("HELDOUT_TRACEBACK"):
            traceback.print_exc()
        _fail(
            f"internal error ({type(error).__name__}: {str(error)[:300]}); "
            "run again with HELDOUT_TRACEBACK=1 for the traceback",
            1,
        )


def _fail(sentence: str, code: int) -> None:
    from heldout.terminal import clean

    print(f"error: {clean(sentence)}", file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    run()
