"""Serving the application until somebody stops it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

from heldout.errors import ConfigError
from heldout.repair.tasks import tasks
from heldout.rest.app import repair_app
from heldout.rest.sessions import IDLE_SECONDS, Sessions, require_loopback

REAP_SECONDS = 30.0


def serve_repair(
    host: str,
    port: int,
    note: Callable[[str], None],
    *,
    anywhere: bool = False,
    most: int = 64,
    idle_seconds: float = IDLE_SECONDS,
    openenv: bool = False,
) -> None:
    """Serve the train half's tasks on a port (0: any free one) until a signal ends it.

    ``note`` is told the address. An address that other machines reach needs ``anywhere``. With
    ``openenv`` OpenEnv's own routes are served, and these below ``/rest``; without the extra that
    is a :class:`ConfigError`. A session that nobody asks for ``idle_seconds`` is closed.
    """
    require_loopback(host, anywhere=anywhere)
    train = frozenset(one.id for one in tasks().values() if one.half == "train")
    sessions = Sessions(train, most=most, idle_seconds=idle_seconds)
    listening = socket.create_server((host, port))
    bound = listening.getsockname()[1]
    hosts = ["*"] if anywhere else None
    app = repair_app(sessions, hosts)
    if openenv:
        outer = _openenv(hosts, most, idle_seconds)
        outer.mount("/rest", app)
        app = outer
    # With its lifespan: the framework closes sessions that stand idle from a task begun there.
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False))
    ended = threading.Event()
    reaper = threading.Thread(target=_reap, args=(sessions, ended, idle_seconds), daemon=True)
    reaper.start()
    note(f"serving {len(train)} train tasks on http://{host}:{bound}; routes: /docs")
    try:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(server.serve(sockets=[listening]))
    finally:
        ended.set()
        sessions.close()
        listening.close()


def _openenv(hosts: list[str] | None, most: int, idle_seconds: float) -> FastAPI:
    try:
        from heldout.rest.openenv import openenv_app
    except ImportError as error:
        raise ConfigError(
            "OpenEnv is not installed", where="--openenv", mend="pip install 'heldout[openenv]'"
        ) from error
    return openenv_app(hosts, most, idle_seconds)


def _reap(sessions: Sessions, ended: threading.Event, idle_seconds: float) -> None:
    while not ended.wait(min(REAP_SECONDS, idle_seconds)):
        sessions.reap()
