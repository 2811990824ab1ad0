"""``heldout intake``: a report or a corrected thread becomes a draft, and a draft incidents."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heldout.cli.options import Project, SetName

if TYPE_CHECKING:
    from heldout.intake import Draft, Drafting, Material, Reading
    from heldout.settings import Settings
    from heldout.split import HeldoutAccess


def intake(
    report: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[REPORT]...",
            help="Reports or corrected threads; default: list what lies in the folder.",
        ),
    ] = None,
    set_name: SetName = "",
    variants: Annotated[
        int | None, typer.Option("--variants", help="Incidents of one report.", min=1, max=50)
    ] = None,
    form: Annotated[
        bool, typer.Option("--form", help="By a form, also where a model is set.")
    ] = False,
    model: Annotated[
        str, typer.Option("--model", help="Reads the report; default: intake.model, else a form.")
    ] = "",
    base_url: Annotated[str, typer.Option("--base-url", help="Endpoint of that model.")] = "",
    scale: Annotated[
        float, typer.Option("--scale", help="Size of each estate.", min=0.1, max=1.5)
    ] = 1.0,
    every: Annotated[
        bool, typer.Option("--list", help="What lies in the folder, and every draft.")
    ] = False,
    show: Annotated[
        str, typer.Option("--show", metavar="DRAFT", help="What a draft is made of; it tells all.")
    ] = "",
    accept: Annotated[
        str, typer.Option("--accept", metavar="DRAFT", help="Append its incidents to the set.")
    ] = "",
    drop: Annotated[str, typer.Option("--drop", metavar="DRAFT", help="Take it away.")] = "",
    name: Annotated[str, typer.Option("--name", help="Who accepts or drops.")] = "",
    words: Annotated[
        str,
        typer.Option(
            "--words",
            metavar="WHAT",
            help="The vocabulary: faults, traps, triggers, kinds; or what comes near a text.",
        ),
    ] = "",
    workers: Annotated[int, typer.Option("--workers", help="Processes.", min=1, max=64)] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    project: Project = None,
) -> None:
    """Turn incident reports into drafts of generated incidents, and drafts into incidents.

    A report is read by a model, or by you: without a model a form is written beside it, to be
    filled before the same command is run again. The draft is validated, says what it resembles and
    which side it must go to, and waits for --accept. What no existing fault can express is said to
    be so.
    """
    from heldout.errors import UsageError
    from heldout.settings import load_settings
    from heldout.split import HeldoutAccess, declare_process
    from heldout.terminal import clean

    asked = [bool(report), every, bool(show), bool(accept), bool(drop), bool(words)]
    if sum(asked) > 1:
        raise UsageError(
            "a report, --list, --show, --accept, --drop and --words exclude each other",
            mend="Ask for one thing at a time",
        )
    declare_process("intake")
    settings, access = load_settings(project), HeldoutAccess()
    if report:
        from heldout.intake import Drafting

        how = Drafting(
            set_name or settings.set, variants or settings.intake.variants, scale, workers
        )
        reader = "" if form else _reader(settings, model)
        said = [_one(settings, path, how, access, reader, base_url) for path in report]
    elif accept or drop:
        said = [_decided(settings, accept, drop, name, access)]
    elif show:
        said = [_shown(settings, show, access)]
    elif words:
        said = [_words(words)]
    else:
        said = [_listed(settings)]
    if as_json:
        typer.echo(json.dumps(said[0][1] if len(said) == 1 else [one[1] for one in said], indent=1))
    else:
        typer.echo(clean("\n\n".join(one[0] for one in said)))


Said = tuple[str, Any]
"""The same as text and as plain data."""


def _reader(settings: Settings, model: str) -> str:
    from heldout.intake.asking import reader

    return reader(settings, model)


def _one(
    settings: Settings,
    path: Path,
    how: Drafting,
    access: HeldoutAccess,
    reader: str,
    base_url: str,
) -> Said:
    """Read one report by its form or the model, and draft it.

    What a model was paid for is kept as a form, which a person may correct and which is read first.
    """
    from heldout.intake import draft_incident, read_form, read_material, write_form
    from heldout.intake.telling import draft_lines, draft_plain

    material = read_material(path)
    reading, by = read_form(material, access), ""
    if reading is None and reader:
        reading, by = _asked(settings, material, reader, base_url), reader
        write_form(material, access, reading)
    if reading is None:
        written = write_form(material, access)
        text = f"{material.name}: fill in {written}, then run the same command again"
        return text, {"report": material.name, "form": str(written)}
    draft: Draft = draft_incident(settings, material, reading, how, access, model=by)
    return "\n".join(draft_lines(draft)), draft_plain(draft)


def _asked(settings: Settings, material: Material, model: str, base_url: str) -> Reading:
    from heldout.intake.asking import ask_model
    from heldout.llm import open_client
    from heldout.run.month import open_month
    from heldout.store import Ledger
    from heldout.store.intake import record_step

    with Ledger.open(settings.ledger) as ledger:
        month = open_month(settings, ledger)
        if month is not None:
            month.require()

        async def ask() -> Any:
            client = open_client(
                model, base_url=base_url or settings.intake.base_url, concurrency=1,
                role="proposer", prices=settings.prices,
            )  # fmt: skip
            try:
                return await ask_model(client, material)
            finally:
                await client.aclose()

        asked = asyncio.run(ask())
        spent = {
            "calls": asked.spent.calls, "input_tokens": asked.spent.input_tokens,
            "output_tokens": asked.spent.output_tokens, "usd": asked.spent.usd,
        }  # fmt: skip
        record_step(ledger, "read", material.digest, model=model, spent=spent)
    reading: Reading = asked.reading
    return reading


def _decided(
    settings: Settings, accepted: str, dropped: str, name: str, access: HeldoutAccess
) -> Said:
    from heldout.intake import accept, drop
    from heldout.store import Ledger
    from heldout.store.intake import record_step

    with Ledger.open(settings.ledger) as ledger:
        done = (accept if accepted else drop)(settings, accepted or dropped, access)
        record_step(
            ledger, done.word, done.digest, draft=done.draft, set_name=done.set, side=done.side,
            incidents=len(done.incidents), name=name,
        )  # fmt: skip
    if done.word == "dropped":
        return f"dropped {done.draft}", {"draft": done.draft, "state": "dropped"}
    text = (
        f"accepted {done.draft}: {len(done.incidents)} incidents joined the {done.side} side of "
        f"{done.set}\n{', '.join(done.incidents)}\nNext: heldout build --set {done.set} --validate"
    )
    return text, {"draft": done.draft, "state": "accepted", "set": done.set, "side": done.side,
                  "incidents": list(done.incidents)}  # fmt: skip


def _shown(settings: Settings, name: str, access: HeldoutAccess) -> Said:
    from heldout.intake.drafts import read_draft
    from heldout.intake.telling import draft_lines, draft_plain

    draft = read_draft(settings, name, access)
    return "\n".join(draft_lines(draft)), draft_plain(draft)


def _words(what: str) -> Said:
    from heldout.intake import nearest, vocabulary

    known = vocabulary()
    known["faults"] = {one["name"]: one["mechanism"] for one in known["faults"]}
    chosen: dict[str, str] = known.get(what, {}) or known.get(f"{what}s", {})
    if not chosen:
        chosen = {one.fault: one.mechanism for one in nearest(what)}
    return "\n".join(f"{name}: {text}" for name, text in chosen.items()), chosen


def _listed(settings: Settings) -> Said:
    from dataclasses import asdict

    from heldout.intake import dropped, states
    from heldout.intake.telling import dropped_lines, state_lines

    files, drafts = dropped(settings), states(settings)
    lines = dropped_lines(settings.intake.folder, files) + state_lines(drafts)
    text = "\n".join(lines) or f"nothing lies in {settings.intake.folder}/, and there is no draft"
    return text, {
        "folder": [asdict(one) for one in files],
        "drafts": [asdict(one) for one in drafts],
    }


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("intake")(intake)
