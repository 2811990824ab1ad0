"""``heldout health``: a scorecard of what is wrong in a world or a cluster."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Form(StrEnum):
    """How it is printed."""

    text = "text"
    json = "json"
    sarif = "sarif"


class Least(StrEnum):
    """From which severity on a finding is a failure."""

    critical = "critical"
    warning = "warning"


def health(
    target: Annotated[
        str,
        typer.Argument(
            metavar="WORLD|-",
            help="A world, a file or folder of Kubernetes objects, or - for standard input.",
        ),
    ],
    form: Annotated[Form, typer.Option("--format", help="How to print it.")] = Form.text,
    fail_on: Annotated[
        Least | None,
        typer.Option("--fail-on", help="Exit 3 where something of this severity is found."),
    ] = None,
    cluster: Annotated[str, typer.Option("--cluster", help="Name of the cluster.")] = "cluster",
    now: Annotated[
        str,
        typer.Option("--now", help="When objects were listed, ISO 8601; default: the present."),
    ] = "",
) -> None:
    """Check what is declared and observed, right now, without logs, metrics or history.

    kubectl get all,cm,secret,sa,pvc,ingress,netpol,quota -A -o json | heldout health -

    Exits 0 whatever it finds, unless --fail-on makes it a check; 1 where there is nothing to read.
    """
    from heldout.errors import ComparisonFailed
    from heldout.graph.health import SEVERITIES
    from heldout.graph.scorecard import rendered
    from heldout.pipeline.health import scorecard
    from heldout.pipeline.ingesting import moment_of
    from heldout.terminal import clean

    card = scorecard(target, cluster=cluster, now=moment_of(now))
    typer.echo(clean(rendered(card, form.value)))
    if fail_on is not None:
        counted = SEVERITIES[: SEVERITIES.index(fail_on.value) + 1]
        failed = sum(card.counts[one] for one in counted)
        if failed:
            raise ComparisonFailed(
                f"{failed} findings are {' or '.join(counted)}",
                where=card.source,
                mend="Mend what they tell, or leave out --fail-on",
            )


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("health", no_args_is_help=True)(health)
