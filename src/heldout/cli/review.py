"""``heldout review``: list, show, serve, accept, reject or amend proposals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heldout.cli.options import Project

if TYPE_CHECKING:
    from heldout.review import Page
    from heldout.settings import Settings
    from heldout.store import Ledger


def review(
    proposal: Annotated[
        str, typer.Argument(help="Proposal, by its id's beginning; default: list them.")
    ] = "",
    accept: Annotated[bool, typer.Option("--accept", help="Write it to the brain.")] = False,
    reject: Annotated[bool, typer.Option("--reject", help="Turn it down.")] = False,
    amend: Annotated[
        Path | None,
        typer.Option("--amend", help="Patch on top of it: gated, screened, proposed anew."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Accept only this edit; repeatable.")
    ] = None,
    branch: Annotated[
        str, typer.Option("--branch", help="Commit to this new git branch, not to the files.")
    ] = "",
    name: Annotated[str, typer.Option("--name", help="Who decides.")] = "",
    reason: Annotated[str, typer.Option("--reason", help="Why.")] = "",
    every: Annotated[bool, typer.Option("--all", help="List decided ones too.")] = False,
    serve: Annotated[
        bool, typer.Option("--serve", help="As a page in a browser on this machine.")
    ] = False,
    comment: Annotated[
        bool, typer.Option("--comment", help="As a comment in GitHub's Markdown.")
    ] = False,
    port: Annotated[
        int, typer.Option("--port", help="Of the page; 0: any that is free.", min=0, max=65535)
    ] = 0,
    project: Project = None,
) -> None:
    """List, show, serve, accept, reject or amend proposals.

    Without a proposal it lists what waits, with one it shows it. A decision needs --name and
    --reason; both are stored with the hash of the exact diff.
    """
    from heldout.errors import UsageError
    from heldout.pipeline.amend import amend_by_name
    from heldout.review import Reviewer, page
    from heldout.review import accept as accept_it
    from heldout.review import reject as reject_it
    from heldout.settings import load_settings
    from heldout.store import Ledger
    from heldout.terminal import ProgressLine

    if sum((accept, reject, amend is not None)) > 1:
        raise UsageError("more than one decision", mend="Choose --accept, --reject or --amend")
    if (accept or reject or amend) and not proposal:
        raise UsageError("which proposal?", mend="'heldout review' lists them")
    if comment and not proposal:
        raise UsageError("which proposal is commented on?", mend="'heldout review' lists them")
    if (only or branch) and not accept:
        raise UsageError("--only and --branch go with --accept", mend="Add --accept")
    if serve and (accept or reject or amend):
        raise UsageError("--serve takes decisions on its page", mend="Leave the decision out")
    settings = load_settings(project)
    if serve:
        _serve(settings, proposal, port, name)
        return
    if amend is not None:
        typer.echo(amend_by_name(settings, proposal, amend, Reviewer(name, reason), ProgressLine()))
        return
    with Ledger.open(settings.ledger, read_only=not (accept or reject)) as ledger:
        if accept:
            done = accept_it(
                settings, ledger, proposal, Reviewer(name, reason), only=only or (), branch=branch
            )
            where = f"branch {branch}, commit {done.commit[:12]}" if done.commit else "brain/"
            typer.echo(f"Accepted {done.proposal}: {done.after[:12]} written to {where}")
        elif reject:
            typer.echo(f"Rejected {reject_it(ledger, proposal, Reviewer(name, reason))}")
        elif comment:
            from heldout.review.announcing import comment_on

            typer.echo(comment_on(settings, ledger, proposal), nl=False)
        elif proposal:
            _show(page(ledger, proposal))
        else:
            _list(ledger, every)


def _serve(settings: Settings, proposal: str, port: int, name: str) -> None:
    """Answer until Ctrl-C; the address holds a key and is printed here alone."""
    from heldout.review.web import open_desk
    from heldout.store import Ledger
    from heldout.store.queries import proposal as find_proposal

    with Ledger.open(settings.ledger, read_only=True) as ledger:
        found = find_proposal(ledger, proposal).proposal if proposal else ""
    opened = open_desk(settings, port=port, name=name, proposal=found)
    typer.echo(f"Open {opened.url}\nOnly this machine reaches it. Ctrl-C ends it.")
    opened.serve()


def _list(ledger: Ledger, every: bool) -> None:
    from heldout.store.queries import proposals

    rows = proposals(ledger, waiting=not every)
    if not rows:
        typer.echo("Nothing waits for a decision.")
    for row in rows:
        traps = (row.evidence or {}).get("traps") or {}
        state = f"{row.decision.action} by {row.decision.name}" if row.decision else "waits"
        typer.echo(
            f"{row.proposal}  {row.model}  {len(row.edits or [])} edit(s)  "
            f"fixed {traps.get('fixed_incidents', '?')}, broken "
            f"{traps.get('broken_incidents', '?')} on train  {state}"
        )


def _show(shown: Page) -> None:
    """The page, the diff in colour; everything in it is other people's text."""
    from rich.console import Console
    from rich.text import Text

    from heldout.terminal import clean

    console = Console(highlight=False, markup=False, soft_wrap=True)
    for number, line in enumerate(shown.headline):
        console.print(Text(clean(line), style="bold" if number == 0 else ""))
    for line in shown.flags:
        console.print(Text(clean(line), style="yellow" if line[:1].isupper() else "dim"))
    console.print()
    styles = {"+": "green", "-": "red", "@": "cyan"}
    for line in shown.diff.splitlines():
        console.print(Text(clean(line), style=styles.get(line[:1], "")))
    console.print()
    for line in (*shown.edits, "", *shown.measured):
        console.print(Text(clean(line)))
    if shown.divergence is not None:
        console.print()
        for line in shown.divergence.lines():
            console.print(Text(clean(line)))


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("review")(review)
