"""``heldout serve``: one train incident for an agent of one's own."""

from __future__ import annotations

from typing import Annotated

import typer

from heldout.cli.options import Project, SetName

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@group.command("mcp")
def mcp(
    incident: Annotated[str, typer.Argument(metavar="INCIDENT", help="A train incident.")],
    set_name: SetName = "",
    tools: Annotated[
        str,
        typer.Option("--tools", help="Packs of tools: native, core, kubectl, promql, git (a,b)."),
    ] = "",
    http: Annotated[
        int | None,
        typer.Option(
            "--http",
            metavar="PORT",
            help="Over HTTP on the loopback device; 0: any.",
            min=0,
            max=65535,
        ),
    ] = None,
    sregym: Annotated[
        bool, typer.Option("--sregym", help="SREGym's endpoints on the same HTTP server.")
    ] = False,
    project: Project = None,
) -> None:
    """Offer an incident's tools and submit_diagnosis over MCP: stdio, or HTTP with --http.

    The alert is in the server's instructions, its prompt and its resource. The world is served by
    a process that knows no truth; this one judges when the client is done, says so on standard
    error, and keeps calls, submission and verdict under .heldout/served.
    """
    from heldout.pipeline.serving import Offer, serve_incident
    from heldout.settings import load_settings
    from heldout.terminal import clean

    def note(text: str) -> None:
        typer.echo(clean(text), err=True)

    offer = Offer(incident, set_name, tools, http, sregym)
    note(str(serve_incident(load_settings(project), offer, note)))


@group.command("repair")
def repair(
    port: Annotated[
        int, typer.Option("--port", help="Port; 0: any that is free.", min=0, max=65535)
    ] = 8077,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    anywhere: Annotated[
        bool,
        typer.Option("--anywhere", help="Let other machines reach it; sessions run code."),
    ] = False,
    openenv: Annotated[
        bool,
        typer.Option("--openenv", help="OpenEnv's routes and WebSocket too; needs the extra."),
    ] = False,
    sessions: Annotated[
        int, typer.Option("--sessions", help="Open at once at most.", min=1, max=1024)
    ] = 64,
    idle: Annotated[
        int,
        typer.Option("--idle", help="Close a session that nobody asks for so many seconds.", min=1),
    ] = 3600,
) -> None:
    """Serve the train half of the repair environment over HTTP, a session for each episode.

    POST /sessions starts one, POST /sessions/KEY/step makes a call, POST /sessions/KEY/grade says
    what it was worth; GET /docs shows the routes.
    """
    from heldout.rest.serving import serve_repair
    from heldout.terminal import clean

    def note(text: str) -> None:
        typer.echo(clean(text), err=True)

    serve_repair(
        host, port, note, anywhere=anywhere, most=sessions, idle_seconds=idle, openenv=openenv
    )


@group.callback()
def serve() -> None:
    """Serve one train incident, or code to repair, to an agent of your own."""


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.add_typer(group, name="serve")
