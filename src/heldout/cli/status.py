"""``heldout status``: where each model stands, as one would ask on a Monday."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from heldout.cli.options import Project

if TYPE_CHECKING:
    from heldout.drift import Canary
    from heldout.review import ModelStatus, Status

SHOWN = 5
"""Troubles of one model that are told below the table."""


def status(project: Project = None) -> None:
    """Show where each model stands, one row each.

    The brain in use, proposals waiting and for how long, the last score and what it is evidence of,
    looks left, what this month cost, what failed or did not end, and what the canary said where one
    was played. Below it, what to do next, and what was dropped into the intake folder.
    """
    from heldout.drift import canaries
    from heldout.intake.telling import waiting_lines
    from heldout.review import Beside, project_status
    from heldout.settings import load_settings
    from heldout.store import Ledger
    from heldout.terminal import clean

    settings = load_settings(project)
    if settings.ledger.is_file():
        with Ledger.open(settings.ledger, read_only=True) as ledger:
            newest = {one.model: one for one in reversed(canaries(ledger))}
            drift = Beside("canary", {name: _canary(one) for name, one in newest.items()})
            state = project_status(settings, ledger, beside=(drift,))
    else:
        state = project_status(settings, None)
    told = waiting_lines(settings)
    typer.echo(clean("\n".join([render(state), *([""] * bool(told)), *told])))


def render(state: Status) -> str:
    """The status as text: a table, then a line for everything that waits for somebody."""
    from heldout.compare.text import table

    head = (
        f"set {state.set}: {state.train} train, {state.test} held out · "
        f"brain in use {state.brain[:12]}"
    )
    if not state.models:
        return f"{head}\nNothing has been run yet. Next: heldout tune --plan"
    names = ("model", "waiting", "last score", "looks left", "this month", "jobs", "brain in use")
    rows = [(*names, *(one.title for one in state.beside))]
    for line in state.models:
        further = (one.words.get(line.model, "") or "-" for one in state.beside)
        rows.append((*_row(line, state), *further))
    spent = [state.spent] if state.spent else []
    return "\n".join([head, *spent, table([*rows]), *_below(state)])


def _row(line: ModelStatus, state: Status) -> tuple[str, ...]:
    from heldout.report.rows import tokens, usd

    waiting = "-"
    if line.waiting:
        waiting = f"{len(line.waiting)} ({_age(state.at - line.waits_since)})"
    scored = f"{line.last.outcome} ({line.last.evidence})" if line.last else "-"
    price = usd(line.month.total_usd)
    return (
        line.model,
        waiting,
        scored,
        f"{line.looks_left} of {line.looks_budget}",
        f"{price} USD, {tokens(line.month.total_tokens)} tokens",
        _jobs(line),
        _brain(line, state.brain),
    )


def _jobs(line: ModelStatus) -> str:
    failed = sum(one.failed for one in line.troubles)
    stopped = len(line.troubles) - failed
    parts = [f"{failed} failed"] * bool(failed) + [f"{stopped} unfinished"] * bool(stopped)
    return ", ".join(parts) or "ok"


def _brain(line: ModelStatus, brain: str) -> str:
    if line.released == brain:
        return "released"
    return "scored" if line.brain_scored else "not scored"


def _canary(one: Canary) -> str:
    from heldout.report.rows import moment

    return f"{one.word} ({moment(one.at)[:10]})"


def _age(microseconds: int) -> str:
    minutes = max(0, microseconds) // 60_000_000
    for size, unit in ((1440, "day"), (60, "hour"), (1, "minute")):
        if minutes >= size:
            count = minutes // size
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return "just now"


def _below(state: Status) -> list[str]:
    from heldout.terminal import visible

    lines: list[str] = []
    for line in state.models:
        if line.waiting:
            lines += [f"waits for {line.model}: heldout review {one}" for one in line.waiting]
        for one in line.troubles[:SHOWN]:
            word = "failed" if one.failed else "unfinished"
            ago = _age(state.at - one.at)
            ago = ago if ago == "just now" else f"{ago} ago"
            mend = f"; go on: {one.mend}" if one.mend else ""
            why = visible(one.why, 200)
            lines.append(f"{word}, {ago}: {one.what} {one.id} of {line.model}: {why}{mend}")
        if len(line.troubles) > SHOWN:
            lines.append(f"and {len(line.troubles) - SHOWN} more of {line.model}")
    return ["", *lines] if lines else []


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("status")(status)
