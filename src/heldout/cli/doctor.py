"""``heldout doctor``: what an endpoint can do, and what to set."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heldout.cli.options import BaseUrl, Model, Project

if TYPE_CHECKING:
    from heldout.llm import ModelName
    from heldout.llm.doctor import Finding
    from heldout.settings import Settings


def doctor(
    model: Model = "",
    base_url: BaseUrl = "",
    wire: Annotated[
        str, typer.Option("--wire", help="chat or responses; default: both are tried.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    project: Project = None,
) -> None:
    """Test an endpoint with a handful of tiny requests.

    Says whether it is reached, which name answers, and what it can do: tool calls, schemas, effort,
    usage, seeds, limits; then which wire, mode and roles fit, with the lines for heldout.toml.
    Costs are told before and after. Exit 0 when it is usable, 1 when not.
    """
    from heldout.errors import UsageError
    from heldout.llm import ModelName
    from heldout.llm.doctor import Examiner, closing, line, opening, plain
    from heldout.terminal import clean

    settings = _settings(project)
    if not model and settings is None:
        raise UsageError("no model is named", mend="Pass --model provider/name@effort")
    if wire not in ("", "chat", "responses"):
        raise UsageError(f"there is no wire '{wire[:40]}'", mend="Take chat or responses")
    name = ModelName.parse(model or (settings.models.agent if settings else ""))
    shown = ""

    def show(over: str, finding: Finding) -> None:
        nonlocal shown
        if over != shown:
            shown = over
            typer.echo(f"over {over}")
        typer.echo(clean(line(finding)))

    examiner = Examiner(
        model=name,
        base_url=base_url or _base_url(settings, name),
        wire=wire or None,  # type: ignore[arg-type]
        prices=settings.prices if settings else None,
    )
    if not as_json:
        typer.echo(opening(examiner))
        examiner.on_finding = show
    planned = examiner.planned()
    examination = asyncio.run(examiner.examine())
    if as_json:
        typer.echo(json.dumps(plain(examination, planned), indent=1))
    else:
        typer.echo(clean(closing(examination)))
    if not examination.advice.usable:
        raise typer.Exit(1)


def _settings(project: Path | None) -> Settings | None:
    """The project's settings; ``None`` outside of one, where an endpoint can be tested too."""
    from heldout.errors import ConfigError
    from heldout.settings import find_root, load_settings

    if project is None:
        try:
            find_root(Path.cwd())
        except ConfigError:
            return None
    return load_settings(project)


def _base_url(settings: Settings | None, model: ModelName) -> str:
    """Where the settings say that this model is."""
    if settings is None or model.is_simulated:
        return ""
    models, gate, judge = settings.models, settings.gate, settings.judge
    for name, url in (
        (models.agent, models.base_url),
        (models.proposer, models.proposer_base_url),
        (gate.reviewer, gate.reviewer_base_url),
        *((one, judge.base_url) for one in judge.models),
    ):
        if name == str(model):
            return url
    return models.base_url


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("doctor")(doctor)
