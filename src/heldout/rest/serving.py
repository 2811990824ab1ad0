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
from heldout.rest.sessions import Sessions, require_loopback

REAP_SECONDS = 30.0


def serve_repair(
    host: str,
    port: int,
    note: Callable[[str], None],
    *,
    anywhere: bool = False,
    most: int = 64,
    openenv: bool = False,
) -> None:
    """Serve the train half's tasks on a port (0: any free one) until a signal ends it.

    ``note`` is told the address. An address that other machines reach needs ``anywhere``. With
    ``openenv`` OpenEnv's own routes are served, and these below ``/rest``; without the extra that
    is a :class:`ConfigError`.
    """
    require_loopback(host, anywhere=anywhere)
    train = frozenset(one.id for one in tasks().values() if one.half == "train")
    sessions = Sessions(train, most=most)
    listening = socket.create_server((host, port))
    bound = listening.getsockname()[1]
    hosts = ["*"] if anywhere else None
    app = repair_app(sessions, hosts)
    if openenv:
        outer = _openenv(hosts, most)
        outer.mount("/rest", app)
        app = outer
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="error", lifespan="off", access_log=False)
    )
    ended = threading.Event()
    reaper = threading.Thread(target=_reap, args=(sessions, ended), daemon=True)
    reaper.start()
    note(f"serving {len(train)} train tasks on http://{host}:{bound}; routes: /docs")
    try:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(server.serve(sockets=[listening]))
    finally:
        ended.set()
        sessions.close()
        listening.close()


def _openenv(hosts: list[str] | None, most: int) -> FastAPI:
    try:
        from heldout.rest.openenv import openenv_app
    except ImportError as error:
        raise ConfigError(
            "OpenEnv is not installed", where="--openenv", mend="pip install 'heldout[openenv]'"
        ) from error
    return openenv_app(hosts, most)


def _reap(sessions: Sessions, ended: threading.Event) -> None:
    while not ended.wait(REAP_SECONDS):
        sessions.reap()
