"""Options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Project = Annotated[
    Path | None,
    typer.Option("--project", help="Project folder; default: the nearest heldout.toml upwards."),
]
Model = Annotated[
    str,
    typer.Option("--model", help="provider/name@effort; default: the agent of heldout.toml."),
]
BaseUrl = Annotated[
    str, typer.Option("--base-url", help="OpenAI-compatible endpoint of the agent's model.")
]
Mode = Annotated[
    str,
    typer.Option(
        "--mode",
        help="How the model calls tools: tools, json or notebook; default: heldout.toml's.",
    ),
]
Wire = Annotated[
    str,
    typer.Option("--wire", help="How it is asked: chat or responses; default: heldout.toml's."),
]
InterfaceName = Annotated[
    str,
    typer.Option(
        "--interface",
        help="repair: code that is mended, with a set of its own; default: worlds.",
    ),
]
SetName = Annotated[str, typer.Option("--set", help="Set of incidents; default: heldout.toml's.")]
Name = Annotated[str, typer.Option("--name", help="Who decides; stored with the decision.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; stored with the decision.")]
MaxUsd = Annotated[
    float | None,
    typer.Option("--max-usd", help="Stop once the run has cost so many USD.", min=0.0),
]
MaxTokens = Annotated[
    int | None,
    typer.Option("--max-tokens", help="Stop once it has used so many tokens.", min=1),
]
MaxSeconds = Annotated[
    float | None,
    typer.Option("--max-seconds", help="Stop this command after so many seconds.", min=0.0),
]
Workers = Annotated[
    int,
    typer.Option("--workers", help="Processes on this machine that play.", min=1, max=64),
]
Share = Annotated[
    Path | None,
    typer.Option("--share", help="Folder that all machines see; default: the project's own."),
]
